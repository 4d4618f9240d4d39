"""Earlier bounds: their formulas by hand, and that each refuses what it does not cover."""

import math

import jax
import numpy as np
import pytest
from scipy import stats

from privacy_audit.bounds import success_bound
from privacy_audit.bounds.baselines import (
    BASELINES,
    CHERUBIN,
    HAYES,
    KULYNYCH,
    MAHLOUJIFAR,
    NARCISSUS,
    RERO_CONCENTRATED,
    RERO_PURE,
    RERO_RENYI,
    SETTINGS,
    STEINKE,
    cherubin_advantage,
    hayes_success,
    mahloujifar_bound,
)
from privacy_audit.bounds.priors import Prior, membership, uniform
from privacy_audit.bounds.profiles import (
    DPSGD,
    ApproximateDP,
    GaussianDP,
    GaussianMechanism,
    PureDP,
    ZeroConcentratedDP,
)

PURE = PureDP(1.0, adjacency="replace_one")
GAUSSIAN = GaussianDP(1.0, adjacency="replace_one")


def test_single_target_bounds_are_their_formulas():
    assert RERO_PURE(1, PURE, uniform(100)) == pytest.approx(math.e / 100)
    assert KULYNYCH(1, GAUSSIAN, uniform(100)) == pytest.approx(stats.norm.cdf(stats.norm.ppf(0.01) + 1))
    assert NARCISSUS(1, ApproximateDP(1.0, 0.01, adjacency="replace_one"), uniform(100)) == pytest.approx(
        math.e / 100 + 0.01
    )
    rho, surprise = 0.5, math.log(100)
    concentrated = math.exp(-((math.sqrt(surprise) - math.sqrt(rho)) ** 2))
    assert RERO_CONCENTRATED(
        1, ZeroConcentratedDP(rho, adjacency="replace_one"), uniform(100)
    ) == pytest.approx(concentrated)
    # Gaussian DP as zCDP is the same bound, and the Rényi bound of the same mechanism comes close from above.
    renyi = RERO_RENYI(1, DPSGD(1.0, 1.0, 1, accountant="rdp"), uniform(100))
    assert concentrated <= renyi <= concentrated * 1.001
    assert RERO_CONCENTRATED(1, GAUSSIAN, uniform(100)) == pytest.approx(concentrated)


def test_hayes_estimates_one_minus_f():
    # 200,000 draws: the standard error is about 0.002, so 5 of them fail once in 10⁶.
    estimate = hayes_success(GaussianMechanism(1.0), 0.1, jax.random.key(1), samples=200_000)
    assert estimate == pytest.approx(stats.norm.cdf(stats.norm.ppf(0.1) + 1), abs=0.01)
    profile = DPSGD(0.8, 0.1, 20)
    assert hayes_success(profile, 0.1, jax.random.key(2)) == pytest.approx(
        1 - profile.trade_off(0.1), abs=0.02
    )


def test_steinke_is_the_published_p_value():
    epsilon, delta, m, v = 1.0, 1e-4, 50, 42
    rate = 1 / (1 + math.exp(-epsilon))
    tail = stats.binom.sf(v - 1, m, rate)
    alpha = max((stats.binom.sf(v - j - 1, m, rate) - tail) / j for j in range(1, v + 1))
    profile = ApproximateDP(epsilon, delta, adjacency="add_remove")
    assert STEINKE(v, profile, [membership()] * m) == pytest.approx(tail + 2 * m * delta * alpha, rel=1e-9)


def test_mahloujifar_is_the_largest_feasible_p():
    def ends_below(p, v, m, k, f):
        r, h = p * v / m, p * (m - v) / m
        for i in range(v - 1, -1, -1):
            after = max(h, (k - 1) * f(1 - r))
            r, h = r + i / (m - i) * (after - h), after
        return r + h <= 1

    for v, m, k in ((30, 40, 2), (12, 40, 10)):
        bound = mahloujifar_bound(v, GAUSSIAN, m, k)
        assert ends_below(bound * (1 - 1e-6), v, m, k, GAUSSIAN.trade_off)
        assert not ends_below(bound * (1 + 1e-6), v, m, k, GAUSSIAN.trade_off)
    counts = [mahloujifar_bound(v, GAUSSIAN, 40) for v in range(20, 41, 5)]
    assert np.all(np.diff(counts) <= 0)


def test_mahloujifar_of_one_bit_is_the_exact_optimum():
    # One secret: Φ(μ/2), which our expected-success bound gives too.
    assert mahloujifar_bound(1, GAUSSIAN, 1) == pytest.approx(stats.norm.cdf(0.5), rel=1e-6)


def test_cherubin_is_its_leading_term():
    profile = DPSGD(2.0, 0.01, 400)
    leading, error = cherubin_advantage(profile)
    assert leading == pytest.approx(math.erf(0.01 * 20 / (2**0.5 * 2)))
    assert error == pytest.approx(1.0)
    assert CHERUBIN(1, profile, membership()) == pytest.approx(0.5 + 0.5 * leading)


def test_every_setting_of_ours_is_refused_by_every_earlier_bound_but_some():
    profile = ApproximateDP(0.5, 1e-6, adjacency="replace_one")
    fuzzy = [Prior(0.3, 0.1)] * 5
    assert 0 < float(success_bound(4, profile, fuzzy, refine=False)) < 1
    for baseline in BASELINES:
        with pytest.raises(ValueError, match=r"must be a setting that .* covers"):
            baseline(4, profile, fuzzy)
        assert baseline.settings <= set(SETTINGS)
        assert baseline.source


def test_profiles_that_cannot_be_read_are_named():
    for baseline, words in ((RERO_PURE, "pure DP"), (RERO_RENYI, "accountant 'rdp'"), (HAYES, "DPSGD")):
        with pytest.raises(ValueError, match=words):
            baseline(1, GAUSSIAN, uniform(10))


def test_counts_beyond_the_ends_are_certain_or_impossible():
    assert MAHLOUJIFAR(0, GAUSSIAN, uniform(10)) == 1
    assert MAHLOUJIFAR(2, GAUSSIAN, uniform(10)) == 0
