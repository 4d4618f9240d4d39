"""Shadow runs: trainings by the adversary itself, with the same trainer on other data."""

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


def shadow_runs(key: Key[Array, ""], task: Task, hooks: Hooks, count: int) -> Trained:
    """Trains `count` shadow models, each on its own draw of N shadow examples.

    Returns:
        What `run_trial` returns, stacked along a first axis of length `count`. The hooks see the clean
        gradients too: the adversary is the trainer here.
    """

    def one_run(run_key):
        data_key, init_key, trial_key = jax.random.split(run_key, 3)
        examples = shadow_examples(data_key, task)
        return run_trial(trial_key, task.initial(init_key), examples, task.trainer, hooks)

    trained = jax.jit(lambda keys: jax.lax.map(one_run, keys))(jax.random.split(key, count))
    if jnp.any(trained.overflowed):
        raise RuntimeError("a shadow run drew a larger batch than its capacity; use another seed")
    return trained
