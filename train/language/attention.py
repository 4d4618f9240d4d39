"""The weightless parts of a transformer: causal attention between positions, and GELU."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


@dataclass(frozen=True)
class CausalAttention:
    """Scaled dot-product attention of every position to itself and those before it.

    Attributes:
        heads: number of heads; they share the width equally.
    """

    heads: int

    def __call__(self, projected: Float[Array, "b t 3*n"]) -> Float[Array, "b t n"]:
        """Args: queries, keys and values side by side, as GPT-2's one projection makes them."""
        batch, length, width = projected.shape
        split = projected.reshape(batch, length, 3, self.heads, width // 3 // self.heads)
        query, key, value = (split[:, :, i] for i in range(3))
        return attend(query, key, value).reshape(batch, length, width // 3)


def attend(
    query: Float[Array, "b t h n"], key: Float[Array, "b t h n"], value: Float[Array, "b t h n"]
) -> Float[Array, "b t h n"]:
    """Σ_j softmax_j(⟨q_i, k_j⟩/√n)·v_j over j <= i, head by head."""
    length = query.shape[1]
    similarity = jnp.einsum("bihn,bjhn->bhij", query, key) / jnp.sqrt(query.shape[-1]).astype(query.dtype)
    visible = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(visible, similarity, jnp.finfo(query.dtype).min), axis=-1)
    return jnp.einsum("bhij,bjhn->bihn", weights, value)


def gelu(values: Float[Array, "..."]) -> Float[Array, "..."]:
    """GPT-2's GELU: the approximation by tanh."""
    return jax.nn.gelu(values, approximate=True)
