"""The exact rank test and its simultaneous form, against sums and simulations."""

import numpy as np
import pytest
from scipy.stats import hypergeom, nhypergeom

from privacy_audit.bounds.profiles import ApproximateDP, GaussianDP
from privacy_audit.estimate import dpsgd_family, every, f_dp_test, gaussian_family, mechanism_fit, precedence


@pytest.mark.parametrize(("hits", "rank"), [(8, 2), (20, 5), (15, 0)])
def test_no_leakage_gives_the_negative_hypergeometric_tail(hits, rank):
    n, m = 40, 30
    exact = nhypergeom.sf(hits - 1, n + m, m, rank + 1)
    found = precedence.p_value(hits, rank, n, m, lambda a: 1 - a)
    assert exact <= found <= 1.03 * exact


@pytest.mark.parametrize(("hits", "factor"), [(40, 1.3), (300, 1e3)])
def test_far_tails_stay_on_the_safe_side(hits, factor):
    """At most one of D among the first hits + 1 of all scores: 6e-12 and 3e-100."""
    exact = hypergeom.cdf(1, 2000, 1000, hits + 1)
    assert exact <= precedence.p_value(hits, 1, 1000, 1000, lambda a: 1 - a) <= factor * exact


def test_gaussian_tail_against_simulation():
    """20,000 draws: a wrong value within 4 standard errors passes, a right one fails once in 16,000."""
    rng, repeats = np.random.default_rng(0), 20_000
    level = rng.beta(31, 70, size=repeats)
    profile = GaussianDP(1.0, adjacency="add_remove")
    hits = rng.binomial(100, 1 - profile.trade_off(level))
    found = precedence.p_value(75, 30, 100, 100, profile.trade_off)
    share = np.mean(hits >= 75)
    assert found == pytest.approx(share, abs=4 * np.sqrt(share / repeats) + 0.02 * share)


@pytest.mark.parametrize("epsilon", [0.0, 2.0])
def test_critical_level_holds_for_the_least_favourable_pair(epsilon):
    """2,000 pairs at level 2.5%: fails with probability below 1e-4 if the level is right (limit 4 errors)."""
    rng, repeats, n, delta = np.random.default_rng(1), 2000, 300, 1e-3
    critical = every.critical_level(n, n, epsilon, delta, 0.025)
    refuted = 0
    for _ in range(repeats):
        d = rng.random(n)
        d_prime = np.maximum(rng.random(n) - delta, 0.0) * np.exp(-epsilon)
        refuted += every.loudest(-d, -d_prime, epsilon, delta).local_p < critical
    assert refuted / repeats < 0.025 + 4 * np.sqrt(0.025 * 0.975 / repeats)


def test_profile_test_refutes_a_false_claim_and_keeps_a_true_one():
    rng = np.random.default_rng(2)
    d, d_prime = rng.normal(size=1000), rng.normal(1, 1, size=1000)
    assert f_dp_test(d, d_prime, GaussianDP(0.5, adjacency="add_remove")).p_value < 1e-6
    assert f_dp_test(d, d_prime, GaussianDP(1.0, adjacency="add_remove")).p_value > 1e-3


def test_profile_test_looks_both_ways():
    """D' never scores in D's lower half: only guesses of D give that away."""
    rng = np.random.default_rng(3)
    d, d_prime = rng.random(500), 0.5 + rng.random(500) / 2
    found = f_dp_test(d, d_prime, ApproximateDP(1.0, 1e-5, adjacency="add_remove"))
    assert found.direction == "D below D'"
    assert found.p_value < 1e-10
    assert found.to_json()["false_positives"] == found.false_positives


def test_profile_test_refuses_a_level_of_one():
    with pytest.raises(ValueError, match="levels must be in"):
        f_dp_test([0.0], [1.0], GaussianDP(1.0, adjacency="add_remove"), levels=[1.0])


def test_fit_of_the_gaussian_family_recovers_mu():
    """Power target 3.7 of 4.377; the median of 15 was between 3.7 and 4.0 in every simulation tried."""
    rng, family = np.random.default_rng(4), gaussian_family()
    fits = [
        mechanism_fit(rng.normal(size=1000), rng.normal(1, 1, size=1000), delta=1e-5, family=family)
        for _ in range(15)
    ]
    assert 3.65 < np.median([fit.epsilon_lower for fit in fits]) < 4.2
    assert fits[0].details["mu_lower"] < 1 < fits[0].details["mu_upper"]
    assert fits[0].epsilon_lower < fits[0].epsilon_point < fits[0].epsilon_upper


def test_fit_of_dpsgd_with_full_batches_is_the_gaussian_fit():
    rng = np.random.default_rng(5)
    d, d_prime = rng.normal(size=500), rng.normal(1, 1, size=500)
    gaussian = mechanism_fit(d, d_prime, delta=1e-5).epsilon_lower
    assert mechanism_fit(d, d_prime, delta=1e-5, family=dpsgd_family(1.0, 4)).epsilon_lower == pytest.approx(
        gaussian, rel=5e-3
    )
