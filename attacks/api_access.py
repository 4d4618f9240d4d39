"""API access (Paper L, §4.1): the weakest adversary.

Powers: sees the final model as a black box; changes nothing.
Crafter: a random draw (x, y) from the distribution joins D.
Distinguisher: guesses D' when the final model's loss on (x, y) is small; the score is −loss.
The paper trains on the draw as on any other example, and so do we.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
from jaxtyping import Array, Num

from ..train.trial import Trainer
from .adversary import Access, Adversary, no_state, observe_nothing


class Record(NamedTuple):
    """One example: what a black-box adversary adds to D."""

    inputs: Num[Array, "..."]
    label: Array


@dataclass(frozen=True)
class Options:
    """This adversary has nothing to choose."""


def api_access(trainer: Trainer, options: Options) -> Adversary:
    """A random example and the final model's loss on it."""

    def craft(key, task):
        inputs, labels = task.fresh
        drawn = jax.random.randint(key, (), 0, labels.shape[0])
        return Record(inputs[drawn], labels[drawn])

    return Adversary(
        access=Access.FINAL_MODEL,
        craft=craft,
        init=no_state,
        contribute=contribute_record(trainer),
        observe=observe_nothing,
        score=lambda record, state, params: {"loss": -trainer.example_loss(params, *record)},
    )


def contribute_record(trainer: Trainer):
    """`contribute` of every adversary that adds one example: its gradient at the current parameters."""

    def contribute(record, state, params, step):
        return jax.grad(trainer.example_loss)(params, *record), state

    return contribute
