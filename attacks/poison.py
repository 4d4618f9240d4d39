"""Crafting a poison: one example that training on D' will visibly fit (Paper L, §4.2).

`ascent` (the paper's algorithm): from a random example, raise its loss on shadow models by projected gradient steps.
`deepfool` (the paper's words): from a random example, cross the nearest boundary of the shadow models, linearised.
`mislabelled`: black and white noise, far from all data, with the label that the shadow models find least likely.
`blank`: the all-zero input, labelled likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from ..train.functional import Params
from ..train.trial import Trainer, bystander
from .options import STEP_SIZE, Checked, among, at_least, option
from .record import Pair, Record
from .shadow import shadow_runs
from .task import Task

METHODS = ("ascent", "deepfool", "mislabelled", "blank")

OVERSHOOT = 0.02
"""How far past the boundary DeepFool goes (Moosavi-Dezfooli et al. 2016)."""


@dataclass(frozen=True)
class PoisonOptions(Checked):
    """Choices that the paper leaves open."""

    poison: str = option("ascent", "how the poison is made", among(*METHODS))
    poison_steps: int = option(40, "steps of ascent, or of DeepFool at most", at_least(1))
    poison_step_size: float = option(0.05, "s: largest change of a pixel in a step of ascent", STEP_SIZE)
    num_shadow_models: int = option(8, "shadow runs, for each thing that is measured in them", at_least(2))


Shadows = Params
"""Parameters of all shadow models, stacked along a first axis."""

Method = Callable[[Key[Array, ""], Task, Shadows, PoisonOptions], Record]


def craft_poison(key: Key[Array, ""], task: Task, options: PoisonOptions) -> Pair:
    """Trains the shadow models and makes the poison with them."""
    shadow_key, poison_key = jax.random.split(key)
    shadows = shadow_runs(shadow_key, task, bystander(), options.num_shadow_models).params
    return poison_against(poison_key, task, shadows, options)


def poison_against(key: Key[Array, ""], task: Task, shadows: Shadows, options: PoisonOptions) -> Pair:
    """Makes the poison for these shadow models.

    In a replace-one game D holds the same input under the label that the shadow models find likeliest, so that the
    worlds pull the model in opposite directions.
    """
    poison = _MAKERS[options.poison](key, task, shadows, options)
    return Pair(poison, Record(poison.inputs, likeliest_other(task.trainer, shadows, poison)))


def mean_probabilities(trainer: Trainer, shadows: Shadows, inputs: Array) -> Float[Array, "classes"]:
    """What the shadow models predict, on average."""
    predict = jax.jit(jax.vmap(lambda p: jax.nn.softmax(trainer.model.apply(p, inputs[None])[0])))
    return predict(shadows).mean(0)


def likeliest_other(trainer: Trainer, shadows: Shadows, record: Record) -> Array:
    """The class, other than the record's own, that the shadow models find likeliest."""
    predicted = mean_probabilities(trainer, shadows, record.inputs)
    return jnp.argmax(predicted.at[record.label].set(-1.0)).astype(record.label.dtype)


def onto_valid(examples: Array) -> Callable[[Array], Array]:
    """The projection onto the inputs that data can hold: [0, 1], or {0, 1} where the shadow set is binary."""
    if bool(jnp.all((examples == 0) | (examples == 1))):
        return lambda inputs: jnp.round(jnp.clip(inputs, 0.0, 1.0))
    return lambda inputs: jnp.clip(inputs, 0.0, 1.0)


def ascend(
    objective: Callable[[Array], Float[Array, ""]], inputs: Array, steps: int, step_size: float
) -> Float[Array, "..."]:
    """Raises `objective` by sign-gradient steps inside [0, 1]."""

    def one_step(_, now):
        return jnp.clip(now + step_size * jnp.sign(jax.grad(objective)(now)), 0.0, 1.0)

    return jax.lax.fori_loop(0, steps, one_step, inputs)


def _random_record(key, task: Task) -> Record:
    inputs, labels = task.fresh
    drawn = jax.random.randint(key, (), 0, labels.shape[0])
    return Record(inputs[drawn], labels[drawn])


def _ascent(key, task: Task, shadows: Shadows, options: PoisonOptions) -> Record:
    start = _random_record(key, task)

    def shadow_loss(inputs):
        return jax.vmap(lambda p: task.trainer.example_loss(p, inputs, start.label))(shadows).mean()

    raise_loss = jax.jit(lambda x: ascend(shadow_loss, x, options.poison_steps, options.poison_step_size))
    return Record(onto_valid(task.shadow[0])(raise_loss(start.inputs)), start.label)


def _deepfool(key, task: Task, shadows: Shadows, options: PoisonOptions) -> Record:
    start = _random_record(key, task)

    def logits(inputs):
        return jax.vmap(lambda p: task.trainer.model.apply(p, inputs[None])[0])(shadows).mean(0)

    def one_step(_, inputs):
        values, slopes = logits(inputs), jax.jacrev(logits)(inputs)
        gaps = values - values[start.label]
        slopes = slopes - slopes[start.label]
        sizes = jnp.sqrt(jnp.sum(slopes.reshape(len(gaps), -1) ** 2, -1))
        distance = jnp.where(sizes > 0, jnp.abs(gaps) / jnp.maximum(sizes, 1e-12), jnp.inf)
        nearest = jnp.argmin(distance.at[start.label].set(jnp.inf))
        move = (distance[nearest] + 1e-4) / sizes[nearest] * slopes[nearest] * (1 + OVERSHOOT)
        crossed = jnp.argmax(values) != start.label
        return jnp.where(crossed, inputs, jnp.clip(inputs + move, 0.0, 1.0))

    cross = jax.jit(lambda x: jax.lax.fori_loop(0, options.poison_steps, one_step, x))
    return Record(onto_valid(task.shadow[0])(cross(start.inputs)), start.label)


def _least_likely(task: Task, shadows: Shadows, inputs: Array) -> Record:
    predicted = mean_probabilities(task.trainer, shadows, inputs)
    return Record(inputs, jnp.argmin(predicted).astype(task.fresh[1].dtype))


def _mislabelled(key, task: Task, shadows: Shadows, options: PoisonOptions) -> Record:
    shape = task.fresh[0].shape[1:]
    return _least_likely(task, shadows, jax.random.bernoulli(key, 0.5, shape).astype(task.fresh[0].dtype))


def _blank(key, task: Task, shadows: Shadows, options: PoisonOptions) -> Record:
    return _least_likely(task, shadows, jnp.zeros_like(task.fresh[0][0]))


_MAKERS: dict[str, Method] = dict(zip(METHODS, (_ascent, _deepfool, _mislabelled, _blank), strict=True))
