"""From a limit on risk to ε or noise: always within the limit, and close to it."""

import math

import pytest

from privacy_audit.bounds import epsilon_for_advantage, max_successes, success_bound
from privacy_audit.bounds.calibrate import noise_multiplier_for_epsilon
from privacy_audit.bounds.calibrate_risk import (
    advantage_bound,
    epsilon_for_success,
    noise_multiplier_for_advantage,
    noise_multiplier_for_success,
)
from privacy_audit.bounds.expected import expected_successes
from privacy_audit.bounds.priors import Prior, membership, uniform, zipf
from privacy_audit.bounds.profiles import DPSGD, ApproximateDP, GaussianDP, PureDP


def test_epsilon_for_success_is_the_last_that_meets_the_limit():
    for priors, delta, rate in (([0.56] * 20, 1e-5, 0.9), ([uniform(10)] * 20, 1e-4, 0.5)):
        epsilon = epsilon_for_success(rate, priors, delta)
        count = math.floor(rate * 20) + 1

        def bound(at, count=count, priors=priors, delta=delta):
            return success_bound(
                count, ApproximateDP(at, delta, adjacency="replace_one"), priors, refine=False
            )

        assert bound(epsilon) <= 0.05
        assert bound(epsilon * (1 + 1e-6)) > 0.05


def test_the_paper_s_example_inverts():
    epsilon = epsilon_for_success(0.84, [0.56] * 100, 1e-5)
    assert 1.0 <= epsilon < 1.1
    profile = ApproximateDP(epsilon, 1e-5, adjacency="replace_one")
    assert max_successes(profile, [0.56] * 100, refine=False) <= 84


def test_epsilon_for_success_at_its_ends():
    assert epsilon_for_success(1.0, [0.5] * 20) == math.inf
    assert epsilon_for_success(0.1, [0.0] * 20) == math.inf
    with pytest.raises(
        ValueError, match="max_rate must be above what the priors and delta alone allow, got 0"
    ):
        epsilon_for_success(0.0, [0.5] * 20)
    with pytest.raises(ValueError, match=r"max_rate must be in \[0, 1\], got 1.5"):
        epsilon_for_success(1.5, [0.5] * 20)
    with pytest.raises(ValueError, match=r"confidence must be in \(0, 1\), got 1"):
        epsilon_for_success(0.5, [0.5] * 20, confidence=1)


@pytest.mark.parametrize("prior", [uniform(2), uniform(10), uniform(1000), zipf(50, 1.0)])
def test_advantage_bound_equals_the_fixed_point_of_the_trade_off(prior):
    profile = GaussianDP(0.8, adjacency="replace_one")
    kappa = prior.largest
    assert advantage_bound(profile, prior) == pytest.approx(
        (expected_successes(profile, prior) - kappa) / (1 - kappa), rel=1e-6
    )


def test_advantage_bound_under_pure_dp_inverts_epsilon_for_advantage():
    for prior in (uniform(7), 0.2, Prior(0.2, 0.05)):
        kappa = 1 / 7 if isinstance(prior, Prior) and prior.exact else 0.2
        epsilon = float(epsilon_for_advantage(0.3, kappa))
        assert advantage_bound(PureDP(epsilon, adjacency="replace_one"), prior) == pytest.approx(
            0.3, rel=1e-4
        )


def test_noise_for_advantage_is_within_the_limit():
    for advantage in (0.01, 0.1, 0.5, 0.9):
        sigma = noise_multiplier_for_advantage(advantage, 0.02, 200)
        reached = DPSGD(sigma, 0.02, 200).delta(0.0)
        assert 0.999 * advantage <= reached <= advantage
    for prior in (uniform(10), 0.3):
        sigma = noise_multiplier_for_advantage(0.1, 0.02, 200, prior)
        reached = advantage_bound(DPSGD(sigma, 0.02, 200, adjacency="replace_one"), prior)
        assert 0.0999 <= reached <= 0.1


def test_noise_for_advantage_agrees_with_riskcal():
    # Recorded from riskcal 1.5.1 by benchmarks/calibration.py.
    assert noise_multiplier_for_advantage(0.1, 0.002, 10_000) == pytest.approx(1.0251175, rel=1e-3)


def test_noise_for_success_is_within_the_limit_and_less_than_by_way_of_epsilon():
    priors = [uniform(10)] * 20
    sigma = noise_multiplier_for_success(0.5, priors, 0.05, 50)
    profile = DPSGD(sigma, 0.05, 50, adjacency="replace_one")
    assert max_successes(profile, priors, refine=False) <= 10
    weaker = DPSGD(sigma * 0.99, 0.05, 50, adjacency="replace_one")
    assert success_bound(11, weaker, priors, refine=False) > 0.05
    epsilon = epsilon_for_success(0.5, priors, 1e-5)
    assert sigma < noise_multiplier_for_epsilon(epsilon, 1e-5, 0.05, 50, adjacency="replace_one")


def test_noise_for_success_at_its_ends():
    assert noise_multiplier_for_success(1.0, [membership()] * 20, 0.1, 10) == 0.0
    with pytest.raises(ValueError, match="max_rate must be above what the priors alone allow, got 0.5"):
        noise_multiplier_for_success(0.5, [membership()] * 20, 0.1, 10)
    with pytest.raises(ValueError, match=r"advantage must lie in \(0, 1\), got 0"):
        noise_multiplier_for_advantage(0, 0.1, 10)
