"""Inputs on which other tools went wrong in public, by number; further rows are tested where their parts are.

Rows 1, 2, 10, 11, 18, 19, 20: tests/privacy_audit/estimate/test_reports.py. Rows 3, 4, 12, 15, 16, 17: tests/train.
Rows 3, 5, 12, 13, 14, 17, 22 also as planted bugs: tests/bug_zoo.
"""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from privacy_audit.bounds import poisson_binomial
from privacy_audit.bounds.calibrate import noise_multiplier_for_epsilon
from privacy_audit.bounds.profiles import DPSGD, GaussianMechanism
from privacy_audit.train.engines import choose_engine
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS
from privacy_audit.train.sampling import capacity_for, poisson_batch


def test_report_05_batches_are_poisson_never_of_a_fixed_size():
    """Sizes of 200 batches have the binomial's variance, within 5 standard errors (errs in 1e-6 of seeds)."""
    capacity = capacity_for(1000, 0.1, 200)
    keys = jax.random.split(jax.random.key(0), 200)
    sizes = np.asarray(jax.vmap(lambda key: poisson_batch(key, 1000, 0.1, capacity).weights.sum())(keys))
    assert abs(sizes.var(ddof=1) / 90 - 1) < 5 * np.sqrt(2 / 199)


def test_report_06_everybody_sampled_is_the_plain_gaussian():
    for sigma, steps in ((0.7, 1), (3.0, 50)):
        plain = GaussianMechanism(sigma, steps).epsilon(1e-5)
        assert float(DPSGD(sigma, 1.0, steps).epsilon(1e-5)) == pytest.approx(float(plain), rel=1e-12)


@pytest.mark.parametrize("epsilon", [9.0, 10.0, 50.0, 100.0])
def test_report_07_inversion_works_at_large_epsilon(epsilon):
    sigma = noise_multiplier_for_epsilon(epsilon, 1e-5, 0.05, 40)
    reached = float(DPSGD(sigma, 0.05, 40).epsilon(1e-5))
    assert 0.99 * epsilon <= reached <= epsilon


@pytest.mark.parametrize(("rate", "steps"), [(0.3, 7), (0.02, 400)])
@pytest.mark.parametrize("accountant", ["pld", "rdp"])
def test_report_08_calibrated_noise_never_exceeds_the_target(rate, steps, accountant):
    for epsilon in (0.5, 3.0):
        sigma = noise_multiplier_for_epsilon(epsilon, 1e-6, rate, steps, accountant=accountant)
        assert float(DPSGD(sigma, rate, steps, accountant=accountant).epsilon(1e-6)) <= epsilon


def test_report_09_epsilon_grows_smoothly_as_delta_vanishes():
    profile = DPSGD(4.0, 0.01, 10_000)
    epsilons = [float(profile.epsilon(10.0**-power)) for power in range(15, 21)]
    steps = np.diff(epsilons)
    assert (steps > 0).all()
    assert steps.max() < 2 * steps.min()  # no jump at 1e-18


def test_report_13_microbatches_do_not_change_the_clipped_sum():
    model = MODELS["fully_connected"]((7,), 3)
    params = model.init(jax.random.key(0))
    inputs = 5 * jax.random.normal(jax.random.key(1), (12, 7))
    labels = jnp.arange(12, dtype=jnp.int32) % 3
    sums = [
        choose_engine(model, cross_entropy, 0.1, chunk=chunk)(params, inputs, labels, jnp.ones(12)).total
        for chunk in (1, 4)
    ]
    for name in params:
        np.testing.assert_allclose(sums[0][name], sums[1][name], atol=1e-6)


def test_report_14_replacing_one_record_needs_twice_the_noise():
    add_remove = GaussianMechanism(1.0, 10, adjacency="add_remove")
    for delta in (1e-5, 1e-9):
        twice = GaussianMechanism(2.0, 10, adjacency="replace_one").epsilon(delta)
        assert float(twice) == pytest.approx(float(add_remove.epsilon(delta)), rel=1e-9)
    sampled = [float(DPSGD(1.0, 0.1, 10, adjacency=a).epsilon(1e-5)) for a in ("add_remove", "replace_one")]
    assert sampled[1] > sampled[0]


def test_report_21_tails_far_out_are_positive_and_right():
    """Equal probabilities: the binomial tail in 50 digits, at 10⁴ trials and Pr near 1e-200."""
    k, n, p = 2_000, 10_000, 0.1
    with mpmath.workdps(50):
        exact = mpmath.log(mpmath.betainc(k + 1, n - k, 0, mpmath.mpf("0.1"), regularized=True))
    ours = float(poisson_binomial.logsf(k, np.full(n, p)))
    assert ours == pytest.approx(float(exact), abs=1e-10 * abs(float(exact)))
    assert float(poisson_binomial.sf(k, np.full(n, p))) > 0
