"""Likelihood ratios against densities written out."""

import jax.numpy as jnp
import numpy as np
from scipy import stats

from privacy_audit.attacks.projection import present_log_ratio, signed_log_ratio

POINTS = np.linspace(-4, 5, 37)


def density(points, mean, rate, deviation):
    present = stats.norm.pdf(points, mean, deviation)
    return (1 - rate) * stats.norm.pdf(points, 0, deviation) + rate * present


def test_present_log_ratio_is_that_of_the_mixture():
    for rate in (0.01, 0.4, 1.0):
        expected = np.log(density(POINTS, 1, rate, 1.3) / density(POINTS, 0, rate, 1.3))
        found = present_log_ratio(jnp.asarray(POINTS), rate, 1.3**2)
        np.testing.assert_allclose(found, expected, atol=2e-6)


def test_a_shorter_gradient_counts_by_its_own_length():
    """In two dimensions with noise N(0, σ²I), the ratio for g of norm r depends on ⟨y, g⟩ alone."""
    g, sigma = np.array([0.3, -0.4]), 0.9
    y = np.random.default_rng(0).normal(size=(20, 2))
    expected = np.log(0.7 + 0.3 * np.exp((np.sum(y**2, 1) - np.sum((y - g) ** 2, 1)) / (2 * sigma**2)))
    found = present_log_ratio(jnp.asarray(y @ g), 0.3, sigma**2, g @ g)
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_replace_one_compares_plus_with_minus():
    expected = np.log(density(POINTS, 1, 0.4, 1.3) / density(POINTS, -1, 0.4, 1.3))
    found = signed_log_ratio(jnp.asarray(POINTS), 0.4, 1.3**2, "replace_one")
    np.testing.assert_allclose(found, expected, atol=4e-6)
