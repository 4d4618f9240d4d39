"""Calibration: never over the budget, never far below it."""

import pytest

from privacy_audit.bounds.calibrate import noise_multiplier_for_epsilon
from privacy_audit.bounds.profiles import DPSGD

GRID = [
    (rate, steps, epsilon)
    for rate, steps in ((1.0, 1), (0.5, 50), (0.05, 300), (0.01, 1000), (0.002, 10_000))
    for epsilon in (0.1, 1.0, 3.0, 9.0, 10.0, 50.0, 100.0)
]


@pytest.mark.parametrize(
    "kind", [{}, {"adjacency": "replace_one"}, {"accountant": "rdp"}], ids=["pld", "replace_one", "rdp"]
)
def test_noise_keeps_within_the_budget_and_within_one_percent(kind):
    # Rényi accounting takes 0.1 s a try.
    for rate, steps, epsilon in GRID[::4] if kind.get("accountant") else GRID:
        sigma = noise_multiplier_for_epsilon(epsilon, 1e-5, rate, steps, **kind)
        spent = DPSGD(sigma, rate, steps, **kind).epsilon(1e-5)
        assert 0.99 * epsilon <= spent <= epsilon, (rate, steps, epsilon)


def test_noise_holds_in_the_far_tail():
    for delta in (1e-9, 1e-15, 1e-20):
        sigma = noise_multiplier_for_epsilon(2.0, delta, 0.01, 1000)
        assert 1.98 <= DPSGD(sigma, 0.01, 1000).epsilon(delta) <= 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 1e-5, 0.1, 10), "epsilon must be finite and > 0, got 0.0"),
        ((1.0, 0.0, 0.1, 10), "delta must lie in (0, 1), got 0.0"),
        ((1.0, 1e-5, 0.0, 10), "sampling_rate must lie in (0, 1], got 0.0"),
        ((1.0, 1e-5, 0.1, 0), "steps must be a whole number >= 1, got 0"),
    ],
)
def test_bad_budgets_are_named(arguments, message):
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        noise_multiplier_for_epsilon(*arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize(("epsilon", "delta"), [(900.0, 1e-5), (4.0, 0.5)])
def test_budgets_that_ask_for_hardly_any_noise_are_met(epsilon, delta):
    sigma = noise_multiplier_for_epsilon(epsilon, delta, 0.01, 10)
    assert 0 < sigma < 0.1
    assert DPSGD(sigma, 0.01, 10).epsilon(delta) <= epsilon
