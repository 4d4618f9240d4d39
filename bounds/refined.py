"""The certified bound with its weights λ chosen for one v: far tighter where δ, not τ, decides.

For any λ >= 0 and any ε_1 < … < ε_J,

    W_n(s) = 1[s >= v],
    W_{i-1}(s) = W_i(s) + max over p in {β_i(ε_1), …, β_i(ε_J), 1} of p·d - Σ_j λ_ij·(p - β_i(ε_j))_+,
    d = W_i(s + 1) - W_i(s),

gives Pr[L >= v] <= W_0(0) + Σ_ij λ_ij·c_ij·δ(ε_j). The right-hand side is convex in λ, and a linear program;
but as any λ will do, it is enough to come close: L-BFGS on a softened maximum, hardened in stages, is as
tight to about 1 % and never fails. What is returned is the exact recursion at the λ found.
"""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jaxtyping import Array, Float

from ._float64 import in_float64
from .certified import betas, peaks_to_come
from .grid import Grid
from .priors import Targets

# Softness of the maximum in units of (bound so far)/n: the softened bound is off by about as many times the
# bound.
_STAGES = (30.0, 6.0, 1.0, 0.2, 0.04)
# Softer than this against jumps of at most 1, and all weights fall to nothing.
_SOFTEST = 0.01
_STEPS_PER_STAGE = 150
# Every weight starts where it still has a slope.
_START = 0.2
_LARGEST_LOG_WEIGHT = 3.0
# Weights may fall so far in one stage (in logarithms) and no further, lest they never return.
_DEEPEST_STEP = 3.0
_NEGLIGIBLE = -20.0


@in_float64
def refine(count: int, grid: Grid, targets: Targets) -> float:
    """A sound bound on Pr[L >= count], by descent on λ.

    Args:
        count: v in 1..n.
        grid: the points (ε_j, δ(ε_j)) used together.
        targets: priors of the n secrets.

    Returns:
        The bound, possibly above 1.
    """
    problem = _problem(count, grid, targets)
    log_peaks = np.log(problem.pop("peaks"))
    best = min(float(_exact(start, **problem)) for start in _closed_forms(log_peaks))
    weights = log_peaks + np.log(_START)
    for stage in _STAGES:
        scale = min(best, 1.0)
        weights = _descend(weights, min(stage * scale / targets.count, _SOFTEST), scale, problem)
        best = min(best, float(_exact(weights, **problem)))
    return best


def _problem(count: int, grid: Grid, targets: Targets) -> dict[str, np.ndarray]:
    """Choices p, their excess over each β, the price of λ, W_n and the largest weights that can matter."""
    beta, constants = betas(grid, targets), targets.constants(grid.epsilon)
    middle = len(grid.epsilon) // 2
    order = np.argsort(beta[middle] * (1 - beta[middle]), kind="stable")
    beta, constants = beta[:, order].T, constants[:, order].T
    choices = np.concatenate([beta, np.ones((targets.count, 1))], axis=1)
    return {
        "choices": choices,
        "excess": np.maximum(choices[:, :, None] - beta[:, None, :], 0.0),
        "price": constants * grid.delta,
        "won": (np.arange(targets.count + 2) >= count).astype(np.float64),
        "peaks": np.maximum(peaks_to_come(beta.T).T, 1e-300),
    }


def _closed_forms(log_peaks: Float[np.ndarray, "n J"]) -> list[Float[np.ndarray, "n J"]]:
    """The closed form at each ε alone, so that the result is never worse than any of them."""
    points = range(log_peaks.shape[1])
    return [np.where(np.arange(len(points)) == j, log_peaks, log_peaks + _NEGLIGIBLE) for j in points]


def _descend(
    weights: np.ndarray, softness: float, scale: float, problem: dict[str, np.ndarray]
) -> np.ndarray:
    """L-BFGS on the logarithms of the weights, the objective divided by `scale`."""

    def value_and_gradient(flat):
        value, gradient = _soft(flat.reshape(weights.shape), softness, **problem)
        return float(value) / scale, np.asarray(gradient).ravel() / scale

    bounds = [(low, _LARGEST_LOG_WEIGHT) for low in weights.ravel() - _DEEPEST_STEP]
    options = {"maxiter": _STEPS_PER_STAGE, "maxcor": 20, "ftol": 1e-5, "gtol": 0.0}
    found = scipy.optimize.minimize(
        value_and_gradient, weights.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return found.x.reshape(weights.shape)


def _bound(log_weights: Float[Array, "n J"], largest, choices, excess, price, won):
    """W_0(0) + Σ λ·price, with `largest` in the place of the maximum over the choices."""
    weights = jnp.exp(log_weights)
    penalty = jnp.einsum("npj,nj->pn", excess, weights).T

    def step(ahead, record):
        p, fine = record
        jump = jnp.append(jnp.diff(ahead), 0.0)
        return ahead + largest(p[:, None] * jump - fine[:, None]), None

    start, _ = jax.lax.scan(step, won, (choices, penalty), reverse=True)
    return start[0] + jnp.sum(weights * price)


@jax.jit
def _exact(log_weights, choices, excess, price, won):
    return _bound(log_weights, lambda x: jnp.max(x, axis=0), choices, excess, price, won)


@jax.jit
def _soft(log_weights, softness, choices, excess, price, won):
    def largest(x):
        return softness * jax.nn.logsumexp(x / softness, axis=0)

    return jax.value_and_grad(_bound)(log_weights, largest, choices, excess, price, won)
