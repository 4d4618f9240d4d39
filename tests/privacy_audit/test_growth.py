"""What an audit costs in memory, as the compiler counts it; time is measured by benchmarks/growth.py."""

import jax
import pytest

from privacy_audit.game import compile_game
from privacy_audit.prepare import craft_all, prepare_task


def game(config):
    task = prepare_task(config)
    return compile_game(task, craft_all(config, task), config.seed, jax.devices()[:1])


@pytest.fixture(scope="module")
def by_steps(small_config):
    return {steps: game(small_config(adversaries=("api_access",), steps=steps)) for steps in (4, 64)}


def test_memory_does_not_grow_with_trials_or_steps(by_steps):
    few, many = by_steps[4].bytes_for(16), by_steps[4].bytes_for(256)
    scores = 240 * 3 * 8  # a trial's number, score and two counts are all that a trial adds
    assert many - few <= 2 * scores
    assert by_steps[64].bytes_for(16) <= 1.02 * few
