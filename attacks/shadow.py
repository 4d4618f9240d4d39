"""Shadow runs: trainings by the adversary itself, with the same trainer."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from ..train.trial import Hooks, Trained, run_trial
from .task import Examples, Task


def shadow_examples(key: Key[Array, ""], task: Task) -> Examples:
    """N examples for one shadow run: without replacement where the shadow set is large enough."""
    available = task.shadow[1].shape[0]
    wanted = task.trainer.plan.num_examples
    chosen = jax.random.choice(key, available, (wanted,), replace=available < wanted)
    inputs, labels = task.shadow
    return inputs[chosen], labels[chosen]


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

    def one_run(run_key, fixed):
        data_key, init_key, trial_key = jax.random.split(run_key, 3)
        data = shadow_examples(data_key, task) if fixed is None else fixed
        return run_trial(trial_key, task.initial(init_key), data, task.trainer, hooks)

    program = jax.jit(lambda keys, fixed: jax.lax.map(lambda k: one_run(k, fixed), keys))
    trained = program(jax.random.split(key, count), examples)
    if jnp.any(trained.overflowed):
        raise RuntimeError("a shadow run drew a larger batch than its capacity; use another seed")
    return trained
