"""Tight mechanisms: their exact successes, and that no bound falls below them."""

import itertools
import json
import math
import pathlib

import numpy as np
import pytest
from scipy import integrate, stats

from privacy_audit.bounds import expected_successes, flip_probability, success_bound
from privacy_audit.bounds.priors import uniform
from privacy_audit.bounds.tight import (
    GaussianChannel,
    RandomizedResponses,
    RevealAll,
    RevealEach,
    best_response_success,
    gaussian_success,
    posterior,
)

REFERENCE = pathlib.Path(__file__).parents[1] / "reference"


@pytest.mark.parametrize("case", json.loads((REFERENCE / "gaussian_bayes_optimal.json").read_text()))
def test_gaussian_success_equals_the_reference(case):
    ours = gaussian_success(case["sigma"], candidates=case["candidates"])
    assert ours == pytest.approx(case["success"], rel=1e-10, abs=0)


def test_gaussian_success_for_two_unequal_candidates_is_the_likelihood_ratio_test():
    p, sigma = 0.7, 1.3
    # The difference of the two coordinates is N(±1, 2σ²); guess the first above a threshold.
    threshold = sigma**2 * math.log((1 - p) / p)
    exact = p * stats.norm.sf(threshold, 1, sigma * 2**0.5) + (1 - p) * stats.norm.cdf(
        threshold, -1, sigma * 2**0.5
    )
    assert gaussian_success(sigma, [p, 1 - p]) == pytest.approx(exact, rel=1e-12)


def test_gaussian_success_of_a_skewed_prior_equals_adaptive_quadrature():
    p, sigma = np.array([0.4, 0.25, 0.2, 0.1, 0.05]), 0.8

    def inside(t):
        gaps = 1 / sigma + sigma * (np.log(p)[:, None] - np.log(p)[None, :])
        wins = stats.norm.cdf(t + gaps)
        np.fill_diagonal(wins, 1.0)
        return stats.norm.pdf(t) * float(p @ wins.prod(axis=1))

    exact = integrate.quad(inside, -10, 10, epsabs=1e-13)[0]
    assert gaussian_success(sigma, p) == pytest.approx(exact, rel=1e-9)


def test_responses_meet_the_pure_bound_for_every_guess():
    p = np.array([0.4, 0.35, 0.25])
    assert p.max() <= math.exp(0.9) * p.min()
    np.testing.assert_allclose(posterior(0.9, p), flip_probability(0.9, p), rtol=1e-12)
    # By brute force: the joint of secret and output, the best secret for each output.
    true = math.exp(0.9) / (math.exp(0.9) + 2)
    joint = p[:, None] * np.where(np.eye(3) > 0, true, (1 - true) / 2)
    assert best_response_success(0.9, p) == pytest.approx(joint.max(axis=0).sum(), rel=1e-12)
    np.testing.assert_allclose(posterior(0.9, p), np.diag(joint) / joint.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize(("epsilon", "secrets", "symbols"), [(0.3, 12, 2), (1.0, 12, 10), (3.0, 12, 1000)])
def test_the_pure_bound_is_met_exactly(epsilon, secrets, symbols):
    mechanism = RandomizedResponses(epsilon, secrets, symbols)
    v = np.arange(secrets + 2)
    bound = success_bound(v, mechanism.profile, [uniform(symbols)] * secrets)
    np.testing.assert_allclose(bound, mechanism.success(v), rtol=1e-9)


@pytest.mark.parametrize("kind", [RevealEach, RevealAll])
def test_bounds_stay_above_reveals(kind):
    for epsilon, delta, symbols in itertools.product((0.1, 1.0), (1e-3, 0.05), (2, 10)):
        mechanism = kind(epsilon, delta, 12, symbols)
        v = np.arange(14)
        bound = success_bound(v, mechanism.profile, [uniform(symbols)] * 12, refine=False)
        assert np.all(bound >= mechanism.success(v) * (1 - 1e-9)), (epsilon, delta, symbols)
    v, priors = [3, 8], [uniform(2)] * 12
    mechanism = kind(0.3, 0.05, 12, 2)
    for method in ("certified", "optimal"):
        assert np.all(
            success_bound(v, mechanism.profile, priors, method) >= mechanism.success(v) * (1 - 1e-7)
        )


def test_bounds_stay_above_the_gaussian_channel():
    for sigma, symbols in ((1.0, 10), (3.0, 2)):
        mechanism = GaussianChannel(sigma, 20, symbols)
        priors = [uniform(symbols)] * 20
        v = np.arange(21)
        assert np.all(
            success_bound(v, mechanism.profile, priors, refine=False) >= mechanism.success(v) * (1 - 1e-9)
        )
        mean = 20 * gaussian_success(sigma, candidates=symbols)
        assert expected_successes(mechanism.profile, priors) >= mean * (1 - 1e-9)


def test_one_prior_must_be_given():
    with pytest.raises(ValueError, match="exactly one of p and candidates must be given"):
        gaussian_success(1.0)
    with pytest.raises(ValueError, match="sigma must be > 0, got 0"):
        gaussian_success(0.0, candidates=2)
