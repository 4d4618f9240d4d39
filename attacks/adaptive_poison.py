"""Adaptive poison (Paper L, §4.4): a fresh malicious example for every step.

Powers: sees every model; whenever its record is sampled, chooses the example.
Crafter: the query is the static poison. The poison starts as the query's input under another label, the one that shadow
    models find likeliest; before each step it ascends the query's loss *after* the step that it would cause, by
    differentiating through the clipped gradient and the update (`jax.grad` of a `jax.grad`), from where it stood.
    The paper's protocol replaces it every iteration, its text also says every epoch: `--adaptive_every`. Its inner step
    mixes a function of x with one of the parameters; we take the parameters' update. In a replace-one game D holds the
    query itself.
Distinguisher: training on the poison raises the query's loss, so it guesses D' when that is large. Statistics:
    `max`, `mean`: of the query's loss over the models after each step, as in §4.3;
    `matched_filter` (unless --nowhite_box): not in the paper; the crafter knows each poison's gradient (`matched`).
The verdict is corrected for their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from ..train.clipping import clip
from ..train.trial import Trainer
from .adversary import Access, Adversary
from .intermediate_poison import Options as IntermediateOptions
from .intermediate_poison import Trajectory, no_trajectory
from .matched import Evidence, Leak, constant_learning_rate, directions_of, measure_leak, no_evidence, weigh
from .options import STEP_SIZE, among, at_least, option
from .poison import ascend, craft_poison
from .record import Pair, Record, record_gradient

EVERY = ("iteration", "epoch")


@dataclass(frozen=True)
class Options(IntermediateOptions):
    """Choices that the paper leaves open."""

    adaptive_every: str = option("iteration", "when the poison is renewed", among(*EVERY))
    adaptive_steps: int = option(2, "ascent steps at each renewal", at_least(1))
    adaptive_step_size: float = option(0.1, "largest change of a pixel in such a step", STEP_SIZE)


class Query(NamedTuple):
    """The target.

    Attributes:
        query: what the distinguisher scores.
        poison: the first poison; its label stays.
        leak: what hides the matched filter's signal; None where it is not used.
    """

    query: Record
    poison: Record
    leak: Leak | None


class State(NamedTuple):
    """The poison's input now, and what was seen of the query."""

    inputs: Array
    losses: Trajectory
    evidence: Evidence


def adaptive_poison(trainer: Trainer, options: Options) -> Adversary:
    """A poison renewed against each released model, and the query's loss along the trajectory."""
    plan = trainer.plan
    rate = constant_learning_rate(trainer) if options.white_box else None
    period = 1 if options.adaptive_every == "iteration" else math.ceil(1 / plan.sampling_rate)

    def renewed(target, inputs, seen, params):
        """The next step's poison; `seen` steps are over."""
        return jax.lax.cond(
            seen % period == 0,
            lambda now: improve(
                trainer, target, now, params, options.adaptive_steps, options.adaptive_step_size
            ),
            lambda now: now,
            inputs,
        )

    def observe(target, state, view):
        losses = state.losses.add(trainer.example_loss(view.params, *target.query))
        evidence = state.evidence
        if rate is not None:
            directions = directions_of(trainer, _pair_at(target, state.inputs), view.before)
            evidence = weigh(trainer, rate, evidence, view, directions, target.leak)
        return State(renewed(target, state.inputs, losses.steps, view.params), losses, evidence)

    def score(target, state, params):
        losses = state.losses
        scores = {"max": losses.largest, "mean": losses.total / losses.steps}
        return scores if rate is None else scores | {"matched_filter": state.evidence.log_ratio}

    def hold(which):
        def add(target, state, params, step):
            record = _pair_at(target, state.inputs)[which]
            return record_gradient(trainer, record, params), state

        return add

    return Adversary(
        access=Access.ALL_MODELS,
        craft=_crafter(trainer, options, renewed if options.white_box else None),
        init=lambda target, key: State(target.poison.inputs, no_trajectory(), no_evidence()),
        contribute=hold(0),
        replaced=hold(1),
        observe=observe,
        score=score,
    )


def _pair_at(target: Query, inputs: Array) -> Pair:
    """What a step holds in D' and in D while the poison's input is `inputs`."""
    return Pair(Record(inputs, target.poison.label), target.query)


def _crafter(trainer: Trainer, options: Options, renewed):
    """(key, task) -> target; `renewed` gives a rehearsal its next poison, None where none is rehearsed."""

    def craft(key, task):
        crafted = craft_poison(key, task, options)
        bare = Query(crafted.present, crafted.absent, None)
        initial = task.initial(jax.random.fold_in(key, 1))
        first = jax.jit(
            lambda params: improve(
                trainer, bare, bare.poison.inputs, params, options.poison_steps, options.poison_step_size
            )
        )
        target = bare._replace(poison=Record(first(initial), bare.poison.label))
        return target if renewed is None else target._replace(leak=_leak(key, task, target))

    def _leak(key, task, target):
        def advance(state, params):
            inputs, seen = state
            return renewed(target, inputs, seen + 1, params), seen + 1

        return measure_leak(
            jax.random.fold_in(key, 2),
            task,
            start=(target.poison.inputs, jnp.int32(0)),
            directions=lambda state, params: directions_of(trainer, _pair_at(target, state[0]), params),
            advance=advance,
            count=options.rehearsals,
        )

    return craft


def query_loss_after(trainer: Trainer, target: Query, inputs: Array, params: Any) -> Float[Array, ""]:
    """The query's loss after one noiseless step on the poison alone: a gradient of a gradient away from its input."""
    plan = trainer.plan
    poison = Record(inputs, target.poison.label)
    gradient = clip(record_gradient(trainer, poison, params), plan.clipping_norm).total
    gradient = jax.tree.map(lambda g: g / plan.batch_size, gradient)
    updates, _ = trainer.optimizer.update(gradient, trainer.optimizer.init(params), params)
    return trainer.example_loss(optax.apply_updates(params, updates), *target.query)


def improve(
    trainer: Trainer, target: Query, inputs: Array, params: Any, steps: int, step_size: float
) -> Array:
    """The poison's input after some ascent steps of `query_loss_after`, inside [0, 1]."""
    return ascend(lambda x: query_loss_after(trainer, target, x, params), inputs, steps, step_size)
