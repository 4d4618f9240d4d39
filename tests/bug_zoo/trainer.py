"""DP-SGD on the real CNN, written out plainly, with one piece at a time replaced by a bug.

All trainers are branches of one compiled program, so that ten bugs cost one compilation.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from privacy_audit.train.data import split_roles
from privacy_audit.train.datasets import DATASETS
from privacy_audit.train.engines import fast_model
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS

N, C, STEPS, LEARNING_RATE = 16, 1.0, 2, 0.15
MICROBATCH = 4

BUGS = (
    "none",
    "noise for the average added to the sum",
    "mean gradient clipped, not each",
    "clipping per microbatch",
    "divided by the realised batch",
    "noise scaled by the learning rate",
    "one key for all parameters",
    "one key for all steps",
    "fixed-size shuffled batches claimed as Poisson",
    "replace-one neighbours with add/remove noise",
    "no noise on one layer",
    "norm taken over the last layer only",
)
NUMBER = {name: number for number, name in enumerate(BUGS)}


class Ground(NamedTuple):
    """The network and the data, fixed for all trials.

    Attributes:
        start: initial weights, flat `[P]`.
        at_start: gradients at the initial weights, computed once: `[N, P]`.
        gradients: flat weights `[P]` -> per-example gradients of D `[N, P]`.
        leaf: number of the parameter array to which each coordinate belongs, `[P]`.
        ranks: position of each coordinate inside its parameter array, `[P]`.
        sizes: of every parameter array.
        first, last: numbers of the first layer's and of the last layer's weights.
    """

    start: jax.Array
    at_start: jax.Array
    gradients: object
    leaf: jax.Array
    ranks: jax.Array
    sizes: tuple[int, ...]
    first: int
    last: int


@functools.cache
def ground() -> Ground:
    """The CNN at fixed initial weights and 16 real digits."""
    dataset = DATASETS["mnist5k"](None)
    inputs, labels = (jnp.asarray(part) for part in split_roles(dataset, N, seed=0).members.as_float())
    model = fast_model(MODELS["cnn"](dataset.input_shape, dataset.num_classes))
    params = model.init(jax.random.key(0))
    start, unravel = ravel_pytree(params)

    def loss(flat, x, y):
        return cross_entropy(model.apply(unravel(flat), x[None])[0], y)

    sizes = tuple(leaf.size for leaf in jax.tree.leaves(params))
    weights = [name for name, _ in model.module.vars().items() if name.endswith(".w")]
    first, last = (sorted(params).index(name) for name in (weights[0], weights[-1]))

    def gradients(flat):
        return jax.vmap(jax.grad(loss), (None, 0, 0))(flat, inputs, labels)

    return Ground(
        start=start,
        at_start=jax.jit(gradients)(start),
        gradients=gradients,
        leaf=jnp.repeat(jnp.arange(len(sizes)), jnp.asarray(sizes), total_repeat_length=start.size),
        ranks=jnp.concatenate([jnp.arange(size) for size in sizes]),
        sizes=sizes,
        first=first,
        last=last,
    )


def released_gradients(key, bug, sampling_rate, sigma, targets) -> jax.Array:
    """Trains two steps and returns the released average gradients `[STEPS, P]`.

    Args:
        bug: number in `BUGS`, traced.
        sampling_rate: q of Poisson sampling, traced; 1 takes everybody.
        sigma: noise multiplier, traced.
        targets: raw gradient `[STEPS, P]` that the target contributes in each step; zero when nobody joins.
    """
    g = ground()
    order_key, sample_key, noise_key = jax.random.split(key, 3)
    joins = jnp.any(targets != 0)

    def step(flat, gradients, t):
        rows = jnp.concatenate([gradients, targets[t][None]])
        taken = _sample(bug, order_key, jax.random.fold_in(sample_key, t), t, sampling_rate, joins)
        total = _clipped_sum(bug, rows, taken) + sigma * _noise(bug, noise_key, t, sampling_rate)
        average = total / _divisor(bug, taken, joins, sampling_rate)
        return flat - LEARNING_RATE * average, average

    moved, first = step(g.start, g.at_start, 0)
    _, second = step(moved, g.gradients(moved), 1)
    return jnp.stack([first, second])


def _is(bug, name: str):
    return bug == NUMBER[name]


def _sample(bug, order_key, key, t, sampling_rate, joins):
    """Who takes part in step t `[N + 1]`; the last is the target, absent where nobody joins."""
    poisson = jax.random.uniform(key, (N + 1,)) < sampling_rate
    # Shuffled: a permutation of all that are there, cut into STEPS batches of N·q; the rest is dropped.
    place = jnp.argsort(
        jnp.argsort(jax.random.uniform(order_key, (N + 1,)) + jnp.append(jnp.zeros(N), 2.0 * ~joins))
    )
    shuffled = jnp.floor(place / (N * sampling_rate)) == t
    return jnp.where(_is(bug, "fixed-size shuffled batches claimed as Poisson"), shuffled, poisson)


def _clipped_sum(bug, rows, taken):
    norms = jnp.linalg.norm(rows, axis=1)
    last = jnp.linalg.norm(jnp.where(ground().leaf == ground().last, rows, 0.0), axis=1)
    norms = jnp.where(_is(bug, "norm taken over the last layer only"), last, norms)
    each = (taken / jnp.maximum(norms / C, 1.0)) @ rows
    batch = taken.sum()
    mean = taken @ rows / jnp.maximum(batch, 1)
    clipped_mean = N * mean / jnp.maximum(jnp.linalg.norm(mean) / C, 1.0)
    # The target's row shares a microbatch with the examples before it.
    groups = (taken[:, None] * rows)[1:].reshape(-1, MICROBATCH, rows.shape[1]).sum(1)
    grouped = (1 / jnp.maximum(jnp.linalg.norm(groups, axis=1) / C, 1.0)) @ groups
    total = jnp.where(_is(bug, "mean gradient clipped, not each"), clipped_mean, each)
    return jnp.where(_is(bug, "clipping per microbatch"), grouped, total)


def _noise(bug, key, t, sampling_rate):
    """Noise for σ = 1."""
    g = ground()
    step_key = jax.random.fold_in(key, jnp.where(_is(bug, "one key for all steps"), 0, t))
    normal = jax.random.normal(step_key, g.start.shape)
    reused = jax.random.normal(step_key, (max(g.sizes),))[g.ranks]
    normal = jnp.where(_is(bug, "one key for all parameters"), reused, normal)
    normal = jnp.where(_is(bug, "no noise on one layer") & (g.leaf == g.first), 0.0, normal)
    scale = jnp.where(_is(bug, "noise for the average added to the sum"), 1 / (N * sampling_rate), 1.0)
    scale *= jnp.where(_is(bug, "noise scaled by the learning rate"), LEARNING_RATE, 1.0)
    return C * scale * normal


def _divisor(bug, taken, joins, sampling_rate):
    realised = jnp.maximum(taken[:N].sum() + (taken[N] & joins), 1)
    return jnp.where(_is(bug, "divided by the realised batch"), realised, N * sampling_rate)
