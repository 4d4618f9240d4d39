"""A whole training run, from initial weights to the last step, as one `lax.scan`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from .clipping import ClippedSum, Engine, Loss, clip
from .dpsgd import Plan, Step, dpsgd_step
from .functional import Model, Params
from .sampling import bernoulli, poisson_batch


class Hooks(NamedTuple):
    """What a trial does besides training; each function is pure and jittable.

    Attributes:
        init: () -> state.
        contribute: (state, params, step) -> gradient, state. The gradient is clipped, and added when the
            target is sampled; all-zero means that nobody joins D.
        observe: (state, Step) -> state.
    """

    init: Callable[[], Any]
    contribute: Callable[[Any, Params, Int[Array, ""]], tuple[Params, Any]]
    observe: Callable[[Any, Step], Any]


class Trained(NamedTuple):
    """The end of a trial: final parameters, the hooks' state, and what went wrong on the way."""

    params: Params
    state: Any
    nonfinite: Int[Array, ""]
    overflowed: Bool[Array, ""]


@dataclass(frozen=True, eq=False)
class Trainer:
    """The static parts of a training run, resolved once.

    Attributes:
        capacity: size of a padded Poisson batch, see `sampling.capacity_for`.
    """

    model: Model
    loss: Loss
    plan: Plan
    engine: Engine
    optimizer: optax.GradientTransformation
    capacity: int

    def with_noise(self, noise_multiplier: float | Float[Array, ""]) -> Trainer:
        """The same training at another σ, which may be traced: one program then serves them all."""
        plan = dataclasses.replace(self.plan, noise_multiplier=noise_multiplier)
        return dataclasses.replace(self, plan=plan)

    def example_loss(self, params: Params, one_input: Array, label: Array) -> Float[Array, ""]:
        """Loss of one example `[...]` (no batch axis)."""
        return self.loss(self.model.apply(params, one_input[None])[0], label)


def bystander() -> Hooks:
    """Hooks of a training that nobody joins or watches; always the same, so that programs with them are cached."""
    return Hooks(init=_no_state, contribute=_no_gradient, observe=_unchanged)


def _no_state():
    return ()


def _no_gradient(state, params: Params, step):
    return jax.tree.map(jnp.zeros_like, params), state


def _unchanged(state, step: Step):
    return state


def run_trial(
    key: Key[Array, ""],
    params: Params,
    examples: tuple[Array, Array],
    trainer: Trainer,
    hooks: Hooks,
) -> Trained:
    """Trains from `params` for all steps of the plan.

    The randomness of step t depends on `key` and t alone: batches, the target's own coin and the noise.
    """
    plan = trainer.plan
    batch_key, coin_key, noise_key = jax.random.split(key, 3)

    def one_step(carry, step):
        trained, optimizer_state = carry
        keys = [jax.random.fold_in(k, step) for k in (batch_key, coin_key, noise_key)]
        batch = poisson_batch(keys[0], plan.num_examples, plan.sampling_rate, trainer.capacity)
        joins = bernoulli(keys[1], plan.sampling_rate)
        gradient, state = hooks.contribute(trained.state, trained.params, step)
        extra = _scaled(clip(gradient, plan.clipping_norm), joins)
        done = dpsgd_step(
            keys[2],
            trained.params,
            optimizer_state,
            examples,
            batch,
            extra,
            plan=plan,
            engine=trainer.engine,
            optimizer=trainer.optimizer,
        )
        state = hooks.observe(state, done)
        trained = Trained(
            done.released.params,
            state,
            trained.nonfinite + done.nonfinite,
            trained.overflowed | batch.overflowed,
        )
        return (trained, done.optimizer_state), None

    start = Trained(params, hooks.init(), jnp.int32(0), jnp.bool_(False))
    (trained, _), _ = jax.lax.scan(one_step, (start, trainer.optimizer.init(params)), jnp.arange(plan.steps))
    return trained


def _scaled(extra: ClippedSum, joins: Bool[Array, ""]) -> ClippedSum:
    total = jax.tree.map(lambda g: g * joins.astype(g.dtype), extra.total)
    return ClippedSum(total, extra.nonfinite * joins)
