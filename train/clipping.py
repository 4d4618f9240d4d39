"""Per-example clipping: the sum over a batch of gradients, each scaled down to norm at most C."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Num

from .functional import Model, Params
from .predicates import true_everywhere

Loss = Callable[[Float[Array, "classes"], Array], Float[Array, ""]]


class ClippedSum(NamedTuple):
    """The weighted sum of clipped gradients and how many of them were not finite (they add zero)."""

    total: Params
    nonfinite: Int[Array, ""]


Engine = Callable[[Params, Num[Array, "batch ..."], Array, Float[Array, "batch"]], ClippedSum]
"""(parameters, inputs, labels, weights) -> ClippedSum; weight 0 marks padding."""


def clip_scale(norm: Float[Array, "..."], clipping_norm: float) -> Float[Array, "..."]:
    """min(1, C / norm); zero where the norm is not finite, so that such an example adds nothing."""
    return jnp.where(jnp.isfinite(norm), clipping_norm / jnp.maximum(norm, clipping_norm), 0.0)


def clip(gradient: Params, clipping_norm: float) -> ClippedSum:
    """Clips one gradient to norm C (Paper L, §2.3)."""
    norm = _norm(gradient)
    scale = clip_scale(norm, clipping_norm)
    finite = jnp.isfinite(norm)
    clipped = jax.tree.map(lambda g: jnp.where(finite, g, 0.0) * scale, gradient)
    return ClippedSum(clipped, jnp.int32(~finite))


def _norm(gradient: Params) -> Float[Array, ""]:
    """Global norm, with derivative zero (not NaN) at zero: adversaries differentiate through the step."""
    squared = sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(gradient))
    positive = squared > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, squared, 1.0)), squared)


def vmap_grad(model: Model, loss: Loss, clipping_norm: float) -> Engine:
    """The engine for any model: one gradient an example, all in memory at once.

    XLA's convolutions, vmapped, compute zero times the other examples: one NaN would spoil the whole batch,
    and no longer would an example move the sum by at most C. So where there is a NaN, examples go one by one.
    """

    def clipped_gradient(params, one_input, label):
        gradient = jax.grad(lambda p: loss(model.apply(p, one_input[None])[0], label))(params)
        return clip(gradient, clipping_norm)

    def engine(params, inputs, labels, weights):
        one = functools.partial(clipped_gradient, params)
        together = jax.vmap(one)(inputs, labels)

        def weighted(clipped: ClippedSum) -> ClippedSum:
            total = jax.tree.map(lambda g: jnp.tensordot(weights.astype(g.dtype), g, 1), clipped.total)
            return ClippedSum(total, jnp.sum(clipped.nonfinite * (weights != 0), dtype=jnp.int32))

        return jax.lax.cond(
            true_everywhere(together.nonfinite == 0),
            lambda: weighted(together),
            lambda: weighted(jax.lax.map(lambda example: one(*example), (inputs, labels))),
        )

    return engine
