"""Fine-tuning a language model by DP-SGD, some of the released models kept."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from ..dpsgd import Plan
from ..engines import choose_engine
from ..functional import Params
from ..sampling import capacity_for
from ..trial import Hooks, Trainer, bystander, run_trial
from .interface import LanguageModel
from .texts import Texts, next_token_loss


class Iterates(NamedTuple):
    """Models that a run released, every `steps // count` steps, the last one last.

    Attributes:
        params: each leaf `[count, ...]`.
    """

    params: Params

    @property
    def final(self) -> Params:
        """The model at the end."""
        return jax.tree.map(lambda stack: stack[-1], self.params)

    def each(self) -> list[Params]:
        """The models in order."""
        count = jax.tree.leaves(self.params)[0].shape[0]
        return [jax.tree.map(lambda stack, i=i: stack[i], self.params) for i in range(count)]


class TrainingFailed(ValueError):
    """A gradient was not finite, or a batch did not fit its buffer: the model must not be used."""


FineTune = Callable[[Key[Array, ""], Texts, Float[Array, ""]], Iterates]
"""(key, texts, noise multiplier) -> the models released."""


def fine_tuning(
    language: LanguageModel, plan: Plan, optimizer: optax.GradientTransformation, iterates: int = 1
) -> FineTune:
    """A program, compiled once, that fine-tunes from the pre-trained weights.

    Args:
        plan: its noise multiplier is left out of account: it is an argument of the program, so that all runs share it.
        iterates: how many models are kept, evenly spaced; must divide the steps.

    Raises:
        ValueError: `iterates` does not divide the number of steps; the program, on texts that are not as many as the
            plan's, and as TrainingFailed.
    """
    if iterates < 1 or plan.steps % iterates:
        raise ValueError(f"iterates must divide the number of steps ({plan.steps}), got {iterates}")
    program = _program(language, plan, optimizer, iterates)

    def run(key, texts: Texts, noise_multiplier) -> Iterates:
        if len(texts.tokens) != plan.num_examples:
            raise ValueError(f"texts must be the plan's {plan.num_examples}, got {len(texts.tokens)}")
        inputs = language.front(jnp.asarray(texts.tokens))
        kept, nonfinite, overflowed = program(
            key, language.params, inputs, texts.labels, jnp.float32(noise_multiplier)
        )
        if overflowed or nonfinite:
            raise TrainingFailed(
                f"training failed: {int(nonfinite)} gradients were not finite, "
                f"a batch {'did not fit' if overflowed else 'always fitted'} its buffer"
            )
        return Iterates(kept)

    return run


def _program(language: LanguageModel, plan: Plan, optimizer: optax.GradientTransformation, iterates: int):
    """(key, parameters, inputs, labels, σ) -> models kept, gradients not finite, whether a batch overflowed."""
    engine = choose_engine(language.model, next_token_loss, plan.clipping_norm, batch_size=plan.batch_size)
    capacity = capacity_for(plan.num_examples, plan.sampling_rate, plan.steps)
    hooks = _keeping(language.params, plan.steps // iterates, iterates)

    @jax.jit
    def program(key, params, inputs, labels, noise_multiplier):
        noisy = replace(plan, noise_multiplier=noise_multiplier)
        trainer = Trainer(language.model, next_token_loss, noisy, engine, optimizer, capacity)
        trained = run_trial(key, params, (inputs, labels), trainer, hooks)
        return trained.state[1], trained.nonfinite, trained.overflowed

    return program


def _keeping(params: Params, every: int, count: int) -> Hooks:
    """Hooks that write each released model into the slot of its stretch of steps: the stretch's last one stays."""

    def init():
        return jnp.int32(0), jax.tree.map(lambda leaf: jnp.zeros((count, *leaf.shape), leaf.dtype), params)

    def observe(state, step):
        done, kept = state
        put = functools.partial(_put, index=done // every)
        return done + 1, jax.tree.map(put, kept, step.released.params)

    return bystander()._replace(init=init, observe=observe)


def _put(stack: Float[Array, "s ..."], value: Float[Array, "..."], index: Int[Array, ""]):
    return jax.lax.dynamic_update_index_in_dim(stack, value, index, 0)
