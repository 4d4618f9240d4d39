"""Config → data → crafter: everything that is made once, before the first trial."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax

from privacy_audit.attacks import ADVERSARIES, Adversary, Task, check_task
from privacy_audit.config import AuditConfig
from privacy_audit.game import Contestant, setup_key
from privacy_audit.train.data import Examples, Roles, split_roles
from privacy_audit.train.datasets import DATASETS
from privacy_audit.train.engines import choose_engine, fast_model
from privacy_audit.train.functional import Model
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS
from privacy_audit.train.sampling import capacity_for
from privacy_audit.train.trial import Trainer

INITIAL_WEIGHTS, CRAFTING = 0, 1
SHADOW_RUNS_ALLOWED = 10_000
"""Draws for which a batch's capacity leaves room beyond the trials themselves."""


def prepare_task(config: AuditConfig) -> Task:
    """Loads the data, deals the roles and resolves every static choice of the trainer."""
    dataset = DATASETS[config.dataset](config.data_dir)
    roles = split_roles(dataset, config.num_examples, config.seed)
    model = MODELS[config.model](dataset.input_shape, dataset.num_classes)
    return make_task(config, model, roles)


def make_task(config: AuditConfig, model: Model, roles: Roles) -> Task:
    """The game's fixed ground for any model and any three disjoint sets of examples."""
    model = fast_model(model)
    trainings = 2 * config.trials * len(config.adversaries) + SHADOW_RUNS_ALLOWED
    plan = config.plan
    trainer = Trainer(
        model=model,
        loss=cross_entropy,
        plan=plan,
        engine=choose_engine(model, cross_entropy, plan.clipping_norm, batch_size=plan.batch_size),
        optimizer=optax.sgd(config.learning_rate),
        capacity=capacity_for(plan.num_examples, plan.sampling_rate, draws=plan.steps * trainings),
    )
    parts = {field.name: _on_device(getattr(roles, field.name)) for field in dataclasses.fields(roles)}
    task = Task(trainer=trainer, initial=_initial(config, model), **parts)
    check_task(task)
    return task


def craft_all(
    config: AuditConfig, task: Task, say: Callable[[str], None] = lambda line: None
) -> list[Contestant]:
    """Lets each adversary prepare its ground and its target; the same crafter makes the same target."""
    contestants = []
    for name in config.adversaries:
        say(f"crafting: {name}")
        make = _maker(config, name)
        adversary = make(task.trainer)
        ground = adversary.ground(task) if adversary.ground else None
        key = setup_key(config.seed, CRAFTING + _crafter_number(name, adversary))
        target = adversary.craft(key, ground or task)
        contestants.append(Contestant(name, adversary, target, ground, make))
    return contestants


def _maker(config: AuditConfig, name: str) -> Callable[[Trainer], Adversary]:
    """The adversary with its options, for whatever trainer."""
    entry = ADVERSARIES[name]
    options = config.options.get(name, entry.options())
    return lambda trainer: entry.make(trainer, options)


def _crafter_number(name: str, adversary: Adversary) -> int:
    """Of the crafter in the registry: a target does not depend on who else plays."""
    crafter = adversary.crafter[0] if adversary.crafter else name
    return list(ADVERSARIES).index(crafter) if crafter in ADVERSARIES else len(ADVERSARIES)


def _on_device(examples: Examples):
    return tuple(jnp.asarray(array) for array in examples.as_float())


def _initial(config: AuditConfig, model: Model):
    if config.initialization == "random":
        return model.init
    fixed = jax.jit(model.init)(setup_key(config.seed, INITIAL_WEIGHTS))
    return lambda key: fixed
