"""Poisson sampling against the binomial distribution; every statistical test here has a fixed seed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from privacy_audit.train.sampling import bernoulli, capacity_for, poisson_batch

FALSE_ALARM = 1e-4


def draw(num_examples, rate, count, seed=0):
    """Inclusion matrix `[count, N]` of so many batches."""
    capacity = capacity_for(num_examples, rate, count)
    keys = jax.random.split(jax.random.key(seed), count)
    batches = jax.vmap(lambda key: poisson_batch(key, num_examples, rate, capacity))(keys)
    assert not batches.overflowed.any()
    included = np.zeros((count, num_examples), np.int64)
    rows = np.repeat(np.arange(count), capacity).reshape(count, capacity)
    weights = np.asarray(batches.weights, np.int64)
    np.add.at(included, (rows, np.asarray(batches.indices)), weights)
    return included


@pytest.mark.parametrize(("num_examples", "rate"), [(40, 0.3), (500, 0.02), (7, 0.9)])
def test_every_example_is_bernoulli_q(num_examples, rate):
    included = draw(num_examples, rate, 20_000)
    assert set(np.unique(included)) <= {0, 1}  # nobody twice
    counts = included.sum(0)
    statistic = ((counts - 20_000 * rate) ** 2 / (20_000 * rate * (1 - rate))).sum()
    assert stats.chi2.sf(statistic, num_examples) > FALSE_ALARM


@pytest.mark.parametrize(("num_examples", "rate"), [(40, 0.3), (500, 0.02)])
def test_batch_sizes_are_binomial(num_examples, rate):
    sizes = draw(num_examples, rate, 20_000, seed=1).sum(1)
    support = np.arange(num_examples + 1)
    expected = 20_000 * stats.binom.pmf(support, num_examples, rate)
    observed = np.bincount(sizes, minlength=num_examples + 1)
    common = expected >= 10
    rest = ~common
    statistic = ((observed[common] - expected[common]) ** 2 / expected[common]).sum()
    statistic += (observed[rest].sum() - expected[rest].sum()) ** 2 / max(expected[rest].sum(), 1e-9)
    assert stats.chi2.sf(statistic, common.sum()) > FALSE_ALARM


def test_inclusions_of_different_examples_are_independent():
    included = draw(30, 0.25, 40_000, seed=2)
    correlation = np.corrcoef(included.T)[np.triu_indices(30, 1)]
    statistic = (40_000 * correlation**2).sum()
    assert stats.chi2.sf(statistic, len(correlation)) > FALSE_ALARM


def test_rate_one_takes_everybody_once():
    batch = poisson_batch(jax.random.key(0), 9, 1.0, capacity_for(9, 1.0, 5))
    np.testing.assert_array_equal(batch.indices, np.arange(9))
    assert batch.weights.sum() == 9
    assert bernoulli(jax.random.key(0), 1.0)


def test_small_rates_are_right_to_a_part_in_a_thousand():
    rate = 256 / 60_000
    keys = jax.random.split(jax.random.key(5), 2_000)
    sizes = jax.vmap(lambda key: poisson_batch(key, 60_000, rate, 400).weights.sum())(keys)
    error = (float(sizes.mean()) - 256) / np.sqrt(256 * (1 - rate) / 2_000)
    assert abs(stats.norm.ppf(FALSE_ALARM / 2)) > abs(error)
    coins = jax.vmap(lambda key: bernoulli(key, rate))(jax.random.split(jax.random.key(6), 400_000))
    assert stats.binomtest(int(coins.sum()), 400_000, rate).pvalue > FALSE_ALARM


def test_an_overflow_is_reported_and_never_silent():
    overflowed = [bool(poisson_batch(jax.random.key(s), 100, 0.5, 20).overflowed) for s in range(5)]
    assert all(overflowed)
    fits = poisson_batch(jax.random.key(0), 100, 0.5, 100)
    assert not fits.overflowed
    assert jnp.all(jnp.diff(fits.indices[: int(fits.weights.sum())]) > 0)


def test_empty_batches_come_out_as_often_as_they_should():
    """Report 15: N = 20, q = 0.01 is empty 82% of the time."""
    sizes = draw(20, 0.01, 10_000, seed=3).sum(1)
    assert stats.binomtest(int((sizes == 0).sum()), 10_000, 0.99**20).pvalue > FALSE_ALARM
