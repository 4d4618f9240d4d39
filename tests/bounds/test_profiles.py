"""Privacy profiles against closed forms, 60-digit references, dp_accounting and each other."""

import json
import math
import pathlib

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from privacy_audit.bounds.profiles import (
    DPSGD,
    ApproximateDP,
    GaussianDP,
    GaussianMechanism,
    LaplaceMechanism,
    PureDP,
    RandomizedResponse,
    TradeOffCurve,
    ZeroConcentratedDP,
)

REFERENCE = pathlib.Path(__file__).parents[1] / "reference"
ONE = "replace_one"
EVERY = [
    PureDP(1.3, adjacency=ONE),
    ApproximateDP(0.7, 1e-3, adjacency=ONE),
    GaussianDP(1.2, adjacency=ONE),
    GaussianMechanism(3.0, 4),
    LaplaceMechanism(0.8),
    RandomizedResponse(1.5, 7),
    ZeroConcentratedDP(0.4, adjacency=ONE),
    TradeOffCurve([0.05, 0.3], [0.5, 0.1], adjacency=ONE),
    DPSGD(1.0, 0.05, 50),
    DPSGD(1.0, 0.05, 50, accountant="rdp"),
    DPSGD(1.0, 0.05, 50, adjacency=ONE),
]


def name(profile) -> str:
    return type(profile).__name__


@pytest.mark.parametrize("case", json.loads((REFERENCE / "gaussian_dp.json").read_text()))
def test_gaussian_delta_equals_the_reference(case):
    profile = GaussianDP(case["mu"], adjacency=ONE)
    assert profile.delta(case["epsilon"]) == pytest.approx(case["delta"], rel=1e-10, abs=0)
    error = abs(profile.log_delta(case["epsilon"]) - case["log_delta"])
    assert error <= 1e-10 * max(1.0, abs(case["log_delta"]))


def test_gaussian_delta_for_small_mu_equals_mpmath():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        for mu, epsilon in [(1e-6, 0.0), (1e-6, 1e-5), (1e-3, 0.03), (0.5, 14.0), (1.0, 30.0), (1.01, 30.0)]:
            a, b = (mpmath.mpf(epsilon) / mpmath.mpf(mu) + s * mpmath.mpf(mu) / 2 for s in (-1, 1))
            truth = mpmath.log(mpmath.ncdf(-a) - mpmath.exp(epsilon) * mpmath.ncdf(-b))
            ours = GaussianDP(mu, adjacency=ONE).log_delta(epsilon)
            assert abs(ours - float(truth)) <= 1e-10 * max(1.0, abs(float(truth)))


@pytest.mark.parametrize("profile", EVERY, ids=name)
def test_epsilon_inverts_delta_on_the_safe_side(profile):
    delta = np.array([0.9, 0.1, 1e-2, 2e-3])
    epsilon = profile.epsilon(delta)
    assert np.all(profile.delta(epsilon) <= delta * (1 + 1e-12))
    inside = (epsilon > 1e-3) & (profile.delta(epsilon * (1 - 1e-6)) < 1)
    assert np.all(profile.delta(epsilon * (1 - 1e-6))[inside] >= delta[inside])


@pytest.mark.parametrize("profile", EVERY, ids=name)
def test_delta_falls_is_lipschitz_and_mirrors(profile):
    epsilon = np.linspace(0, 4, 81)
    delta = profile.delta(epsilon)
    assert np.all(np.diff(delta) <= 1e-15)
    assert np.all((delta >= 0) & (delta <= 1))
    mirrored = 1 - np.exp(-epsilon) * (1 - delta)
    np.testing.assert_allclose(profile.delta(-epsilon), mirrored, rtol=1e-12)
    assert profile.delta(-np.inf) == 1
    assert profile.delta(np.inf) <= delta[-1]
    assert profile.delta(epsilon.reshape(9, 9)).shape == (9, 9)
    assert np.ndim(profile.delta(1.0)) == 0


