"""α(v) = max over 1 <= j <= v of (Pr[S >= v - j] - Pr[S >= v])/j, for every v at once (Paper U, (ε, δ)-DP).

It is the largest mean of a run of Pr[S = s] that ends at s = v - 1. The masses rise to a mode and then fall,
so below the mode the best run is the last mass alone, and above it the run reaches back into the rising part
to where a further mass would lower the mean: a bisection for every v, O(n log n) together.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from ._float64 import in_float64
from .poisson_binomial import log_pmfs


@in_float64
def alphas(p: Float[ArrayLike, "*b n"]) -> Float[Array, "*b n+1"]:
    """α(v) for v = 0..n (0 at v = 0), S a sum of independent Bernoulli(p_i).

    Args:
        p: probabilities in [0, 1]; n up to 10⁴.

    Raises:
        ValueError: if `p` is not a probability or has no axis.

    >>> [round(float(a), 4) for a in alphas([0.5, 0.5])]
    [0.0, 0.25, 0.5]
    """
    return alphas_from_masses(jnp.exp(log_pmfs(p)))


@jax.jit
def alphas_from_masses(mass: Float[Array, "*b m"]) -> Float[Array, "*b m"]:
    """α(0..m-1) from the unimodal masses Pr[S = 0..m-1]."""
    flat = mass.reshape(math.prod(mass.shape[:-1]), mass.shape[-1])
    return jax.vmap(_alphas)(flat).reshape(mass.shape)


def _alphas(mass):
    below = jnp.concatenate([jnp.zeros(1, mass.dtype), jnp.cumsum(mass)])
    end = jnp.arange(mass.shape[0], dtype=jnp.int32)
    # Not argmax: it cannot be compiled for a caller whose JAX knows only 32 bits.
    mode = jnp.max(jnp.where(mass == jnp.max(mass), end, 0))

    def mean(start):
        return (below[end] - below[start]) / jnp.maximum(end - start, 1)

    def halve(_, ends):
        low, high = ends  # the run may start at `high`; nothing is known below it and above `low`
        middle = (low + high) // 2
        worth = mass[middle] >= mean(middle + 1)
        return jnp.where(worth, low, middle + 1), jnp.where(worth, middle, high)

    start = (jnp.zeros_like(end), jnp.full_like(end, mode))
    steps = math.ceil(math.log2(mass.shape[0] + 1)) + 1
    _, first = jax.lax.fori_loop(0, steps, halve, start)
    last = mass[jnp.maximum(end - 1, 0)]
    best = jnp.where(end - 1 <= mode, last, jnp.maximum(mean(first), last))
    return jnp.where(end == 0, 0.0, best)
