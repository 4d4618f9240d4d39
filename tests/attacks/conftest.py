"""A tiny game: a dense network on 40 records of 12 pixels, three classes; everything compiles in a second."""

import dataclasses

import jax
import jax.numpy as jnp
import objax
import optax
import pytest

from privacy_audit.attacks import Task
from privacy_audit.train.clipping import vmap_grad
from privacy_audit.train.dpsgd import Plan
from privacy_audit.train.functional import from_objax
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.sampling import capacity_for
from privacy_audit.train.trial import Trainer

PLAN = Plan(num_examples=40, batch_size=20, steps=3, clipping_norm=1.0, noise_multiplier=1.1)


def tiny_network():
    return objax.nn.Sequential([objax.nn.Linear(12, 8), objax.functional.relu, objax.nn.Linear(8, 3)])


def records(seed, count, binary=False):
    key, label_key = jax.random.split(jax.random.key(seed))
    inputs = jax.random.uniform(key, (count, 12))
    labels = jax.random.randint(label_key, (count,), 0, 3)
    return (jnp.round(inputs) if binary else inputs), labels


def tiny_task(binary=False, learning_rate=0.5, build=tiny_network, **plan):
    plan = dataclasses.replace(PLAN, **plan)
    model = from_objax(build)
    params = model.init(jax.random.key(1))
    trainer = Trainer(
        model=model,
        loss=cross_entropy,
        plan=plan,
        engine=vmap_grad(model, cross_entropy, plan.clipping_norm),
        optimizer=optax.sgd(learning_rate),
        capacity=capacity_for(plan.num_examples, plan.sampling_rate, 10**6),
    )
    sets = [records(seed, count, binary) for seed, count in ((2, plan.num_examples), (3, 80), (4, 30))]
    return Task(trainer, lambda key: params, *sets)


@pytest.fixture(scope="session")
def task():
    return tiny_task()


@pytest.fixture(scope="session")
def make_task():
    """From changed settings to a task."""
    return tiny_task


@pytest.fixture(scope="session")
def network():
    """Builds the network of `make_task`."""
    return tiny_network
