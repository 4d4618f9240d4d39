"""One step of DP-SGD (Paper L, eq. 3): clipped sum, noise σC, constant divisor qN, optimiser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import optax
from jaxtyping import Array, Int, Key

from .clipping import ClippedSum, Engine
from .functional import Params
from .noise import gaussian_like
from .sampling import Batch


@dataclass(frozen=True)
class Plan:
    """The settings of a training run that the privacy analysis depends on.

    Attributes:
        num_examples: N = |D|, the same constant in both worlds.
        batch_size: expected batch size qN.
        steps: T.
        clipping_norm: C.
        noise_multiplier: σ; the noise on the sum has standard deviation σC.
        adjacency: `add_remove`: D' has the target and D does not; `replace_one`: D has another record in its place.
    """

    num_examples: int
    batch_size: float
    steps: int
    clipping_norm: float
    noise_multiplier: float
    adjacency: str = "add_remove"

    @property
    def sampling_rate(self) -> float:
        """q, the probability with which each example joins a batch."""
        return self.batch_size / self.num_examples


class Released(NamedTuple):
    """What one step publishes: its noisy average gradient and the parameters after the update."""

    params: Params
    gradient: Params


class Step(NamedTuple):
    """All that happened in a step; only `released` (and `before`, released a step earlier) may leave the trainer."""

    before: Params
    released: Released
    optimizer_state: Any
    clean_sum: Params
    nonfinite: Int[Array, ""]


def dpsgd_step(
    key: Key[Array, ""],
    params: Params,
    optimizer_state: Any,
    examples: tuple[Array, Array],
    batch: Batch,
    extra: ClippedSum,
    *,
    plan: Plan,
    engine: Engine,
    optimizer: optax.GradientTransformation,
) -> Step:
    """Performs one step on a Poisson batch and an extra, already clipped, contribution.

    Args:
        key: of this step's noise.
        examples: inputs `[N, ...]` and labels `[N, ...]` of D.
        extra: what the target adds: zero in world 0 and whenever it is not sampled.
    """
    inputs, labels = (array[batch.indices] for array in examples)
    own = engine(params, inputs, labels, batch.weights)
    clean_sum = jax.tree.map(lambda a, b: a + b.astype(a.dtype), own.total, extra.total)
    noise = gaussian_like(key, clean_sum, plan.noise_multiplier * plan.clipping_norm)
    gradient = jax.tree.map(lambda s, z: (s + z) / plan.batch_size, clean_sum, noise)
    updates, optimizer_state = optimizer.update(gradient, optimizer_state, params)
    released = Released(optax.apply_updates(params, updates), gradient)
    return Step(params, released, optimizer_state, clean_sum, own.nonfinite + extra.nonfinite)
