"""Poisson-binomial probabilities against 60 digits, a positive recurrence in 60 digits, and SciPy."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_audit.bounds import poisson_binomial as pb

TOLERANCE = 1e-10


def logs(values):
    return np.array([-np.inf if x is None or x == 0 else float(mpmath.log(x)) for x in values])


def assert_logs(got, expected, tolerance=TOLERANCE):
    got, expected = np.asarray(got, np.float64), np.asarray(expected)
    np.testing.assert_array_equal(np.isneginf(got), np.isneginf(expected))
    known = np.isfinite(expected)
    error = np.abs(got[known] - expected[known]) / np.maximum(1, np.abs(expected[known]))
    assert error.max(initial=0) <= tolerance


def test_reference(reference, probability_vector):
    for case in reference("poisson_binomial"):
        p = probability_vector(case["kind"], case["n"], case["a"])
        # Always twelve counts: one compilation serves several cases.
        k = np.resize(case["k"], 12)
        mass, tail = (
            np.resize([-np.inf if x is None else x for x in case[key]], 12)
            for key in ("log_pmf", "log_tail_ge")
        )
        assert_logs(pb.logpmf(k, p), mass)
        assert_logs(pb.logsf(k - 1, p), tail)
        assert_logs(np.asarray(pb.log_tails(p))[k], tail)


RNG = np.random.default_rng(0)
HARD = {
    "impossible": [0.0],
    "certain": [1.0],
    "certain and impossible": [0, 1, 1, 0],
    "tiny": [1e-300] * 5 + [0.5],
    "every magnitude": 10.0 ** -RNG.uniform(0, 300, 30),
    "nearly certain": 1 - 10.0 ** -RNG.uniform(0, 16, 40),
    "both ends": np.r_[10.0 ** -RNG.uniform(0, 300, 30), 1 - 10.0 ** -RNG.uniform(0, 16, 30), 0, 1],
    "two kinds": np.r_[[1e-6] * 30, [0.5] * 30],
    "several blocks": RNG.random(130),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_vectors(name, exact_masses):
    # Impossible trials change nothing; with them most cases share one compilation.
    p = np.pad(np.asarray(HARD[name], float), (0, max(64 - len(HARD[name]), 0)))
    with mpmath.workdps(60):
        mass = exact_masses(p)
        upper = logs([sum(mass[k:], mpmath.mpf(0)) for k in range(len(mass))])
        lower = logs([sum(mass[: k + 1], mpmath.mpf(0)) for k in range(len(mass))])
    k = np.arange(len(mass))
    assert_logs(pb.logpmf(k, p), logs(mass))
    assert_logs(pb.logsf(k - 1, p), upper)
    assert_logs(pb.logcdf(k, p), lower)
    assert_logs(pb.log_tails(p), [*upper, -np.inf])
    assert_logs(pb.log_pmfs(p), logs(mass))


def test_no_trials():
    assert pb.log_tails([]).tolist() == [0, -np.inf]
    assert pb.log_tails(np.ones((2, 0))).shape == (2, 2)
    assert pb.logsf([-1, 0], []).tolist() == [0, -np.inf]
    assert pb.logpmf([-1, 0], []).tolist() == [-np.inf, 0]


def binomial_log_tail(k: int, n: int, p: float) -> float:
    """log Pr[S >= k] above the mean: the first mass in 60 digits, the others by their ratios."""
    with mpmath.workdps(60):
        first = mpmath.log(mpmath.binomial(n, k)) + k * mpmath.log(p) + (n - k) * mpmath.log1p(-mpmath.mpf(p))
    above = np.arange(k, min(n, k + 50_000))
    ratios = np.cumprod((n - above) / (above + 1) * (p / (1 - p)))
    return float(first) + np.log1p(ratios.sum())


def test_far_tails_stay_positive():
    """Where `1 - cdf` is noise (poibin 3, scipy's `poisson_binom.sf`): equal trials have a closed form."""
    p, k = np.full(4096, 0.1), 1_500
    exact = binomial_log_tail(k, 4096, 0.1)
    assert_logs(pb.logsf(k - 1, p), exact)
    assert_logs(np.asarray(pb.log_tails(p))[k], exact)


def test_a_million_trials():
    p, counts = np.full(10**6, 1e-3), [1100, 1300, 3000, 200_000]
    exact = [binomial_log_tail(k, 10**6, 1e-3) for k in counts]
    assert_logs([pb.logsf(k - 1, p) for k in counts], exact)


def test_one_tail_agrees_with_all(probability_vector):
    p = probability_vector("log", 4000, 0.7320508075688772)
    k = np.array([0, 40, 200, 280, 290, 300, 320, 400, 1000, 2500, 3999, 4000])
    assert_logs(pb.logsf(k - 1, p), np.asarray(pb.log_tails(p))[k])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=5, max_size=5), st.randoms())
