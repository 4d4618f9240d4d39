"""One example as a target: what adversaries without power over gradients add to D."""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Array, Num

from ..train.engines import example_gradient
from ..train.trial import Trainer
from .adversary import Contribute


class Record(NamedTuple):
    """One example."""

    inputs: Num[Array, "..."]
    label: Array


class Pair(NamedTuple):
    """A target of the data itself.

    Attributes:
        present: what D' holds.
        absent: what D holds in its place when the game is replace-one; nobody reads it otherwise.
    """

    present: Record
    absent: Record


def record_gradient(trainer: Trainer, record: Record, params):
    """Gradient of the record's loss, not clipped."""
    return example_gradient(trainer.model, trainer.loss)(params, *record)


def contribute_present(trainer: Trainer) -> Contribute:
    """`contribute` of an adversary whose target is a `Pair`."""
    return lambda pair, state, params, step: (record_gradient(trainer, pair.present, params), state)


def contribute_absent(trainer: Trainer) -> Contribute:
    """`replaced` of an adversary whose target is a `Pair`."""
    return lambda pair, state, params, step: (record_gradient(trainer, pair.absent, params), state)


def loss_score(trainer: Trainer, pair: Pair, params) -> Array:
    """−loss of the target; in a replace-one game, how much better the model fits it than the other record."""
    score = -trainer.example_loss(params, *pair.present)
    if trainer.plan.adjacency == "replace_one":
        score += trainer.example_loss(params, *pair.absent)
    return score
