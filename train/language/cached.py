"""Llama one token at a time, keys and values of the past kept: attacks run their trees of candidates on it.

Tuned models differ from the base model in their last blocks alone. All of them are run together behind one front.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..functional import Params
from ..layers import unit_mean_square
from .llama import Block, Shape, Weights, gated, rotated


class Cache(NamedTuple):
    """Keys and values of the tokens so far, of `width` at most, for every row of a batch.

    Attributes:
        front: of the blocks that all models share.
        tuned: of each model's last blocks.
    """

    front: Float[Array, "blocks 2 n width groups size"]
    tuned: Float[Array, "models blocks 2 n width groups size"]

    def rows(self, numbers: Int[Array, "k"]) -> Cache:
        """The cache of the rows with these numbers."""
        return Cache(self.front[:, :, numbers], self.tuned[:, :, :, numbers])


class Decoder(NamedTuple):
    """Several models with one front, token by token.

    Attributes:
        start: (number of rows, width) -> an empty cache.
        extend: (cache, tokens `[n]`, their positions `[n]`) -> last hidden states `[models, n, width]`, cache. What
            the cache held at these positions and behind them is forgotten.
        log_likelihoods: (hidden states `[n, width]`, tokens `[k]`) -> log-likelihoods `[n, k]` of these as the next.
    """

    start: Callable[[int, int], Cache]
    extend: Callable[[Cache, Int[Array, "n"], Int[Array, "n"]], tuple[Float[Array, "models n width"], Cache]]
    log_likelihoods: Callable[[Float[Array, "n width"], Int[Array, "k"]], Float[Array, "n k"]]


def decoder(shape: Shape, weights: Weights, models: Sequence[Params]) -> Decoder:
    """The decoder of models that share all but their last blocks.

    Args:
        models: parameters of `last_blocks(shape, weights, ...).model`, all of the same number of blocks.
    """
    tuned = jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(_as_blocks, models))
    first = shape.blocks - len(tuned.down[0])
    front = Block(*(w[:first] for w in weights.blocks))

    def start(rows: int, width: int) -> Cache:
        one = (2, rows, width, shape.groups, shape.head_width)
        return Cache(jnp.zeros((first, *one)), jnp.zeros((len(models), shape.blocks - first, *one)))

    extend = functools.partial(_extend(shape), weights.embedding, front, tuned)
    return Decoder(start, extend, functools.partial(_log_likelihoods(shape), weights.norm, weights.embedding))


def _as_blocks(params: Params) -> Block:
    """A model's parameters, in their order, as blocks stacked on a first axis."""
    leaves = list(params.values())
    kinds = len(Block._fields)
    return Block(*(jnp.stack(leaves[i::kinds]) for i in range(kinds)))


def _extend(shape: Shape):
    def through(positions, values, block_and_past):
        return _block(shape, *block_and_past, values, positions)

    @jax.jit
    def extend(embedding, front: Block, tuned: Block, cache: Cache, tokens, positions):
        step = functools.partial(through, positions)
        values, of_front = jax.lax.scan(step, embedding[tokens], (front, cache.front))
        behind_front = functools.partial(jax.lax.scan, step, values)
        hidden, of_tuned = jax.lax.map(behind_front, (tuned, cache.tuned))
        return hidden, Cache(of_front, of_tuned)

    return extend


def _block(shape: Shape, block: Block, past, values: Float[Array, "n width"], positions: Int[Array, "n"]):
    """`llama.block` for one new token a row."""
    normal = unit_mean_square(values, shape.epsilon) * block.attention_norm
    attended, past = _attended(shape, normal @ block.qkv, past, positions)
    values = values + attended @ block.attention_out
    normal = unit_mean_square(values, shape.epsilon) * block.mlp_norm
    return values + gated(normal @ block.gate_up) @ block.down, past


def _attended(shape: Shape, joined: Float[Array, "n fan_out"], past, positions: Int[Array, "n"]):
    """`llama.RotaryAttention` of the new token to itself and the past, to which it is added."""
    size, groups, rows = shape.head_width, shape.groups, len(joined)
    split = joined.reshape(rows, -1, size)
    turned = rotated(split[None, :, : shape.heads + groups], positions, shape.base)[0]
    queries = turned[:, : shape.heads].reshape(rows, groups, -1, size)
    newest = jnp.stack([turned[:, shape.heads :], split[:, shape.heads + groups :]])
    past = past.at[:, jnp.arange(rows), positions].set(newest)
    scores = jnp.einsum("nghs,ntgs->nght", queries, past[0]) * size**-0.5
    seen = jnp.arange(past.shape[2]) <= positions[:, None, None, None]
    weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
    return jnp.einsum("nght,ntgs->nghs", weights, past[1]).reshape(rows, -1), past


def _log_likelihoods(shape: Shape):
    @jax.jit
    def log_likelihoods(norm, embedding, hidden, tokens):
        logits = unit_mean_square(hidden, shape.epsilon) * norm @ embedding.T
        return logits[:, tokens] - jax.nn.logsumexp(logits, axis=1, keepdims=True)

    return log_likelihoods
