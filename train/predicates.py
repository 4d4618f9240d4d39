"""Predicates that stay one number under `vmap`, so that `cond` and `while` there stay what they are."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool


@jax.custom_batching.custom_vmap
def true_everywhere(flags: Bool[Array, "..."]) -> Bool[Array, ""]:
    """Whether all flags are true, in all vmapped copies together."""
    return jnp.all(flags)


@true_everywhere.def_vmap
def _vmapped(axis_size, in_batched, flags):
    return true_everywhere(flags), False