@pytest.mark.parametrize("profile", EVERY, ids=name)
def test_trade_off_and_delta_are_duals(profile):
    rate = np.linspace(0, 1, 41)
    curve = profile.trade_off(rate)
    assert np.all(np.diff(curve) <= 1e-12)
    assert np.all(curve <= 1 - rate + 1e-15)
    for epsilon in (-1.0, 0.0, 0.3, 1.0, 2.0):
        # f(α) >= 1 - δ - e^ε α with equality somewhere, up to the grid of ε or of α.
        line = 1 - profile.delta(epsilon) - math.exp(epsilon) * rate
        assert np.all(curve >= line - 2e-3)
        assert np.all(1 - curve - math.exp(epsilon) * rate <= profile.delta(epsilon) + 2e-3)


def test_randomized_response_trade_off_is_that_of_the_two_outcomes():
    curve = RandomizedResponse(math.log(1.5), 2).trade_off(np.array([0, 0.25, 0.4, 0.5, 0.75, 1]))
    np.testing.assert_allclose(curve, [1, 0.625, 0.4, 1 / 3, 1 / 6, 0], atol=1e-12)


@given(st.floats(0.01, 6), st.integers(2, 50), st.floats(0, 6))
@settings(max_examples=50, deadline=None)
def test_randomized_response_delta_is_the_sum_over_outcomes(epsilon, k, at):
    true, lie = math.exp(epsilon) / (math.exp(epsilon) + k - 1), 1 / (math.exp(epsilon) + k - 1)
    positive = [
        max(p - math.exp(at) * q, 0.0) for p, q in [(true, lie), (lie, true)] + [(lie, lie)] * (k - 2)
    ]
    assert RandomizedResponse(epsilon, k).delta(at) == pytest.approx(sum(positive), abs=1e-14)


def test_laplace_delta_is_the_integral_of_its_densities():
    x = np.linspace(-60, 60, 1_200_001)
    for noise, adjacency, shift in ((1.5, "add_remove", 1.0), (1.5, ONE, 2.0)):
        here, there = (np.exp(-np.abs(x - mean) / noise) / (2 * noise) for mean in (0.0, shift))
        truth = np.maximum(here - math.exp(0.3) * there, 0).sum() * 1e-4
        assert LaplaceMechanism(noise, adjacency=adjacency).delta(0.3) == pytest.approx(truth, rel=1e-4)


def test_zcdp_delta_is_the_least_over_orders():
    alpha = 1 + np.exp(np.linspace(-12, 6, 200_001))
    for rho, epsilon in ((0.5, 3.0), (0.01, 0.5), (3.0, 0.0), (0.5, 40.0)):
        log_delta = (alpha - 1) * (alpha * rho - epsilon) + (alpha - 1) * np.log1p(-1 / alpha) - np.log(alpha)
        ours = ZeroConcentratedDP(rho, adjacency=ONE).log_delta(epsilon)
        assert ours == pytest.approx(min(log_delta.min(), 0.0), rel=1e-6, abs=1e-6)
        assert ours <= min(log_delta.min(), 0.0) + 1e-12


@pytest.mark.parametrize(
    ("sigma", "rate", "steps"),
    [(1.0, 0.002, 10_000), (0.6, 0.01, 1000), (4.0, 0.05, 10_000), (0.3, 0.01, 100)],
)
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_dpsgd_equals_dp_accounting(sigma, rate, steps, adjacency):
    relation = dp_accounting.NeighboringRelation
    one = pld.privacy_loss_distribution.from_gaussian_mechanism(
        sigma,
        sampling_prob=rate,
        value_discretization_interval=3e-4,
        neighboring_relation=relation.REPLACE_ONE if adjacency == ONE else relation.ADD_OR_REMOVE_ONE,
    )
    peer = one.self_compose(steps)
    ours = DPSGD(sigma, rate, steps, adjacency=adjacency)
    for delta in (1e-2, 1e-5, 1e-8):
        # Both err high: the peer by its grid, ours by about 1e-4 of ε.
        epsilon = ours.epsilon(delta)
        assert epsilon <= peer.get_epsilon_for_delta(delta) * (1 + 3e-4)
        assert epsilon >= peer.get_epsilon_for_delta(delta) * (1 - 1e-2)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_composition_of_the_plain_gaussian_follows_its_closed_form_into_the_tail(adjacency):
    # q just below 1 goes through the grid and the tilted FFT; the truth is within the subsampling's 1e-9.
    composed = DPSGD(30.0, 1 - 1e-12, 1000, adjacency=adjacency)
    plain = GaussianMechanism(30.0, 1000, adjacency=adjacency)
    epsilon = np.array([0.0, 0.5, 2.0, 5.0, 8.0, 11.0])
    error = composed.log_delta(epsilon) - plain.log_delta(epsilon)
    assert np.all(error >= -1e-9)
    assert np.all(error <= 2e-2)


