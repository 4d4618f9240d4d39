"""Poisson sampling, exactly as accounted: every example joins a batch independently with probability q."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key
from scipy import stats

OVERFLOW_PROBABILITY = 1e-9


class Batch(NamedTuple):
    """A padded Poisson batch.

    Attributes:
        indices: `[capacity]` ascending example numbers, 0 in the padding.
        weights: `[capacity]` 1 for a sampled example, 0 for padding.
        overflowed: more examples were drawn than the capacity holds; the batch must not be used.
    """

    indices: Int[Array, "capacity"]
    weights: Float[Array, "capacity"]
    overflowed: Bool[Array, ""]


def capacity_for(num_examples: int, sampling_rate: float, draws: int) -> int:
    """Smallest padded batch that `draws` Poisson batches all fit, but for a probability below 1e-9.

    >>> capacity_for(1000, 1.0, draws=50)
    1000
    >>> capacity_for(60_000, 256 / 60_000, draws=100_000)
    387
    """
    per_draw = OVERFLOW_PROBABILITY / draws
    quantile = stats.binom.isf(per_draw, num_examples, sampling_rate)
    return max(1, min(num_examples, int(quantile)))


def poisson_batch(key: Key[Array, ""], num_examples: int, sampling_rate: float, capacity: int) -> Batch:
    """Draws a batch in O(capacity): the gaps between successes of Bernoulli(q) are geometric.

    Probabilities are right to about 1e-7 relative: 32 random bits a gap, rounded in float32.
    """
    gaps = _geometric_gaps(key, sampling_rate, capacity + 1, num_examples)
    positions = _saturating_positions(gaps, num_examples)
    inside = positions[:capacity] < num_examples
    return Batch(
        indices=jnp.where(inside, positions[:capacity], 0),
        weights=inside.astype(jnp.float32),
        overflowed=positions[capacity] < num_examples,
    )


def bernoulli(key: Key[Array, ""], probability: float, shape: tuple[int, ...] = ()) -> Bool[Array, "..."]:
    """Coins, right to 2^-32 (jax.random.bernoulli compares 23 bits)."""
    if probability >= 1:
        return jnp.ones(shape, bool)
    return jax.random.bits(key, shape, jnp.uint32) < jnp.uint32(round(probability * 2.0**32))


def _geometric_gaps(key, sampling_rate: float, count: int, limit: int) -> Int[Array, "count"]:
    """Failures before each success, cut off at `limit`, by inversion of an exponential variate."""
    bits = jax.random.bits(key, (count,), jnp.uint32)
    low, high = bits, ~bits  # u and 1 - u, each with full relative precision near zero
    u, one_minus_u = ((x.astype(jnp.float32) + 0.5) * 2.0**-32 for x in (low, high))
    exponential = jnp.where(u < 0.5, -jnp.log1p(-u), -jnp.log(one_minus_u))
    with np.errstate(divide="ignore"):
        rate = np.float32(-np.log1p(-sampling_rate))
    return jnp.minimum(jnp.floor(exponential / rate), limit).astype(jnp.int32)


def _saturating_positions(gaps: Int[Array, "count"], limit: int) -> Int[Array, "count"]:
    """Positions of the successes; everything past `limit` stays at or above it without overflow."""
    if gaps.shape[0] * (limit + 1) < 2**31:
        return jnp.cumsum(gaps + 1) - 1
    return jax.lax.associative_scan(lambda a, b: jnp.minimum(a + b, limit + 1), gaps + 1) - 1
