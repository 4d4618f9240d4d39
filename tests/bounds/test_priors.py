"""Priors: κ, the constant c, estimates from samples, misspecification."""

import numpy as np
import pytest
import scipy.stats

from privacy_audit.bounds import expected_successes, flip_probability, max_successes, success_bound
from privacy_audit.bounds.priors import (
    Prior,
    categorical,
    membership,
    misspecified,
    top_guesses,
    uniform,
    within_l1,
    within_l2,
    zipf,
)
from privacy_audit.bounds.profiles import ApproximateDP

EPSILON = np.array([0.0, 0.5, 2.0, 1000.0, np.inf])


def test_constant_of_exact_match():
    p = np.array([0.6, 0.3, 0.1])
    expected = [np.sum(p * (1 - np.asarray(flip_probability(e, p)))) for e in EPSILON]
    np.testing.assert_allclose(categorical(p).constant(EPSILON), expected, atol=1e-15)
    beta = np.asarray(flip_probability(EPSILON, 0.1))
    np.testing.assert_allclose(uniform(10).constant(EPSILON), 1 - beta, atol=1e-15)


def test_constant_of_other_match_sets():
    prior = top_guesses([0.5, 0.3, 0.2], 2)
    assert (prior.largest, prior.smallest, prior.exact) == (0.8, 0.5, False)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(prior.constant(EPSILON), 1 / (1 + 0.5 * np.expm1(EPSILON)))
    np.testing.assert_array_equal(Prior(0.5, 0.0).constant(EPSILON), 1)


def test_named_priors():
    assert uniform(4).largest == 0.25
    assert categorical([0.25] * 4) == uniform(4)
    assert top_guesses([0.25] * 4, 2) == uniform(4, guesses=2)
    assert zipf(5, 0.0) == uniform(5)
    assert zipf(1000, 1.0).largest == pytest.approx(1 / np.sum(1 / np.arange(1, 1001)))
    assert membership(0.3).largest == 0.7
    assert membership().symbols == 2


def test_many_symbols_are_banded_safely():
    p = np.arange(1, 50_001) ** -1.0
    p /= p.sum()
    for epsilon in (0.5, 3.0, 8.0):
        exact = np.sum(p * (1 - p) / (1 + p * np.expm1(epsilon)))
        assert exact <= float(categorical(p).constant(np.array(epsilon))) <= exact * 1.01


def test_estimated_from_samples():
    samples = np.random.default_rng(0).normal(size=(2000, 2))
    guesses, failure = np.array([[0.0, 0.0], [1.0, 1.0], [9.0, 9.0]]), 1e-3
    prior = within_l2(samples, guesses, 0.5, failure)
    hits = [int(np.sum(np.linalg.norm(samples - z, axis=1) <= 0.5)) for z in guesses]
    upper = scipy.stats.beta.isf(failure / 6, max(hits) + 1, 2000 - max(hits))
    assert prior.largest == pytest.approx(upper, rel=1e-9)
    assert prior.smallest == 0
    # 2-d normal: the true κ at the origin is 1 - exp(-r²/2).
    assert prior.largest > 1 - np.exp(-0.125)
    pairs = within_l1(samples[:, 0], np.array([[[0.0], [3.0]]]), 0.1)
    assert pairs.guesses == 2
    assert pairs.largest > within_l1(samples[:, 0], [3.0], 0.1).largest


def test_the_estimates_failure_comes_out_of_the_confidence():
    profile = ApproximateDP(1.0, 1e-6, adjacency="replace_one")
    sure, unsure = Prior(0.1, 0.0), Prior(0.1, 0.0, failure=0.02)
    v = [0, 20, 30, 31]
    base, got = (success_bound(v, profile, [prior] * 30, refine=False) for prior in (sure, unsure))
    np.testing.assert_allclose(got, np.minimum(base + np.array([0, 0.02, 0.02, 0]), 1))
    few, many = (max_successes(profile, [prior] * 30, refine=False) for prior in (sure, unsure))
    assert few <= many
    assert max_successes(profile, [unsure] * 30, confidence=0.99, refine=False) == 30
    assert expected_successes(profile, unsure) == pytest.approx(expected_successes(profile, sure) + 0.02)


def test_misspecified():
    ratio = misspecified(uniform(10), likelihood_ratio=2.0)
    assert (ratio.largest, ratio.smallest, ratio.symbols) == (0.2, 0.05, None)
    assert misspecified(membership(0.9), likelihood_ratio=2.0).largest == pytest.approx(0.95)
    shifted = misspecified(uniform(10), total_variation=0.05)
    assert (shifted.largest, shifted.smallest) == (pytest.approx(0.15), pytest.approx(0.05))
    assert misspecified(membership(), total_variation=0.1).game == "membership"
    profile = ApproximateDP(1.0, 1e-3, adjacency="replace_one")
    wide, stated = (success_bound(5, profile, [p] * 10, refine=False) for p in (ratio, uniform(10)))
    assert wide > stated


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: uniform(0), "symbols must be >= 1, got 0"),
        (lambda: uniform(2.5), "symbols must be an integer, got 2.5"),
        (lambda: uniform(3, 4), r"guesses must be in \[1, 3\], got 4"),
        (lambda: categorical([0.5, 0.6]), "sum of p must be 1 within 1e-9, got 1.1"),
        (lambda: categorical([[1.0]]), r"p must be a vector .*, got shape \(1, 1\)"),
        (lambda: categorical([-0.5, 1.5]), r"p must be in \[0, 1\], got -0.5"),
        (lambda: top_guesses([0.5, 0.5], 3), r"k must be in \[1, 2\], got 3"),
        (lambda: zipf(10, -1.0), "exponent must be >= 0 and finite, got -1.0"),
        (lambda: membership(1.2), r"probability must be in \[0, 1\], got 1.2"),
        (lambda: within_l2([[0.0]], [[0.0]], -1), "radius must be >= 0, got -1"),
        (lambda: within_l2([[0.0]], [[0.0]], 1, 0.0), r"failure must be in \(0, 1\), got 0.0"),
        (lambda: within_l2([[np.nan]], [[0.0]], 1), "samples must be finite, got nan"),
        (lambda: within_l2([[0.0]], [[0.0, 1.0]], 1), "samples and guesses must be non-empty .*"),
        (lambda: misspecified(uniform(2)), "exactly one of .* got None and None"),
        (lambda: misspecified(uniform(2), likelihood_ratio=0.5), "likelihood_ratio must be >= 1 .* got 0.5"),
        (lambda: Prior(0.1, 0.2), "smallest and largest must satisfy .* got 0.2 and 0.1"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        call()
