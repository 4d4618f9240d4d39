"""Shadow runs: trainings by the adversary itself, with the same trainer."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from ..train.trial import Hooks, Trained, Trainer, run_trial
from .task import Examples, Task


def shadow_runs(
    key: Key[Array, ""], task: Task, hooks: Hooks, count: int, examples: Examples | None = None
) -> Trained:
    """Trains `count` shadow models.

    Args:
        examples: what all of them train on: D itself, which the crafter knows, in a rehearsal. None: each on its
            own draw of N shadow examples.

    Returns:
        What `run_trial` returns, stacked along a first axis of length `count`. The hooks see the clean
        gradients too: the adversary is the trainer here.

    Raises:
        ValueError: `count` is less than 2 (a spread is measured in them).
    """
    if count < 2:
        raise ValueError(f"num_shadow_models must be >= 2, got {count}")

    data = task.shadow if examples is None else examples
    keys = jax.random.split(key, count)
    trained = _train_all(task.trainer, task.initial, hooks, examples is None, keys, data)
    if jnp.any(trained.overflowed):
        raise RuntimeError("a shadow run drew a larger batch than its capacity; use another seed")
    return trained


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _train_all(trainer: Trainer, initial, hooks: Hooks, drawn: bool, keys, data: Examples) -> Trained:
    """One training a key; the program is cached for the same trainer and hooks."""
    available, wanted = data[1].shape[0], trainer.plan.num_examples

    def one_run(run_key):
        data_key, init_key, trial_key = jax.random.split(run_key, 3)
        own = data
        if drawn:  # without replacement where there are enough
            chosen = jax.random.choice(data_key, available, (wanted,), replace=available < wanted)
            own = tuple(array[chosen] for array in data)
        return run_trial(trial_key, initial(init_key), own, trainer, hooks)

    return jax.lax.map(one_run, keys)
