"""The strongest distinguisher of an adversary that adds records and sees all models.

Whoever sees θ_t and θ_{t+1} knows the step's noisy gradient, (θ_t − θ_{t+1})/η, and whoever crafted the record knows
its clipped gradient at θ_t. The likelihood ratio along that direction is the best test of the record's presence in
the step, but for what other examples put there: its mean and variance are measured in rehearsals on D, which the
crafter knows. Not in Paper L, which scores losses; the access is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from ..train.clipping import clip
from ..train.functional import Params
from ..train.trial import Trainer, bystander
from .adversary import View
from .projection import present_log_ratio
from .record import Pair, record_gradient
from .shadow import shadow_runs
from .task import Task

Directions = tuple[Params, ...]
"""Clipped gradients: the target's and, in a replace-one game, that of the record in its place."""


class Leak(NamedTuple):
    """What other examples put along each direction at each step, in units of C.

    Attributes:
        mean, variance: `[T, directions]`.
    """

    mean: Float[Array, "T k"]
    variance: Float[Array, "T k"]


class Evidence(NamedTuple):
    """Steps seen so far and the summed log-likelihood ratio."""

    step: Int[Array, ""]
    log_ratio: Float[Array, ""]


def no_evidence() -> Evidence:
    """Before the first step."""
    return Evidence(jnp.int32(0), jnp.float32(0.0))


def directions_of(trainer: Trainer, pair: Pair, params: Params) -> Directions:
    """What the records of `pair` add to a step from `params` when sampled."""
    records = pair if trainer.plan.adjacency == "replace_one" else pair[:1]
    norm = trainer.plan.clipping_norm
    return tuple(clip(record_gradient(trainer, record, params), norm).total for record in records)


def constant_learning_rate(trainer: Trainer) -> float:
    """The η of plain SGD, without which gradients cannot be read off two models.

    Raises:
        ValueError: the optimizer keeps state (momentum, a schedule), or η is 0.
    """
    with jax.ensure_compile_time_eval():  # adversaries are made anew inside the compiled game
        origin = jnp.zeros(())
        state = trainer.optimizer.init(origin)
        if jax.tree.leaves(state):
            raise ValueError("optimizer must be plain SGD for --white_box, got one with state")
        rate = -float(trainer.optimizer.update(jnp.ones(()), state, origin)[0])
    if rate == 0:
        raise ValueError("learning_rate must be > 0 for an adversary that compares models, got 0")
    return rate


def weigh(
    trainer: Trainer, rate: float, evidence: Evidence, view: View, directions: Directions, leak: Leak
) -> Evidence:
    """Adds one step's log-likelihood ratio, read off the models before and after it."""
    plan = trainer.plan
    scale = plan.batch_size / rate
    noisy_sum = jax.tree.map(lambda a, b: (a - b) * scale, view.before, view.params)
    along, norms = components(noisy_sum, directions, plan.clipping_norm)
    surprise = norms * (along - leak.mean[evidence.step])
    variance = plan.noise_multiplier**2 + leak.variance[evidence.step]
    ratios = present_log_ratio(surprise, plan.sampling_rate, variance, norms**2)
    return Evidence(evidence.step + 1, evidence.log_ratio + ratios[0] - ratios[1:].sum())


def components(tree: Params, directions: Directions, clipping_norm: float):
    """⟨tree, ĝ⟩/C and ‖g‖/C for each direction g; 0 along a direction without length."""
    norms = jnp.stack([jnp.sqrt(_inner(g, g)) for g in directions])
    inner = jnp.stack([_inner(tree, g) for g in directions])
    safe = jnp.where(norms > 0, norms, 1.0)
    return jnp.where(norms > 0, inner / safe, 0.0) / clipping_norm, norms / clipping_norm


def measure_leak(
    key: Key[Array, ""],
    task: Task,
    start: Any,
    directions: Callable[[Any, Params], Directions],
    advance: Callable[[Any, Params], Any],
    count: int,
) -> Leak:
    """Rehearses on D with nobody joining, and measures what falls along the directions.

    Args:
        start: the crafter's state at the start of a trial.
        directions: (state, parameters before a step) -> directions of that step.
        advance: (state, parameters after the step) -> state.
    """
    plan = task.trainer.plan
    width = 2 if plan.adjacency == "replace_one" else 1

    def observe(carried, step):
        seen, state, rows = carried
        along, _ = components(step.clean_sum, directions(state, step.before), plan.clipping_norm)
        return seen + 1, advance(state, step.released.params), rows.at[seen].set(along)

    init = (jnp.int32(0), start, jnp.zeros((plan.steps, width)))
    hooks = bystander()._replace(init=lambda: init, observe=observe)
    _, _, rows = shadow_runs(key, task, hooks, count, examples=task.members).state
    return Leak(rows.mean(0), rows.var(0, ddof=1))


def _inner(a: Params, b: Params) -> Float[Array, ""]:
    return sum(jnp.vdot(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))
