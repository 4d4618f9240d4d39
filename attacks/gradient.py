"""Gradient attack (Paper L, §4.5): a watermark added to the gradients themselves.

Powers: sees every released gradient; whenever its record is sampled, chooses the gradient.
Crafter: the watermark w is ±C/√(2n), alternating, on the 2n parameters that move least over the first
    steps of shadow runs. Its norm is exactly C, so clipping leaves it as it is. The paper sums absolute
    differences of weights; we sum absolute clean gradients, which is the same up to the learning rate and
    without the noise that hides it.
Distinguisher: the signed projection s_t = qN⟨w, g_t⟩/C² of the released gradient is N(m_t, τ_t²) under D and,
    under D', N(m_t + 1, τ_t²) with probability q and the former otherwise. The score is the log-likelihood
    ratio of that mixture (the paper's eq. 6 with Poisson sampling written out). Other examples leak into the
    projection: their mean m_t and variance τ_t² − σ² are measured in shadow runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, Key

from ..train.dpsgd import Step
from ..train.trial import Hooks, Trainer, bystander
from .adversary import Access, Adversary
from .options import option
from .shadow import shadow_runs
from .task import Task


@dataclass(frozen=True)
class Options:
    """Choices that the paper leaves open."""

    watermark_pairs: int = option(50, "n: the watermark lies on 2n parameters")
    watermark_steps: int = option(10, "t_o: steps of a shadow run over which movement is measured")
    num_shadow_models: int = option(8, "shadow runs, for each thing that is measured in them")


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


class Evidence(NamedTuple):
    """Steps seen so far and the summed log-likelihood ratio."""

    step: Int[Array, ""]
    log_ratio: Float[Array, ""]


def gradient(trainer: Trainer, options: Options) -> Adversary:
    """A watermark in the gradients, and the likelihood ratio of its projection."""
    plan = trainer.plan

    def contribute(target, state, params, step):
        flat, unravel = ravel_pytree(params)
        placed = jnp.zeros_like(flat).at[target.positions].set(target.values.astype(flat.dtype))
        return unravel(placed), state

    def observe(target, state, view):
        projection = plan.batch_size * project(view.gradient, target, plan.clipping_norm)
        surprise = projection - target.leak_mean[state.step]
        variance = plan.noise_multiplier**2 + target.leak_variance[state.step]
        ratio = mixture_log_ratio(surprise, plan.sampling_rate, variance)
        return Evidence(state.step + 1, state.log_ratio + ratio)

    return Adversary(
        access=Access.ALL_GRADIENTS,
        craft=lambda key, task: craft_watermark(key, task, options),
        init=lambda target: Evidence(jnp.int32(0), jnp.float32(0.0)),
        contribute=contribute,
        observe=observe,
        score=lambda target, state, params: {"likelihood_ratio": state.log_ratio},
    )


def project(tree, target: Watermark, clipping_norm: float) -> Float[Array, ""]:
    """⟨w, tree⟩/C²: 1 for the watermark itself."""
    flat, _ = ravel_pytree(tree)
    return flat[target.positions] @ target.values.astype(flat.dtype) / clipping_norm**2


def mixture_log_ratio(projection, sampling_rate: float, variance) -> Float[Array, "..."]:
    """log(1 − q + q·exp((2s − 1)/(2τ²))): one step's evidence that the watermark takes part.

    >>> float(mixture_log_ratio(jnp.array(0.5), 1.0, 1.0))  # halfway between the worlds
    0.0
    """
    evidence = (2 * projection - 1) / (2 * variance)
    with np.errstate(divide="ignore"):
        log_absent = np.log1p(-np.float64(sampling_rate))
    return jnp.logaddexp(log_absent, np.log(sampling_rate) + evidence)


def craft_watermark(key: Key[Array, ""], task: Task, options: Options) -> Watermark:
    """Places the watermark where shadow runs move least, then measures what leaks into it.

    Raises:
        ValueError: 2n exceeds the number of parameters.
    """
    movement_key, leak_key = jax.random.split(key)
    movement = _movement(movement_key, task, options)
    size = 2 * options.watermark_pairs
    if not 2 <= size <= movement.size:
        raise ValueError(
            f"watermark_pairs must be between 1 and {movement.size // 2} (half the parameters), "
            f"got {options.watermark_pairs}"
        )
    _, positions = jax.lax.top_k(-movement, size)
    signs = 1 - 2 * (jnp.arange(size) % 2)
    values = signs * task.trainer.plan.clipping_norm / np.sqrt(size)
    silent = jnp.zeros(task.trainer.plan.steps)
    bare = Watermark(positions, values, silent, silent)
    leaks = _leaks(leak_key, task, bare, options.num_shadow_models)
    return bare._replace(leak_mean=leaks.mean(0), leak_variance=leaks.var(0, ddof=1))


def _movement(key, task: Task, options: Options) -> Float[Array, "P"]:
    """Sum of absolute clean gradients, a coordinate, over the first steps of the shadow runs."""
    size = sum(leaf.size for leaf in jax.tree.leaves(jax.eval_shape(task.initial, key)))

    def observe(state, step: Step):
        seen, total = state
        moved = jnp.abs(ravel_pytree(step.clean_sum)[0])
        return seen + 1, total + jnp.where(seen < options.watermark_steps, moved, 0.0)

    hooks = bystander()._replace(init=lambda: (jnp.int32(0), jnp.zeros(size)), observe=observe)
    _, totals = shadow_runs(key, task, hooks, options.num_shadow_models).state
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
