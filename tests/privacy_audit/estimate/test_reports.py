"""Public reports against other tools that concern estimators, by their number in the list of cases."""

import json
import warnings

import numpy as np
import pytest

from privacy_audit import estimate
from privacy_audit.bounds.profiles import PureDP, RandomizedResponse
from privacy_audit.estimate.bayesian import credible_interval


@pytest.mark.parametrize("trials", [100, 1000])
def test_report_01_identical_worlds_give_no_gaussian_epsilon(trials):
    """At 200 repeats a method at exactly 5% fails with probability 1e-4."""
    rng = np.random.default_rng(trials)
    positive = sum(
        estimate.gaussian_dp(*rng.normal(size=(2, trials)), delta=1e-5).epsilon_lower > 0 for _ in range(200)
    )
    assert positive <= 23


def test_report_02_joint_beta_without_errors_is_finite():
    lower, upper = credible_interval(0, 0, 100, 100, delta=1e-5)
    assert 0 < lower < upper < np.inf
    found = estimate.bayesian(np.zeros(100), np.ones(100), delta=1e-5, threshold=0.5)
    assert (found.epsilon_lower, found.epsilon_upper) == (lower, upper)


def test_report_10_zero_is_a_value():
    found = estimate.clopper_pearson(np.arange(50.0), np.arange(50.0), delta=1e-5)
    written = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert written["epsilon_lower"] == 0.0
    assert "ε >= 0 " in str(found)


def test_report_11_epsilon_of_a_thousand_does_not_overflow():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = estimate.f_dp_test(np.zeros(50), np.ones(50), PureDP(1000.0, adjacency="add_remove"))
    assert found.p_value == 1.0


def test_report_18_keeping_the_best_of_four_is_corrected_for():
    """200 repeats of four null configurations; uncorrected the share would be near 19%, the limit is 11.5%."""
    rng, claimed = np.random.default_rng(18), 0
    for _ in range(200):
        worlds = {f"sigma {s}": tuple(rng.normal(size=(2, 200))) for s in (0.5, 0.6, 0.9, 1.0)}
        found = estimate.best_of(worlds, estimate.clopper_pearson, delta=1e-5)
        claimed += found.epsilon_lower > 0
    assert claimed <= 23
    assert "best of 4 configurations" in found.assumptions[-1]
    assert found.confidence == 0.95


@pytest.mark.parametrize(
    "estimator", [estimate.clopper_pearson, estimate.gaussian_dp, estimate.bayesian, estimate.mechanism_fit]
)
def test_report_19_constant_scores_show_nothing(estimator):
    found = estimator(np.full(60, 2.0), np.full(60, 2.0), delta=1e-5)
    assert found.epsilon_lower == 0
    assert "same value" in found.notes[0]


def test_report_19_constant_scores_at_every_threshold():
    found = estimate.clopper_pearson(np.zeros(60), np.zeros(60), delta=1e-5, threshold="every")
    assert found.epsilon_lower == 0


def test_report_20_randomized_response_is_neither_refuted_nor_underestimated():
    """Right answers with probability 0.6: ε = ln 1.5 stands, ln 1.3 falls."""
    rng = np.random.default_rng(20)
    d, d_prime = (rng.random(20_000) < 0.4).astype(float), (rng.random(20_000) < 0.6).astype(float)
    assert estimate.f_dp_test(d, d_prime, _response(np.log(1.5)), levels=[0.42]).p_value > 1e-3
    assert estimate.f_dp_test(d, d_prime, _response(np.log(1.3)), levels=[0.42]).p_value < 1e-6


def _response(epsilon: float):
    return RandomizedResponse(epsilon, 2, adjacency="add_remove")
