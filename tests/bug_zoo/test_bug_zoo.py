"""Ten kinds of DP-SGD bugs on the real CNN: each is refuted at p < 1e-4, the correct trainer never is."""

import pytest

from privacy_audit.estimate.f_dp_test import f_dp_test

from .attacks import CATCHES, attacks
from .trainer import BUGS
from .zoo import P_VALUE, caught, claimed_profile, scores

REPORTS = {
    "divided by the realised batch": 3,
    "fixed-size shuffled batches claimed as Poisson": 5,
    "noise for the average added to the sum": 12,
    "clipping per microbatch": 13,
    "replace-one neighbours with add/remove noise": 14,
    "one key for all parameters": 17,
    "mean gradient clipped, not each": 22,
}
"""Public reports of such a bug in another tool, by number (see tests/test_reports.py)."""


def test_every_bug_has_its_adversary():
    assert set(CATCHES) == set(BUGS) - {"none"}


@pytest.mark.parametrize("bug", CATCHES, ids=lambda bug: f"report_{REPORTS.get(bug, 0):02d}-{bug}")
def test_the_bug_is_caught(bug):
    assert caught(bug, trials=100) < P_VALUE


@pytest.mark.parametrize("attack", attacks())
def test_the_correct_trainer_passes(attack):
    """The p-value is valid, so a false alarm has probability below 1e-4."""
    assert f_dp_test(*scores("none", attack, 100, seed=1), claimed_profile(attack)).p_value > P_VALUE
