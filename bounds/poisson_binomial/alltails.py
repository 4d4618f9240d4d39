"""All tails of a Poisson-binomial sum at once, by its ratios R_j = Pr[S = j+1]/Pr[S = j].

Adding a trial with probability p maps R_j to (p + (1-p)·R_j)/((1-p) + p/R_{j-1}): positive terms only, no
underflow, and an error in R does not grow along the way, because R decreases in j. O(n²) operations, all of
them vectorised.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, DTypeLike, Float

from .._check import require_probability
from .._float64 import in_float64
from .shapes import padded, vectors


def _ratios(p: Float[Array, "n"]) -> Float[Array, "n+1"]:
    """R_0..R_n over the trials that are open; R is 0 from their number on."""
    start = jnp.zeros(p.shape[0] + 1, p.dtype)

    def add(ratio, trial):
        before = jnp.concatenate([jnp.full(1, jnp.inf, ratio.dtype), ratio[:-1]])
        after = (trial + (1 - trial) * ratio) / ((1 - trial) + trial / before)
        # Beyond the trials seen so far both ratios are 0; certain trials change nothing here.
        is_open = (trial > 0) & (trial < 1) & (before > 0)
        return jnp.where(is_open, after, ratio), None

    return jax.lax.scan(add, start, p)[0]


def log_masses_from_ratios(ratio: Float[Array, "m"]) -> Float[Array, "m"]:
    """log Pr[S = 0..m-1] from the ratios, anchored at the mode, where nothing is lost to large partial sums."""
    index = jnp.arange(ratio.shape[0])
    step = jnp.log(ratio)
    mode = jnp.sum(ratio > 1)
    up = jnp.cumsum(jnp.where(index >= mode, step, 0))
    down = jnp.cumsum(jnp.where(index < mode, -step, 0)[::-1])[::-1]
    relative = jnp.concatenate([jnp.zeros(1, up.dtype), up[:-1]]) + down
    return relative - jax.nn.logsumexp(relative)


def tails_from_log_masses(log_mass: Float[Array, "m"]) -> Float[Array, "m+1"]:
    """log Pr[S >= 0..m]; the smaller side is summed and the larger follows from it."""
    upper = jax.lax.cumlogsumexp(log_mass, reverse=True)
    lower = jax.lax.cumlogsumexp(log_mass)
    below = jnp.concatenate([jnp.full(1, -jnp.inf, lower.dtype), lower[:-1]])
    upper = jnp.where(below < -0.7, jnp.log1p(-jnp.exp(jnp.minimum(below, -0.5))), upper)
    tails = jnp.concatenate([jnp.minimum(upper, 0), jnp.full(1, -jnp.inf, upper.dtype)])
    return tails.at[0].set(0)


def _log_masses(p: Float[Array, "n"]) -> Float[Array, "n+1"]:
    certain = jnp.sum(p >= 1)
    log_mass = log_masses_from_ratios(_ratios(p))
    shifted = jnp.roll(log_mass, certain)
    return jnp.where(jnp.arange(p.shape[0] + 1) < certain, -jnp.inf, shifted)


@jax.jit
def _batched_log_masses(p):
    flat = p.reshape(math.prod(p.shape[:-1]), p.shape[-1])
    return jax.vmap(_log_masses)(flat).reshape(*p.shape[:-1], p.shape[-1] + 1)


@jax.jit
def _batched_log_tails(p):
    log_mass = _batched_log_masses(p)
    flat = log_mass.reshape(-1, log_mass.shape[-1])
    return jax.vmap(tails_from_log_masses)(flat).reshape(*p.shape[:-1], p.shape[-1] + 2)


def _prepared(p, dtype):
    require_probability("p", p)
    return vectors(p, dtype)


@in_float64
def log_pmfs(p: Float[ArrayLike, "*b n"], *, dtype: DTypeLike = jnp.float64) -> Float[Array, "*b n+1"]:
    """log Pr[S = v] for v = 0..n; arguments as in `log_tails`."""
    p = _prepared(p, dtype)
    return _batched_log_masses(padded(p))[..., : p.shape[-1] + 1]


@in_float64
def log_tails(p: Float[ArrayLike, "*b n"], *, dtype: DTypeLike = jnp.float64) -> Float[Array, "*b n+2"]:
    """log Pr[S >= v] for v = 0..n+1, S a sum of independent Bernoulli(p_i).

    Args:
        p: probabilities in [0, 1], ends included; n up to 10⁴.
        dtype: float64, or float32 at the accuracy stated in the package.

    Returns:
        Natural logarithms: first 0, last -inf.

    Raises:
        ValueError: if `p` is not a probability or has no axis.

    >>> [round(float(x), 4) for x in jnp.exp(log_tails([0.5, 0.5]))]
    [1.0, 0.75, 0.25, 0.0]
    """
    p = _prepared(p, dtype)
    return _batched_log_tails(padded(p))[..., : p.shape[-1] + 2]
