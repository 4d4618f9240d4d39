"""Intermediate poison (Paper L, §4.3): the static poison, watched while it is trained on.

Powers: sees every model; adds one example of its own making.
Crafter: that of the static poison; the two play on the same trained models.
Distinguisher: guesses D' when the poison's loss is small along the trajectory. Statistics, all in one pass and constant
    memory, the verdict being corrected for their number:
    `max`, `mean`: of the loss over the models after each step. The paper prefers max for ε ≤ 2 and mean above, by
        result; whether the initial model counts is not stated: here it does not, being the same in both worlds.
    `matched_filter` (unless --nowhite_box): not in the paper; the strongest that this access permits (`matched`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..train.trial import Trainer
from .adversary import Access, Adversary
from .matched import Evidence, Leak, constant_learning_rate, directions_of, measure_leak, no_evidence, weigh
from .options import at_least, option
from .poison import PoisonOptions, craft_poison
from .record import Pair, contribute_absent, contribute_present, loss_score


@dataclass(frozen=True)
class Options(PoisonOptions):
    """Choices that the paper leaves open."""

    white_box: bool = option(True, "also read gradients off the models: statistic matched_filter")
    rehearsals: int = option(
        16, "trainings on D that measure what hides the matched filter's signal", at_least(2)
    )


class Watched(NamedTuple):
    """The target with what the distinguisher measured beforehand; no leak where it reads losses only."""

    pair: Pair
    leak: Leak | None


class Trajectory(NamedTuple):
    """What is kept of all losses: their largest, their sum and their number."""

    steps: Int[Array, ""]
    largest: Float[Array, ""]
    total: Float[Array, ""]

    def add(self, loss: Float[Array, ""]) -> Trajectory:
        """One more loss."""
        return Trajectory(self.steps + 1, jnp.maximum(self.largest, loss), self.total + loss)


def no_trajectory() -> Trajectory:
    """Before the first step."""
    return Trajectory(jnp.int32(0), jnp.float32(-jnp.inf), jnp.float32(0.0))


class State(NamedTuple):
    """Losses seen, and evidence read off the gradients."""

    losses: Trajectory
    evidence: Evidence


def intermediate_poison(trainer: Trainer, options: Options) -> Adversary:
    """A crafted example and its loss, or its gradient, in all models."""
    rate = constant_learning_rate(trainer) if options.white_box else None
    crafted_as = PoisonOptions(
        **{field.name: getattr(options, field.name) for field in dataclasses.fields(PoisonOptions)}
    )

    def craft(key, task):
        pair = craft_poison(key, task, crafted_as)
        if rate is None:
            return Watched(pair, None)
        leak = measure_leak(
            jax.random.fold_in(key, 1),
            task,
            start=(),
            directions=lambda state, params: directions_of(trainer, pair, params),
            advance=lambda state, params: state,
            count=options.rehearsals,
        )
        return Watched(pair, leak)

    def observe(target, state, view):
        losses = state.losses.add(-loss_score(trainer, target.pair, view.params))
        if rate is None:
            return state._replace(losses=losses)
        directions = directions_of(trainer, target.pair, view.before)
        return State(losses, weigh(trainer, rate, state.evidence, view, directions, target.leak))

    def score(target, state, params):
        losses = state.losses
        scores = {"max": -losses.largest, "mean": -losses.total / losses.steps}
        return scores if rate is None else scores | {"matched_filter": state.evidence.log_ratio}

    return Adversary(
        access=Access.ALL_MODELS,
        craft=craft,
        init=lambda target, key: State(no_trajectory(), no_evidence()),
        contribute=_on_pair(contribute_present(trainer)),
        replaced=_on_pair(contribute_absent(trainer)),
        observe=observe,
        score=score,
        crafter=("static_poison", crafted_as),
    )


def _on_pair(contribute):
    return lambda target, state, params, step: contribute(target.pair, state, params, step)
