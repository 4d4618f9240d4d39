"""Microbatches: an engine run over a batch in chunks, as many as hold sampled examples."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .backend import examples_at_once
from .clipping import ClippedSum, Engine
from .functional import Params


def microbatched(engine: Engine, size_for: Callable[[Params, Array, Array], int]) -> Engine:
    """The same sum, a chunk of examples at a time.

    Sampled examples come first and padding last, so the chunks after the last sampled example are not run:
    the padding of Poisson batches costs next to nothing.

    Args:
        size_for: (params, inputs, labels) -> examples in a chunk; only shapes may be read.
    """

    def chunked(params, inputs, labels, weights):
        batch = len(weights)
        size = size_for(params, inputs, labels)
        if size >= batch:
            return engine(params, inputs, labels, weights)

        def add(i, so_far):
            start = jnp.minimum(i * size, batch - size)  # the last chunk overlaps: no copy to pad the batch
            cut = [jax.lax.dynamic_slice_in_dim(x, start, size) for x in (inputs, labels, weights)]
            fresh = start + jnp.arange(size) >= i * size
            part = engine(params, *cut[:2], jnp.where(fresh, cut[2], 0))
            return jax.tree.map(jnp.add, so_far, part)

        start = _zero(params, (inputs, labels, weights))
        return jax.lax.fori_loop(0, _chunks_with_weight(weights, size), add, start)

    return chunked


def chunk_size(capacity: int, expected: float | None, bytes_of_an_example: int) -> int:
    """Equal chunks, of what the backend works on at once, for nearly every Poisson batch.

    Args:
        capacity: length of the padded batch.
        expected: mean number of examples in it; None: no padding.
        bytes_of_an_example: what one needs.

    >>> chunk_size(256, None, 1_000_000)
    8
    """
    usual = capacity if expected is None else min(capacity, math.ceil(expected + 2 * math.sqrt(expected)))
    pieces = math.ceil(usual / examples_at_once(bytes_of_an_example))
    return math.ceil(usual / pieces)


def _zero(params: Params, batch) -> ClippedSum:
    """Nothing summed yet; built from its sources, so that shard_map knows along which axes it varies."""
    nothing = sum(jnp.sum(x.reshape(-1)[:0]) for x in batch)
    total = jax.tree.map(
        lambda p: jnp.zeros_like(p) + (nothing + p.reshape(-1)[:0].sum()).astype(p.dtype), params
    )
    return ClippedSum(
        total, sum(jnp.sum(t.reshape(-1)[:0]) for t in jax.tree.leaves(total)).astype(jnp.int32)
    )


def _chunks_with_weight(weights: Float[Array, "batch"], size: int) -> Int[Array, ""]:
    """How many chunks reach to the last weight that is not zero; one number for all vmapped batches."""

    @jax.custom_batching.custom_vmap
    def needed(weights):
        last = jnp.max(jnp.where(weights != 0, jnp.arange(1, len(weights) + 1), 0))
        return (last + size - 1) // size

    @needed.def_vmap
    def largest(axis_size, in_batched, weights):
        return needed(jnp.max(jnp.abs(weights), axis=0)), False

    return needed(weights)
