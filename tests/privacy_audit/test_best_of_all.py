"""The best of several adversaries is held to a confidence that pays for the choice."""

import numpy as np
import pytest

from privacy_audit.verdict import conclude


def concluded(rng, statistics, shift=0.0, trials=200):
    worlds = [{name: rng.normal(mean, 1, trials) for name in statistics} for mean in (0.0, shift)]
    for world in worlds:
        world["training/nonfinite"] = np.zeros(trials, int)
    names = tuple(dict.fromkeys(name.split("/")[0] for name in statistics))
    return conclude(
        *worlds, adversaries=names, epsilon_proven=4.0, delta=1e-5, confidence=0.9, threshold="held-out"
    )


def test_confidences_are_divided_within_and_among_adversaries():
    verdict = concluded(np.random.default_rng(0), ["a/x", "b/x", "b/y", "b/z"], shift=3.0)
    within = {f"{f.adversary}/{f.statistic}": f.estimate.confidence for f in verdict.findings}
    assert within == pytest.approx({"a/x": 0.9, "b/x": 1 - 0.1 / 3, "b/y": 1 - 0.1 / 3, "b/z": 1 - 0.1 / 3})
    assert all(f.among_all.confidence == pytest.approx(1 - 0.1 / 4) for f in verdict.findings)
    best = verdict.best_of_all.among_all.epsilon_lower
    assert best == max(f.among_all.epsilon_lower for f in verdict.findings) > 0


def test_the_best_of_ten_worthless_adversaries_is_seldom_above_zero():
    """Null calibration: at most 10% of runs; of 200, more than 34 happen with probability below 1e-3."""
    rng = np.random.default_rng(1)
    names = [f"{name}/x" for name in "abcdefghij"]
    above = sum(concluded(rng, names, trials=60).best_of_all.among_all.epsilon_lower > 0 for _ in range(200))
    assert above <= 34
