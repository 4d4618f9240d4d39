"""The certified bound: sound for any priors and any mechanism under (ε, δ)- or f-DP.

Paper U prints τ(v) + α(v)·n·δ, which exact optima exceed (see `printed`). What holds is, in any order of the
records,

    Pr[L >= v] <= τ(v) + δ·Σ_i c_i·D_i,    D_i = max_s Pr[Σ_{j>i} S_j = s],

because Pr[L >= v] - τ(v) telescopes into the gains E[(p_i - β_i)·(V_i(s + 1) - V_i(s))] of single records,
V_i jumps by no more than D_i, and (ε, δ)-DP in record i alone bounds E[(p_i - β_i)_+] by c_i·δ. The same
telescope with other weights λ is `refined`.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jaxtyping import Array, Float

from ._float64 import in_float64
from .flip import flip_probability
from .grid import Grid
from .poisson_binomial import log_tails, logsf
from .priors import Targets

_MOST_EXACT = 4096
# Largest σ·Pr[S = s] over all sums of Bernoulli trials (Baillon, Cominetti and Vaisman 2016), rounded up.
_PEAK = 0.46883


def log_pure_tail(counts: np.ndarray, beta: Float[np.ndarray, "n"]) -> np.ndarray:
    """log τ(v), the bound under pure DP, at whole counts of any size."""
    counts = np.clip(counts, 0, len(beta) + 1).astype(int)
    if len(beta) <= _MOST_EXACT:
        return np.asarray(log_tails(beta))[counts]
    return np.asarray(logsf(counts - 1, beta))


def betas(grid: Grid, targets: Targets) -> Float[np.ndarray, "J n"]:
    """Flip probabilities of every secret's best guess at every ε."""
    return np.asarray(flip_probability(grid.epsilon[:, None], targets.largest))


def slack(grid: Grid, targets: Targets, beta: Float[np.ndarray, "J n"]) -> Float[np.ndarray, "J"]:
    """δ·Σ c_i·D_i at every ε: what the closed form adds to τ, the same for every v."""
    constants = targets.constants(grid.epsilon)
    if len(targets.kinds) == 1:
        peaks = np.array([binomial_peaks(row[0], targets.count) for row in beta])
        return grid.delta * np.sum(constants * peaks, axis=1)
    # The nearly certain records first: the sum of those still to come then stays spread out for longest.
    order = np.argsort(beta * (1 - beta), axis=1)
    beta, constants = (np.take_along_axis(array, order, 1) for array in (beta, constants))
    return grid.delta * np.sum(constants * peaks_to_come(beta), axis=1)


def peaks_to_come(beta: Float[np.ndarray, "*b n"]) -> Float[np.ndarray, "*b n"]:
    """D_i: the largest probability of any value of Σ_{j>i} S_j, for i = 1..n; for many records an upper bound."""
    if beta.shape[-1] <= _MOST_EXACT:
        return np.asarray(_exact_peaks(beta))
    variance = np.cumsum((beta * (1 - beta))[..., ::-1], axis=-1)[..., ::-1]
    to_come = np.concatenate([variance[..., 1:], np.zeros_like(variance[..., :1])], axis=-1)
    with np.errstate(divide="ignore"):
        return np.minimum(1.0, _PEAK / np.sqrt(to_come))


@in_float64
def _exact_peaks(beta) -> Float[Array, "*b n"]:
    return _peaks(jnp.asarray(beta, jnp.float64))


@jax.jit
@functools.partial(jnp.vectorize, signature="(n)->(n)")
def _peaks(beta):
    def add(mass, p):
        moved = jnp.concatenate([jnp.zeros(1, mass.dtype), mass[:-1]])
        return mass * (1 - p) + moved * p, jnp.max(mass)

    nothing = jnp.zeros(beta.shape[0] + 1, beta.dtype).at[0].set(1)
    return jax.lax.scan(add, nothing, beta, reverse=True)[1]


def binomial_peaks(beta: float, count: int) -> Float[np.ndarray, "n"]:
    """D_i for equal β: the largest mass of Binomial(n - i, β)."""
    trials = np.arange(count - 1, -1, -1.0)
    mode = np.minimum(np.floor((trials + 1) * beta), trials)
    log_choose = scipy.special.gammaln(trials + 1)
    log_choose -= scipy.special.gammaln(mode + 1) + scipy.special.gammaln(trials - mode + 1)
    xlogy, xlog1py = scipy.special.xlogy, scipy.special.xlog1py
    return np.exp(np.minimum(log_choose + xlogy(mode, beta) + xlog1py(trials - mode, -beta), 0.0))


def log_closed_form(counts: np.ndarray, grid: Grid, targets: Targets) -> Float[np.ndarray, "J v"]:
    """log of the closed form at every ε of the grid, at most 0."""
    beta = betas(grid, targets)
    with np.errstate(divide="ignore"):
        added = np.log(slack(grid, targets, beta))
    tails = np.array([log_pure_tail(counts, row) for row in beta])
    return np.minimum(np.logaddexp(tails, added[:, None]), 0.0)
