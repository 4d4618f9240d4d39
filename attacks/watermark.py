"""A watermark in the gradients: where it lies, and what is read off the released ones."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, Key

from ..train.dpsgd import Plan, Step
from ..train.functional import Params
from ..train.trial import Hooks, bystander
from .projection import signed_log_ratio
from .shadow import shadow_runs
from .task import Task


class Watermark(NamedTuple):
    """The target: where the watermark lies, and what the projection looks like without it.

    Attributes:
        positions: `[2n]` coordinates in the flat parameter vector.
        values: `[2n]` ±C/√(2n).
        leak_mean: `[T]` mean of the projection of the other examples at each step.
        leak_variance: `[T]` its variance.
    """

    positions: Int[Array, "2n"]
    values: Float[Array, "2n"]
    leak_mean: Float[Array, "T"]
    leak_variance: Float[Array, "T"]


class Readings(NamedTuple):
    """Steps seen so far and the sums of each step's evidence.

    Attributes:
        likelihood_ratio: with the leak that was measured.
        eq6: as if other examples put nothing on the watermark.
        absolute_sum: Σ|g| over the watermark's coordinates.
    """

    step: Int[Array, ""]
    likelihood_ratio: Float[Array, ""]
    eq6: Float[Array, ""]
    absolute_sum: Float[Array, ""]


def no_readings() -> Readings:
    """Before the first step."""
    return Readings(jnp.int32(0), jnp.float32(0.0), jnp.float32(0.0), jnp.float32(0.0))


def placed(target: Watermark, like: Params, sign: float = 1.0) -> Params:
    """The watermark as a gradient of the shape of `like`."""
    flat, unravel = ravel_pytree(like)
    values = sign * target.values.astype(flat.dtype)
    return unravel(jnp.zeros_like(flat).at[target.positions].set(values))


def project(tree: Params, target: Watermark, clipping_norm: float) -> Float[Array, ""]:
    """⟨w, tree⟩/C²: 1 for the watermark itself."""
    flat, _ = ravel_pytree(tree)
    return flat[target.positions] @ target.values.astype(flat.dtype) / clipping_norm**2


def read(
    readings: Readings, gradient: Params, target: Watermark, plan: Plan, insertion_probability: float
) -> Readings:
    """Adds one released gradient's evidence."""
    flat, _ = ravel_pytree(gradient)
    projection = plan.batch_size * project(gradient, target, plan.clipping_norm)
    noise, step = plan.noise_multiplier**2, readings.step
    measured = signed_log_ratio(
        projection - target.leak_mean[step],
        insertion_probability,
        noise + target.leak_variance[step],
        plan.adjacency,
    )
    silent = signed_log_ratio(projection, insertion_probability, noise, plan.adjacency)
    return Readings(
        step + 1,
        readings.likelihood_ratio + measured,
        readings.eq6 + silent,
        readings.absolute_sum + jnp.abs(flat[target.positions]).sum(),
    )


def bare_watermark(positions: Int[Array, "2n"], plan: Plan) -> Watermark:
    """±C/√(2n), alternating, on these positions, where nothing leaks."""
    size = positions.shape[0]
    signs = 1 - 2 * (jnp.arange(size) % 2)
    silent = jnp.zeros(plan.steps)
    return Watermark(positions, signs * plan.clipping_norm / np.sqrt(size), silent, silent)


def check_pairs(pairs: int, num_parameters: int) -> None:
    """Raises ValueError unless 2·pairs parameters exist."""
    if not 1 <= pairs <= num_parameters // 2:
        raise ValueError(
            f"watermark_pairs must be between 1 and {num_parameters // 2} (half the parameters), got {pairs}"
        )


def craft_watermark(
    key: Key[Array, ""], task: Task, pairs: int, movement_steps: int, num_shadow_models: int
) -> Watermark:
    """Places the watermark where shadow runs move least, then measures what leaks into it.

    Raises:
        ValueError: 2n exceeds the number of parameters, or a count makes no sense.
    """
    check_pairs(pairs, num_parameters(task))
    movement_key, leak_key = jax.random.split(key)
    movement = _movement(movement_key, task, movement_steps, num_shadow_models)
    _, positions = jax.lax.top_k(-movement, 2 * pairs)
    bare = bare_watermark(positions, task.trainer.plan)
    leaks = _leaks(leak_key, task, bare, num_shadow_models)
    return bare._replace(leak_mean=leaks.mean(0), leak_variance=leaks.var(0, ddof=1))


def num_parameters(task: Task) -> int:
    """Of the network that is trained."""
    shapes = jax.eval_shape(task.initial, jax.random.key(0))
    return sum(leaf.size for leaf in jax.tree.leaves(shapes))


def _movement(key, task: Task, steps: int, count: int) -> Float[Array, "P"]:
    """Sum of absolute clean gradients, a coordinate, over the first steps of the shadow runs."""

    def observe(state, step: Step):
        seen, total = state
        moved = jnp.abs(ravel_pytree(step.clean_sum)[0])
        return seen + 1, total + jnp.where(seen < steps, moved, 0.0)

    start = (jnp.int32(0), jnp.zeros(num_parameters(task)))
    hooks = bystander()._replace(init=lambda: start, observe=observe)
    _, totals = shadow_runs(key, task, hooks, count).state
    return totals.sum(0)


def _leaks(key, task: Task, target: Watermark, count: int) -> Float[Array, "runs T"]:
    """Projection of the clean sum on the watermark, a step, in shadow runs that nobody joins."""
    plan = task.trainer.plan

    def observe(state, step: Step):
        seen, leaks = state
        return seen + 1, leaks.at[seen].set(project(step.clean_sum, target, plan.clipping_norm))

    hooks: Hooks = bystander()._replace(init=lambda: (jnp.int32(0), jnp.zeros(plan.steps)), observe=observe)
    _, leaks = shadow_runs(key, task, hooks, count).state
    return leaks
