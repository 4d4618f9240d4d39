"""Relaxed adaptive projection (Aydore et al. 2021, arXiv 2103.06641) turned into an attack on known people.

The relaxed table has a row for each target: a distribution over the values of every attribute, one-hot and fixed where
the attribute is known. Gradient descent moves the others until the table's marginals fit the released ones.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from ...train.tabular.marginals import Marginals
from .prior import Knowledge


@dataclass(frozen=True)
class Projection:
    """Options of the descent (Adam on the logits, from nearly uniform rows)."""

    steps: int = 200
    learning_rate: float = 0.2

    def __post_init__(self):
        if self.steps < 1:
            raise ValueError(f"steps must be >= 1, got {self.steps}")
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate must be > 0, got {self.learning_rate}")


def project(
    released: Float[np.ndarray, "games cells"],
    marginals: Marginals,
    knowledge: Sequence[Knowledge],
    options: Projection = Projection(),
    seed: int = 0,
) -> Int[np.ndarray, "games n"]:
    """The likeliest joint value of every target's row, as a place among `Knowledge.values`.

    Args:
        released: noisy marginals of one table per game, whose records are the game's targets.
        knowledge: one per game, of the same unknown attributes; its prior is not used.
    """
    unknown = knowledge[0].unknown
    known = np.stack([_one_hot(found, marginals.sizes) for found in knowledge])
    width = sum(marginals.sizes[place] for place in unknown)
    start = 0.01 * np.random.default_rng(seed).standard_normal((*known.shape[:2], width))
    arrays = [jnp.asarray(array, jnp.float32) for array in (released, known, start)]
    return np.asarray(_descend(marginals, unknown, options)(*arrays))


def _one_hot(knowledge: Knowledge, sizes: Sequence[int]) -> Float[np.ndarray, "n width"]:
    """Known attributes side by side; nothing where the truth of the unknown ones would stand."""
    blocks = [np.eye(size)[column] for size, column in zip(sizes, knowledge.codes.T, strict=True)]
    for place in knowledge.unknown:
        blocks[place] = np.zeros_like(blocks[place])
    return np.concatenate(blocks, axis=1)


@functools.lru_cache(maxsize=64)
def _descend(marginals: Marginals, unknown: tuple[int, ...], options: Projection):
    """(released, known, start) of all games -> places, compiled."""
    first = np.cumsum([0, *marginals.sizes[:-1]])
    sizes = [marginals.sizes[place] for place in unknown]
    of_cells = marginals.values_of_cells()
    optimizer = optax.adam(options.learning_rate)

    def rows(logits):
        return [jax.nn.softmax(part, axis=-1) for part in jnp.split(logits, np.cumsum(sizes)[:-1], axis=-1)]

    def misfit(logits, released, table):
        for place, part in zip(unknown, rows(logits), strict=True):
            table = table.at[:, first[place] : first[place] + part.shape[1]].set(part)
        return jnp.mean((released - _relaxed_counts(table, of_cells)) ** 2)

    def one(released, known, logits):
        def step(_, carry):
            logits, state = carry
            change, state = optimizer.update(jax.grad(misfit)(logits, released, known), state)
            return optax.apply_updates(logits, change), state

        logits, _ = jax.lax.fori_loop(0, options.steps, step, (logits, optimizer.init(logits)))
        best = [jnp.argmax(part, axis=-1) for part in rows(logits)]
        return jnp.ravel_multi_index(best, sizes, mode="wrap")

    return jax.jit(jax.vmap(one))


def _relaxed_counts(
    table: Float[Array, "n width"], of_cells: Int[np.ndarray, "cells ways"]
) -> Float[Array, "cells"]:
    """Marginals of the relaxed table: in every cell the sum over rows of the product of its values' shares."""
    return jnp.sum(functools.reduce(jnp.multiply, [table[:, column] for column in of_cells.T]), axis=0)