def test_laws(p, random):
    tails = np.asarray(pb.log_tails(p))
    assert tails[0] == 0
    assert tails[-1] == -np.inf
    assert np.all(tails[1:] <= tails[:-1] + 1e-15)
    shuffled = random.sample(p, len(p))
    np.testing.assert_allclose(np.exp(pb.log_tails(shuffled)), np.exp(tails), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(
        np.exp(tails[:-1]), scipy.stats.poisson_binom.sf(np.arange(-1, 5), p), atol=1e-13
    )


def test_scipy_meanings():
    p, k = np.array([0.1, 0.5, 0.7, 0.2]), np.arange(-1, 6)
    for name in ("pmf", "sf", "cdf"):
        np.testing.assert_allclose(
            getattr(pb, name)(k, p), getattr(scipy.stats.poisson_binom, name)(k, p), atol=1e-14
        )


@pytest.mark.skipif(not hasattr(jax, "enable_x64"), reason="JAX before 0.8 cannot mix widths in a jit")
def test_batches_and_transforms():
    p = np.random.default_rng(1).random((2, 3, 6)).astype(np.float32)
    assert pb.log_tails(p).shape == (2, 3, 8)
    assert pb.logsf(np.arange(3), p).shape == (2, 3)
    one = np.asarray(pb.log_tails(p))[..., 3]
    np.testing.assert_allclose(pb.logsf(2, p), one, rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(pb.logsf, (None, 0))(2, p), one, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.vmap(pb.log_tails))(p)[..., 3], one, rtol=1e-5)


def test_float32_states_its_error(reference, probability_vector):
    for case in reference("poisson_binomial")[4:6]:
        p, k = probability_vector(case["kind"], case["n"], case["a"]), np.array(case["k"])
        tail = np.array(case["log_tail_ge"])
        got = pb.logsf(k - 1, p, dtype=jnp.float32)
        assert got.dtype == jnp.float32
        possible = tail > -1e4
        assert_logs(np.asarray(got)[possible], tail[possible], 1e-4)


def test_import_leaves_the_configuration_alone():
    assert not jax.config.jax_enable_x64
    assert pb.logsf(0, [0.5]).dtype == jnp.float64
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == jnp.float32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pb.logsf(0.5, [0.1]), "k must be an integer, got 0.5"),
        (lambda: pb.logpmf(np.nan, [0.1]), "k must be an integer, got nan"),
        (lambda: pb.logcdf(0, [0.1, 1.1]), r"p must be in \[0, 1\], got 1.1"),
        (lambda: pb.log_tails([-0.1]), r"p must be in \[0, 1\], got -0.1"),
        (lambda: pb.log_tails([np.nan]), r"p must be in \[0, 1\], got nan"),
        (lambda: pb.sf(0, 0.5), r"p must have a last axis of trials, got shape \(\)"),
        (lambda: pb.sf([1, 2], np.ones((3, 4))), r"k must broadcast .* got shapes \(2,\) and \(3, 4\)"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        call()
