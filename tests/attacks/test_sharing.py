"""Trained models shared between adversaries, and the replace-one game."""

import jax
import numpy as np
import pytest

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.game import Contestant
from privacy_audit.match import compile_match, merged

FEW = {
    "static_poison": {"num_shadow_models": 2},
    "intermediate_poison": {"num_shadow_models": 2, "white_box": False},
    "gradient": {"num_shadow_models": 2, "watermark_pairs": 5},
    "dataset": {"watermark_pairs": 5},
}


def contestants(task, *names):
    players = []
    for name in names:
        entry = ADVERSARIES[name]
        adversary = entry.make(task.trainer, entry.options(**FEW[name]))
        ground = adversary.ground(task) if adversary.ground else None
        target = adversary.craft(jax.random.key(1), ground or task)
        players.append(Contestant(name, adversary, target, ground))
    return players


@pytest.fixture(scope="module")
def match(task):
    players = contestants(task, "static_poison", "intermediate_poison", "dataset")
    return compile_match(task, players, seed=0, devices=jax.devices()[:2])


def test_one_training_in_each_world_serves_static_and_intermediate_poison(match):
    """Of four trainings two are left; the dataset adversary needs none."""
    assert (match.trained, match.unshared, match.joiners) == (2, 4, 2)
    assert match.sharing(10) == "20 trainings; 20 saved by sharing trained models between adversaries"


def test_each_joiner_is_scored_by_those_who_share_its_training(match):
    trials = np.arange(6, dtype=np.int32)
    worlds = [match(who, trials) for who in (0, 1, 2)]
    names = {"static_poison/loss", "intermediate_poison/max", "intermediate_poison/mean"}
    assert names | {"dataset/likelihood_ratio"} <= set(worlds[0])
    assert all(np.isfinite(worlds[0][name]).all() for name in names)
    assert list(worlds[1]) != list(worlds[2])
    together = merged(worlds[1:])
    assert all(np.isfinite(together[name]).all() for name in names | {"dataset/likelihood_ratio"})
    losses = worlds[2]["static_poison/loss"]
    assert (
        worlds[2]["intermediate_poison/max"] <= losses + 1e-6
    ).all()  # the largest loss is at least the last


def test_in_a_replace_one_game_d_holds_the_opposite_watermark(make_task):
    """At q = 1, T = 1 and learning rate 0.5 the score is N(∓2/σ², 4/σ²) but for the leak of 2 shadow runs.

    The means of 400 trials are compared at 5 standard errors (6e-7), the leak being constant in both worlds.
    """
    task = make_task(adjacency="replace_one", batch_size=40, steps=1)
    play = compile_match(task, contestants(task, "gradient"), seed=3, devices=jax.devices()[:1])
    trials = np.arange(400, dtype=np.int32)
    d, d_prime = (play(who, trials)["gradient/likelihood_ratio"] for who in (0, 1))
    sigma = task.trainer.plan.noise_multiplier
    gap, error = 4 / sigma**2, np.sqrt(2 * 4 / sigma**2 / 400)
    assert abs(d_prime.mean() - d.mean() - gap) < 5 * error + 0.05 * gap
    assert d.mean() < 0 < d_prime.mean()
