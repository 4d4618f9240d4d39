"""What the crafter knows: the trainer with its settings, and the data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, Num

from ..train.functional import Params
from ..train.mixing import check_unmixed
from ..train.trial import Trainer

Examples = tuple[Num[Array, "N ..."], Num[Array, "N ..."]]
"""Inputs and labels."""


@dataclass(frozen=True, eq=False)
class Task:
    """The game's fixed ground, common to both worlds.

    Attributes:
        trainer: the trainer and its settings, public as in every DP analysis.
        initial: key -> parameters at step 0.
        members: D.
        shadow: examples outside D on which the adversary may train models of its own.
        fresh: further draws from the distribution, in neither D nor the shadow set.
    """

    trainer: Trainer
    initial: Callable[[Key[Array, ""]], Params]
    members: Examples
    shadow: Examples
    fresh: Examples

    def with_noise(self, noise_multiplier: float) -> Task:
        """The same ground at another σ."""
        return dataclasses.replace(self, trainer=self.trainer.with_noise(noise_multiplier))


def check_task(task: Task) -> None:
    """Refuses a ground on which the game would mean nothing.

    Raises:
        ValueError: examples outside the valid range, labels that are no classes, a shadow or fresh set that shares
            examples with D, or a model that mixes the examples of a batch.
    """
    inputs, _ = task.members
    params = jax.jit(task.initial)(jax.random.key(0))
    logits = jax.eval_shape(task.trainer.model.apply, params, inputs[:2])
    for name in ("members", "shadow", "fresh"):
        _check_examples(name, *getattr(task, name), num_classes=logits.shape[-1])
    for name in ("shadow", "fresh"):
        _check_disjoint(name, np.asarray(inputs), np.asarray(getattr(task, name)[0]))
    check_unmixed(task.trainer.model, params, inputs)


def _check_examples(name: str, inputs: Array, labels: Array, num_classes: int) -> None:
    least, most = float(jnp.min(inputs)), float(jnp.max(inputs))
    if not (least >= 0 and most <= 1):
        raise ValueError(f"inputs of {name} must lie in [0, 1], got values from {least:g} to {most:g}")
    if jnp.issubdtype(labels.dtype, jnp.integer):
        wrong = np.asarray(labels)[(np.asarray(labels) < 0) | (np.asarray(labels) >= num_classes)]
        if wrong.size:
            raise ValueError(f"labels of {name} must be classes 0 to {num_classes - 1}, got {wrong[0]}")


def _check_disjoint(name: str, members: np.ndarray, others: np.ndarray) -> None:
    shared = {row.tobytes() for row in members} & {row.tobytes() for row in others}
    if shared:
        raise ValueError(f"{name} must share no example with D, got {len(shared)} inputs in both")