@pytest.mark.parametrize("sigma", [0.3, 0.035, 0.02, 1e-3, 2e-4])
def test_little_noise_is_bounded_from_the_safe_side(sigma):
    """One step in closed form: with p, r the masses beyond the point at which the loss is ε, δ = p - e^ε r."""
    rate = 0.01

    def truth(epsilon):
        x = 0.5 + sigma**2 * (epsilon + np.log1p((rate - 1) * np.exp(-epsilon)) - math.log(rate))
        absent = special.log_ndtr(-x / sigma)
        present = (1 - rate) * np.exp(absent) + rate * special.ndtr((1 - x) / sigma)
        return present - np.exp(epsilon + absent)

    epsilon = np.geomspace(1e-3, 1.0, 50) * min(0.5 / sigma**2, 1e6)
    delta = DPSGD(sigma, rate, 1).delta(epsilon)
    assert np.all(delta >= truth(epsilon) * (1 - 1e-9))
    assert np.all(delta <= truth(0.98 * epsilon) * 1.01)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rate", [0.01, 1.0])
def test_any_noise_at_all_is_answered(adjacency, rate):
    """ε falls in σ over the whole range of doubles, from none to perfect privacy, and never as an error."""
    sigmas = [0.0, 1e-300, 1e-6, 1e-3, 0.01, 0.02, 0.035, 0.04, 1.0, 1e7, 1e300, math.inf]
    spent = [float(DPSGD(sigma, rate, 10, adjacency=adjacency).epsilon(1e-5)) for sigma in sigmas]
    assert spent == sorted(spent, reverse=True)
    assert spent[0] == math.inf
    assert math.isfinite(spent[5])
    assert spent[-1] == 0


def test_the_most_steps_are_answered_at_once():
    """By the central limit ε is that of μ = q·√(T(e^(1/σ²) - 1)): μ is about 2 here."""
    mu = 0.01 * math.sqrt(10**8 * math.expm1(1 / 50**2))
    limit = float(GaussianDP(mu, adjacency="add_remove").epsilon(1e-5))
    assert DPSGD(50.0, 0.01, 10**8).epsilon(1e-5) == pytest.approx(limit, rel=2e-3)


def test_full_sampling_is_the_plain_gaussian():
    for adjacency in ("add_remove", "replace_one"):
        assert DPSGD(4.0, 1.0, 100, adjacency=adjacency).epsilon(1e-5) == GaussianMechanism(
            4.0, 100, adjacency=adjacency
        ).epsilon(1e-5)
    rate = np.array([0.0, 0.01, 0.5, 1.0])
    np.testing.assert_array_equal(
        DPSGD(4.0, 1.0, 100).trade_off(rate), GaussianMechanism(4.0, 100).trade_off(rate)
    )


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_epsilon_is_smooth_and_monotone_in_the_far_tail(adjacency):
    exponent = np.arange(12.0, 22.01, 0.1)
    for profile in (
        DPSGD(4.0, 0.01, 10_000, adjacency=adjacency),
        DPSGD(0.7, 0.01, 300, adjacency=adjacency),
    ):
        epsilon = profile.epsilon(10.0**-exponent)
        assert np.all(np.isfinite(epsilon))
        step = np.diff(epsilon)
        assert np.all(step > 0)
        assert np.max(step) <= 3 * np.median(step)


def test_rdp_is_looser_than_pld():
    delta = np.array([1e-3, 1e-5, 1e-9, 1e-15])
    for sigma, rate, steps in ((1.0, 0.01, 1000), (0.6, 0.01, 100), (5.0, 0.002, 10_000)):
        tight = DPSGD(sigma, rate, steps).epsilon(delta)
        assert np.all(DPSGD(sigma, rate, steps, accountant="rdp").epsilon(delta) >= tight)


def test_rdp_equals_dp_accounting():
    accountant = dp_accounting.rdp.RdpAccountant()
    event = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.1))
    accountant.compose(dp_accounting.SelfComposedDpEvent(event, 500))
    ours = DPSGD(1.1, 0.01, 500, accountant="rdp").epsilon(1e-5)
    assert ours == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-6)


