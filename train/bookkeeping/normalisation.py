"""Book-keeping for normalisations: a trained scale, and perhaps a shift, of values normalised one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..functional import Params
from .general import formed
from .rule import Backward


@dataclass(frozen=True)
class Normalisation:
    """`LayerNorm` and `RMSNorm`: their weights are as short as one position, so gradients of those are formed.

    Attributes:
        normalise: a position's values to normalised ones, without weights.
        scale, shift: names of the weights; no shift: None.
    """

    normalise: Callable[[Array], Array]
    scale: str
    shift: str | None
    has_weights = True

    def forward(self, params: Params, values: Float[Array, "b ... n"]):
        outputs = self.normalise(values) * params[self.scale]
        return (outputs if self.shift is None else outputs + params[self.shift]), values

    def backward(self, params: Params, residual, gradient: Float[Array, "b ... n"], need_input: bool):
        normal, pull = jax.vjp(self.normalise, residual)
        between = tuple(range(1, gradient.ndim - 1))
        own = {self.scale: jnp.sum(gradient * normal, between)}
        if self.shift is not None:
            own[self.shift] = jnp.sum(gradient, between)
        inputs = pull(gradient * params[self.scale])[0] if need_input else None
        return Backward(inputs, (formed(own),))
