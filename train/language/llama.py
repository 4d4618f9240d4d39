"""The architecture of Llama and SmolLM2 as Objax layers: RMSNorm, rotary grouped-query attention, gated MLP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import objax
from jaxtyping import Array, Float, Int

from ..layers import Residual, RMSNorm, unit_mean_square


class Shape(NamedTuple):
    """The sizes of a Llama model.

    Attributes:
        vocab_size: numbers of tokens that exist.
        context: largest number of tokens in a text.
        blocks: attention and MLP, so many times.
        width: of the hidden states.
        hidden: width inside the MLP.
        heads: of queries; each is `width / heads` wide.
        groups: heads of keys and values, each shared by `heads / groups` queries.
        base: rotation frequencies are base^(−2i/head width) for pair i.
        epsilon: added to mean squares.
    """

    vocab_size: int
    context: int
    blocks: int
    width: int
    hidden: int
    heads: int
    groups: int
    base: float
    epsilon: float

    @property
    def head_width(self) -> int:
        """Size of one head."""
        return self.width // self.heads


class Block(NamedTuple):
    """The weights of one block, or of several stacked on a first axis, in the order of `block(...).vars()`.

    Joined weights stand side by side: queries, keys, values in `qkv`; gate and up in `gate_up`.
    """

    attention_norm: Float[Array, "... width"]
    qkv: Float[Array, "... width fan_out"]
    attention_out: Float[Array, "... width width"]
    mlp_norm: Float[Array, "... width"]
    gate_up: Float[Array, "... width 2*hidden"]
    down: Float[Array, "... hidden width"]


class Weights(NamedTuple):
    """All weights of a model; the head is the embedding, transposed."""

    embedding: Float[Array, "vocab width"]
    blocks: Block
    norm: Float[Array, "width"]


@dataclass(frozen=True)
class RotaryAttention:
    """Causal attention without its weights: queries, keys, values side by side to attended values.

    Queries and keys are rotated by their position (Su et al., arXiv 2104.09864), pairing entry i of a head with entry
    i + head_width/2.
    """

    heads: int
    groups: int
    base: float

    def __call__(self, joined: Float[Array, "b t fan_out"]) -> Float[Array, "b t width"]:
        batch, length, fan_out = joined.shape
        size = fan_out // (self.heads + 2 * self.groups)
        split = joined.reshape(batch, length, -1, size)
        turned = rotated(split[:, :, : self.heads + self.groups], jnp.arange(length), self.base)
        queries = turned[:, :, : self.heads].reshape(batch, length, self.groups, -1, size)
        keys, values = turned[:, :, self.heads :], split[:, :, self.heads + self.groups :]
        scores = jnp.einsum("bqghn,bkgn->bghqk", queries, keys) * size**-0.5
        past = jnp.tril(jnp.ones((length, length), bool))
        attended = jax.nn.softmax(jnp.where(past, scores, -jnp.inf))
        return jnp.einsum("bghqk,bkgn->bqghn", attended, values).reshape(batch, length, -1)


def rotated(
    values: Float[Array, "b t heads n"], positions: Int[Array, "t"], base: float
) -> Float[Array, "b t heads n"]:
    """Queries or keys turned by their positions, entry i of a head together with entry i + n/2."""
    half = values.shape[-1] // 2
    frequencies = base ** -(jnp.arange(half, dtype=values.dtype) / half)
    angles = positions.astype(values.dtype)[:, None, None] * frequencies
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    first, second = values[..., :half], values[..., half:]
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def gated(joined: Float[Array, "b t 2*hidden"]) -> Float[Array, "b t hidden"]:
    """silu(gate) · up (Shazeer, arXiv 2002.05202)."""
    gate, up = jnp.split(joined, 2, -1)
    return jax.nn.silu(gate) * up


def block(shape: Shape) -> objax.nn.Sequential:
    """Attention and MLP, each on normalised values and around which the values also pass unchanged.

    Gate and up are one dense layer, and so are queries, keys and values: book-keeping knows every layer with weights.
    """
    nn, width = objax.nn, shape.width
    attention = [
        RMSNorm(width, shape.epsilon),
        nn.Linear(width, (shape.heads + 2 * shape.groups) * shape.head_width, use_bias=False),
        RotaryAttention(shape.heads, shape.groups, shape.base),
        nn.Linear(shape.heads * shape.head_width, width, use_bias=False),
    ]
    mlp = [
        RMSNorm(width, shape.epsilon),
        nn.Linear(width, 2 * shape.hidden, use_bias=False),
        gated,
        nn.Linear(shape.hidden, width, use_bias=False),
    ]
    return nn.Sequential([Residual(nn.Sequential(attention)), Residual(nn.Sequential(mlp))])


@dataclass(frozen=True, eq=False)
class FrozenHead:
    """The last normalisation and the logits, with weights that are not trained."""

    norm: Float[Array, "width"]
    embedding: Float[Array, "vocab width"]
    epsilon: float

    def __call__(self, values: Float[Array, "b t width"]) -> Float[Array, "b t vocab"]:
        return unit_mean_square(values, self.epsilon) * self.norm @ self.embedding.T
