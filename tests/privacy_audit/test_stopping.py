"""Stopping early: at the same trial again, with the same scores, and with a bound that survives it."""

import numpy as np
import pytest

from privacy_audit.ledger import open_ledger
from privacy_audit.play import Schedule
from privacy_audit.stopping import PILOT, STEP, StopRule, play_until, sequential_estimate
from privacy_audit.verdict import conclude

RUN = {"identity": "abc", "config": {}}


def gaussian_play(shift):
    """Scores of trial i of a world: a normal number of its own, shifted in world 1."""

    def play(who, trials):
        draws = [np.random.default_rng([who, int(i)]).standard_normal() + shift * (who > 0) for i in trials]
        nothing = np.zeros(len(draws), np.int32)
        return {"a/s": np.array(draws), "training/nonfinite": nothing, "training/overflowed": nothing}

    return play


def run(folder, shift, rule, trials=2000):
    said = []
    schedule = Schedule(gaussian_play(shift), 1, STEP)
    ledger = open_ledger(folder, RUN)
    played = play_until(schedule, trials, rule, ledger, said.append)
    return played, ledger, said


def test_a_strong_attack_stops_early_with_what_it_was_asked_to_show(tmp_path):
    played, ledger, said = run(tmp_path, 3.0, StopRule(1.0, None, 1e-5, 0.95))
    assert PILOT < played < 500
    assert (played - PILOT) % STEP == 0
    assert any(f"stopped after {played} of 2000" in line for line in said)
    verdict = conclude(
        *ledger.read_all(played),
        adversaries=("a",),
        epsilon_proven=9.0,
        delta=1e-5,
        confidence=0.95,
        threshold="anytime",
    )
    estimate = verdict.findings[0].estimate
    assert estimate.valid
    assert estimate.epsilon_lower > 1.0
    again, _, _ = run(tmp_path, 3.0, StopRule(1.0, None, 1e-5, 0.95))
    assert again == played


def test_a_null_attack_plays_all_trials(tmp_path):
    played, ledger, _ = run(tmp_path, 0.0, StopRule(0.5, None, 1e-5, 0.95), trials=300)
    assert played == 300
    assert len(ledger.read_all(300)[0]["a/s"]) == 300


def test_width_stops_when_the_interval_is_narrow(tmp_path):
    played, ledger, _ = run(tmp_path, 1.0, StopRule(None, 2.5, 1e-5, 0.95))
    d, d_prime = (world["a/s"] for world in ledger.read_all(played))
    estimate = sequential_estimate(d, d_prime, delta=1e-5, confidence=0.95)
    assert played < 2000
    assert estimate.epsilon_upper - estimate.epsilon_lower <= 2.5


def test_too_few_trials_are_one_line(tmp_path):
    with pytest.raises(ValueError, match=f"trials must be > {PILOT}"):
        run(tmp_path, 1.0, StopRule(1.0, None, 1e-5, 0.95), trials=PILOT)