def test_profiles_are_values():
    assert DPSGD(1.0, 0.01, 10) == DPSGD(1.0, 0.01, 10)
    assert len({PureDP(1.0, adjacency=ONE), PureDP(1.0, adjacency=ONE), PureDP(2.0, adjacency=ONE)}) == 2
    assert hash(TradeOffCurve(np.array([0.1]), np.array([0.2]), adjacency=ONE))
    with pytest.raises(AttributeError):
        PureDP(1.0, adjacency=ONE).adjacency = "add_remove"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PureDP(-1.0, adjacency=ONE), "epsilon must be >= 0, got -1.0"),
        (
            lambda: PureDP(1.0, adjacency="swap"),
            "adjacency must be 'add_remove' or 'replace_one', got 'swap'",
        ),
        (lambda: ApproximateDP(1.0, 1.5, adjacency=ONE), "delta must lie in [0, 1], got 1.5"),
        (lambda: GaussianDP(math.nan, adjacency=ONE), "mu must be >= 0, got nan"),
        (lambda: RandomizedResponse(1.0, 1), "k must be >= 2, got 1"),
        (lambda: RandomizedResponse(1.0, 2.5), "k must be a whole number, got 2.5"),
        (lambda: RandomizedResponse(1.0, math.inf), "k must be a whole number, got inf"),
        (lambda: TradeOffCurve((), (), adjacency=ONE), "fpr and fnr must hold at least one corner, got none"),
        (lambda: DPSGD(1.0, 0.25, 10**9), "steps must be <= 100000000, got 1000000000"),
        (lambda: DPSGD(1.0, 0.25, math.inf), "steps must be a whole number >= 1, got inf"),
        (lambda: DPSGD(1.0, 0.0, 10), "sampling_rate must lie in (0, 1], got 0.0"),
        (lambda: DPSGD(1.0, 0.1, 2.5), "steps must be a whole number >= 1, got 2.5"),
        (
            lambda: DPSGD(1.0, 0.1, 2, accountant="moments"),
            "accountant must be 'pld' or 'rdp', got 'moments'",
        ),
        (lambda: DPSGD(1.0, 0.1, 2, adjacency=ONE, accountant="rdp"), "known for add/remove only"),
        (
            lambda: TradeOffCurve([0.1], [0.2, 0.3], adjacency=ONE),
            "fpr and fnr must be vectors of one length",
        ),
        (lambda: PureDP(1.0, adjacency=ONE).delta(math.nan), "epsilon must be a number, got nan"),
        (lambda: PureDP(1.0, adjacency=ONE).epsilon(-0.1), "delta must lie in [0, 1], got -0.1"),
    ],
)
def test_bad_values_are_named(make, message):
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "profile",
    [
        PureDP(math.inf, adjacency=ONE),
        ApproximateDP(0.0, 1.0, adjacency=ONE),
        GaussianDP(math.inf, adjacency=ONE),
        GaussianMechanism(0.0),
        LaplaceMechanism(0.0),
        DPSGD(0.0, 0.1, 10),
        ZeroConcentratedDP(math.inf, adjacency=ONE),
    ],
    ids=name,
)
def test_no_privacy_is_a_value(profile):
    assert profile.delta(5.0) == 1
    assert profile.epsilon(0.5) == math.inf
    assert profile.trade_off(0.3) == 0


@pytest.mark.parametrize(
    "profile",
    [PureDP(0.0, adjacency=ONE), GaussianDP(0.0, adjacency=ONE), ZeroConcentratedDP(0.0, adjacency=ONE)],
    ids=name,
)
def test_perfect_privacy_is_a_value(profile):
    assert profile.delta(0.0) == 0
    assert profile.epsilon(0.0) == 0
    assert profile.trade_off(0.3) == pytest.approx(0.7, abs=1e-12)


def test_pure_epsilon_of_a_thousand_does_not_overflow():
    with np.errstate(all="raise", under="ignore"):
        assert PureDP(1000.0, adjacency=ONE).delta(999.0) == pytest.approx(1 - math.exp(-1))
        assert PureDP(1000.0, adjacency=ONE).epsilon(0.0) == 1000.0
