"""Identical worlds: every method that is called valid claims ε > 0 in at most 5% of repeats."""

import numpy as np
import pytest

from privacy_audit import estimate
from privacy_audit.estimate import every
from privacy_audit.estimate.mechanism_fit import parameter_p_value

FAMILY = estimate.gaussian_family()
REPEATS = 400
# 4 standard errors above 5%: a method at exactly 5% fails with probability 1e-4, those below it never.
LIMIT = 0.05 + 4 * np.sqrt(0.05 * 0.95 / REPEATS)


def _held_out(d, d_prime):
    return estimate.clopper_pearson(d, d_prime, delta=1e-5).epsilon_lower > 0


def _gaussian(d, d_prime):
    return estimate.gaussian_dp(d, d_prime, delta=1e-5).epsilon_lower > 0


def _every(d, d_prime):
    critical = every.critical_level(len(d), len(d), 0.0, 1e-5, 0.025)
    pairs = ((d, d_prime), (-d_prime, -d))
    return min(every.loudest(*pair, 0.0, 1e-5).local_p for pair in pairs) < critical


def _fit(d, d_prime):
    return parameter_p_value(d, d_prime, FAMILY, FAMILY.lowest) <= 0.05


@pytest.mark.parametrize("trials", [100, 1000])
@pytest.mark.parametrize("claims", [_held_out, _gaussian, _every, _fit])
def test_valid_methods_keep_their_level(claims, trials):
    rng = np.random.default_rng(trials)
    claimed = sum(claims(*rng.normal(size=(2, trials))) for _ in range(REPEATS))
    assert claimed / REPEATS <= LIMIT


def test_ties_keep_the_level_too():
    rng = np.random.default_rng(5)
    claimed = sum(_every(*rng.integers(0, 4, size=(2, 200)).astype(float)) for _ in range(REPEATS))
    assert claimed / REPEATS <= LIMIT
