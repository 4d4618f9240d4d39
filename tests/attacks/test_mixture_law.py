"""The score's law against the accountant and against a simulation in float64."""

import numpy as np
import pytest
from scipy import stats

from privacy_audit.attacks.mixture_law import mixture_law
from privacy_audit.bounds.profiles import DPSGD

CASES = [(2.1, 1.0, 4, "add_remove"), (0.9, 0.2, 7, "add_remove"), (1.4, 0.1, 100, "add_remove")]
SIGNED = [(2.1, 1.0, 4, "replace_one"), (1.2, 0.3, 5, "replace_one")]


def masses(law):
    return np.diff(law.below_d, prepend=0.0), np.diff(law.below_d_prime, prepend=0.0)


@pytest.mark.parametrize("case", CASES + SIGNED)
def test_the_score_is_the_log_of_the_ratio_of_its_own_laws(case):
    """E_D[exp(score)] = 1, and every event A has Pr_D'[A] = E_D[exp(score); A]."""
    law = mixture_law(*case)
    d, d_prime = masses(law)
    middle = law.values - (law.values[1] - law.values[0]) / 2
    np.testing.assert_allclose(np.exp(middle) @ d, 1.0, rtol=1e-3)
    for cut in (-0.5, 0.0, 1.0):
        above = middle > cut
        np.testing.assert_allclose(np.exp(middle[above]) @ d[above], d_prime[above].sum(), rtol=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_it_spends_the_privacy_that_the_accountant_proves(case):
    """δ(ε) of D' against D is one of the two directions whose larger one the accountant reports."""
    sigma, rate, steps, adjacency = case
    law, profile = mixture_law(*case), DPSGD(sigma, rate, steps, adjacency=adjacency)
    d, d_prime = masses(law)
    for epsilon in (0.5, 1.5):
        gained = np.maximum(d_prime - np.exp(epsilon) * d, 0).sum()
        kept = np.maximum(d - np.exp(epsilon) * d_prime, 0).sum()
        np.testing.assert_allclose(max(gained, kept), profile.delta(epsilon), rtol=5e-3)


def test_it_is_what_a_simulation_gives():
    """Kolmogorov-Smirnov on 20,000 sums in float64 per world; p > 1e-3 errs in 1 of 500 seeds."""
    sigma, rate, steps, adjacency = SIGNED[1]
    law, random = mixture_law(sigma, rate, steps, adjacency), np.random.default_rng(5)
    for world, mean in ((0, -1.0), (1, 1.0)):
        joins = random.random((20_000, steps)) < rate
        s = sigma * random.normal(size=joins.shape) + mean * joins
        ratio = [np.log(1 - rate + rate * np.exp((2 * sign * s - 1) / (2 * sigma**2))) for sign in (1, -1)]
        scores = (ratio[0] - ratio[1]).sum(1)
        assert stats.kstest(scores, lambda x, world=world: law.cdf(x, world)).pvalue > 1e-3
