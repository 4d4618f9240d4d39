"""What the crafter knows: the trainer with its settings, and the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Array, Key, Num

from ..train.functional import Params
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
