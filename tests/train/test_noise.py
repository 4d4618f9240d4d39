"""Normals from all of Threefry's bits. The one statistical test has a fixed seed; it errs once in 1,000 seeds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from privacy_audit.train.noise import gaussian_like, normals


def test_draws_are_standard_normal_and_independent():
    draws = np.asarray(normals(jax.random.key(5), 400_001))
    tests = [
        stats.kstest(draws, "norm").pvalue,
        stats.kstest(np.sqrt(0.5) * (draws[:200_000] + draws[200_000:400_000]), "norm").pvalue,
        stats.kstest(np.sqrt(0.5) * (draws[:-1:2] - draws[1::2]), "norm").pvalue,
        stats.chi2(400_001).sf(np.sum(draws**2)),
    ]
    assert min(tests) > 0.001 / len(tests)


def test_a_trial_draws_the_same_alone_and_vmapped():
    keys = jax.random.split(jax.random.key(0), 3)
    together = jax.jit(jax.vmap(lambda key: normals(key, 101)))(keys)
    alone = jnp.stack([normals(key, 101) for key in keys])
    np.testing.assert_allclose(together, alone, rtol=1e-6)
    assert len(np.unique(together)) == together.size


def test_the_ends_are_symmetric_and_finite(monkeypatch):
    ends = jnp.array([0, 2**32 - 1], jnp.uint32)
    monkeypatch.setattr("privacy_audit.train.noise.threefry_2x32", lambda key, counts: ends)
    low, high = normals(jax.random.key(0), 2)
    assert low == -high
    assert 5 < high < 6


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_any_number_of_coordinates(count):
    noise = gaussian_like(jax.random.key(1), {"w": jnp.zeros((count, 2)), "b": jnp.zeros(1)}, 3.0)
    assert noise["w"].shape == (count, 2)
    assert np.all(noise["b"] != 0)
