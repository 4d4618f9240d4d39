"""Book-keeping for embeddings: rows of a table, looked up by number."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..functional import Params
from .rule import Backward, Contribution


@dataclass(frozen=True)
class Lookup:
    """`Embedding` on numbers `[batch, ...]`; the table's gradient is never formed for one example."""

    weight: str
    has_weights = True

    def forward(self, params: Params, values: Int[Array, "b ..."]):
        return params[self.weight][values], values

    def backward(self, params: Params, residual, gradient: Float[Array, "b ... n"], need_input: bool):
        numbers = residual.reshape(len(residual), -1)
        by_position = gradient.reshape(*numbers.shape, gradient.shape[-1])
        same = numbers[:, :, None] == numbers[:, None, :]
        gram = jnp.einsum("bpn,bqn->bpq", by_position, by_position)

        def total(scale, factors):
            numbers, by_position = factors
            scaled = scale[:, None, None] * by_position
            table = params[self.weight]
            return {self.weight: jnp.zeros_like(table).at[numbers].add(scaled)}

        squared_norm = jnp.sum(jnp.where(same, gram, 0), (1, 2))
        return Backward(None, (Contribution(squared_norm, (numbers, by_position), total),))
