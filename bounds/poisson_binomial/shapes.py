"""Few array lengths, so that a new number of trials seldom means a new compilation."""

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, DTypeLike, Float

_SMALLEST = 16
_MOST_PADDED = 4096


def vectors(p: Float[ArrayLike, "*b n"], dtype: DTypeLike) -> Float[Array, "*b n"]:
    """`p` as an array of `dtype`; raises ValueError unless it has an axis of trials."""
    p = jnp.asarray(p, dtype)
    if p.ndim == 0:
        raise ValueError(f"p must have a last axis of trials, got shape {p.shape}")
    return p


def padded(p: Float[Array, "*b n"]) -> Float[Array, "*b m"]:
    """Appends impossible trials up to the next of 16, 20, 24, 28, 32, 40, … when there are few."""
    n = p.shape[-1]
    if n > _MOST_PADDED:
        return p
    step = max((1 << max(n - 1, 1).bit_length()) // 8, 4)
    size = max(-(-n // step) * step, _SMALLEST)
    return jnp.pad(p, [(0, 0)] * (p.ndim - 1) + [(0, size - n)])
