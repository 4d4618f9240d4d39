"""The certified bound over many settings (ε, δ, κ) at once: n equal priors, the closed form, one compiled program."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int

from ._check import require, require_integer, require_non_negative, require_probability
from ._float64 import in_float64
from .flip import flip_probability


@in_float64
def sweep_success_bound(
    v: Int[ArrayLike, "*b"],
    epsilon: Float[ArrayLike, "*b"],
    delta: Float[ArrayLike, "*b"],
    prior: Float[ArrayLike, "*b"],
    secrets: int,
    *,
    exact_uniform: bool = False,
) -> Float[Array, "*b"]:
    """Certified bound on Pr[L >= v] under (ε, δ)-DP for n secrets of equal prior success; everything broadcasts.

    Equals `success_bound(v, ApproximateDP(ε, δ), …, refine=False)`.

    Args:
        v: whole numbers of successes.
        epsilon: ε >= 0.
        delta: δ in [0, 1].
        prior: κ in [0, 1], shared by all secrets of one setting.
        secrets: n >= 1.
        exact_uniform: whether secrets are uniform over 1/κ symbols and must be named exactly (c = 1 - β);
        otherwise
            any match sets (c = 1).

    Raises:
        ValueError: on values outside their ranges.

    >>> round(float(sweep_success_bound(85, 1.0, 1e-5, 0.56, 100)), 4)
    0.0441
    """
    require_integer("v", v)
    _require(epsilon, delta, prior, secrets)
    v, epsilon, delta, prior = (jnp.asarray(x, jnp.float64) for x in (v, epsilon, delta, prior))
    return _bound(v, epsilon, delta, prior, secrets=int(secrets), exact_uniform=exact_uniform)


@in_float64
def sweep_max_successes(
    epsilon: Float[ArrayLike, "*b"],
    delta: Float[ArrayLike, "*b"],
    prior: Float[ArrayLike, "*b"],
    secrets: int,
    confidence: float = 0.95,
    *,
    exact_uniform: bool = False,
) -> Int[Array, "*b"]:
    """Largest number of successes that the bound of `sweep_success_bound` leaves possible; arguments as there.

    >>> int(sweep_max_successes(1.0, 1e-5, 0.56, 100))
    84
    """
    require("confidence", "in (0, 1)", confidence, lambda c: (c > 0) & (c < 1))
    _require(epsilon, delta, prior, secrets)
    epsilon, delta, prior = (jnp.asarray(x, jnp.float64) for x in (epsilon, delta, prior))
    return _most(epsilon, delta, prior, 1 - confidence, secrets=int(secrets), exact_uniform=exact_uniform)


def _require(epsilon, delta, prior, secrets) -> None:
    require_non_negative("epsilon", epsilon)
    require_probability("delta", delta)
    require_probability("prior", prior)
    require_integer("secrets", secrets)
    require("secrets", ">= 1", secrets, lambda n: n >= 1)


def _log_factorials(n: int) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])


def _logs(epsilon, prior):
    """log β and log(1 - β), each to full accuracy."""
    beta = flip_probability(epsilon, prior)
    odds_against = (1 - prior) * jnp.exp(-epsilon)
    log_failure = jnp.log(odds_against) - jnp.log(prior + odds_against)
    return beta, jnp.log(beta), jnp.where(prior < 1, log_failure, -jnp.inf)


def _times(count, logarithm):
    """count·log, 0 where the count is 0."""
    return jnp.where(count > 0, count * jnp.where(count > 0, logarithm, 0), 0)


def _log_masses(beta, log_beta, log_failure, n: int):
    """log of the Binomial(n, β) masses, counts on a new last axis."""
    table = _log_factorials(n)
    count = jnp.arange(n + 1.0)
    log_choose = jnp.asarray(table[n] - table - table[::-1])
    return log_choose + _times(count, log_beta[..., None]) + _times(n - count, log_failure[..., None])


def _added(epsilon, delta, prior, n: int, exact_uniform: bool):
    """δ·Σ c·D_i."""
    beta, log_beta, log_failure = _logs(epsilon, prior)
    table, trials = jnp.asarray(_log_factorials(n)), jnp.arange(n)
    mode = jnp.minimum(jnp.floor((trials + 1) * beta[..., None]), trials).astype(int)
    log_peak = table[trials] - table[mode] - table[trials - mode]
    log_peak += _times(mode, log_beta[..., None]) + _times(trials - mode, log_failure[..., None])
    constant = 1 - beta if exact_uniform else 1.0
    return delta * constant * jnp.sum(jnp.exp(jnp.minimum(log_peak, 0)), axis=-1)


@functools.partial(jax.jit, static_argnames=("secrets", "exact_uniform"))
def _bound(v, epsilon, delta, prior, *, secrets: int, exact_uniform: bool):
    epsilon, prior = jnp.broadcast_arrays(epsilon, prior)
    masses = jnp.exp(_log_masses(*_logs(epsilon, prior), secrets))
    tail = jnp.sum(jnp.where(jnp.arange(secrets + 1) >= v[..., None], masses, 0), axis=-1)
    bound = jnp.minimum(tail + _added(epsilon, delta, prior, secrets, exact_uniform), 1)
    return jnp.where(v <= 0, 1.0, jnp.where(v > secrets, 0.0, bound))


@functools.partial(jax.jit, static_argnames=("secrets", "exact_uniform"))
def _most(epsilon, delta, prior, level, *, secrets: int, exact_uniform: bool):
    epsilon, prior = jnp.broadcast_arrays(epsilon, prior)
    masses = jnp.exp(_log_masses(*_logs(epsilon, prior), secrets))
    # Levels are far above the rounding of a sum of probabilities: no logarithms are needed here.
    tails = jnp.cumsum(masses[..., ::-1], axis=-1)[..., ::-1]
    added = _added(epsilon, delta, prior, secrets, exact_uniform)
    # The tails fall, so that what is left possible is 0 and every count up to the answer.
    possible = tails[..., 1:] + added[..., None] > level
    return jnp.sum(possible, axis=-1)
