"""Book-keeping for dense layers, on vectors or on sequences of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Array, Float

from ..functional import Params
from .products import product_contribution
from .rule import Backward


@dataclass(frozen=True)
class Dense:
    """`objax.nn.Linear`: acts on the last axis of `[batch, ..., fan_in]`."""

    weight: str
    bias: str | None
    has_weights = True

    def forward(self, params: Params, values: Float[Array, "b ... fan_in"]):
        outputs = values @ params[self.weight]
        return (outputs if self.bias is None else outputs + params[self.bias]), values

    def backward(self, params: Params, residual, gradient: Float[Array, "b ... fan_out"], need_input: bool):
        positions = [x.reshape(x.shape[0], -1, x.shape[-1]) for x in (residual, gradient)]
        inputs = gradient @ params[self.weight].T if need_input else None
        return Backward(inputs, (product_contribution(*positions, self.weight, self.bias),))
