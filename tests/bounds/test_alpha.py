"""α for all v at once against its definition, the 60-digit reference, and the clock."""

import time

import jax
import numpy as np
import pytest

from privacy_audit.bounds import alphas, flip_probability
from privacy_audit.bounds.poisson_binomial import log_tails


def by_definition(p) -> np.ndarray:
    tail = np.exp(np.asarray(log_tails(p)))[:-1]
    return np.array(
        [max(((tail[v - j] - tail[v]) / j for j in range(1, v + 1)), default=0.0) for v in range(len(tail))]
    )


@pytest.mark.parametrize(
    "p",
    [
        np.random.default_rng(0).random(100),
        np.random.default_rng(1).beta(0.2, 0.2, 100),
        np.full(100, 0.03),
        np.full(100, 0.5),
        np.r_[np.zeros(40), np.ones(20), np.full(40, 0.9)],
        np.r_[np.full(99, 1e-6), 1.0],
    ],
)
def test_definition(p):
    np.testing.assert_allclose(alphas(p), by_definition(p), rtol=1e-12, atol=1e-12)


def test_reference(reference):
    for case in reference("success_bound"):
        beta = np.asarray(flip_probability(case["epsilon"], np.resize(case["priors"], case["n"])))
        got = np.asarray(alphas(beta))
        for v, value in case["alpha"].items():
            # τ(0) - τ(1) = 1e-65 exhausted the reference's digits; it is Π(1 - β).
            expected = float(np.prod(1 - beta)) if v == "1" and value < 1e-50 else value
            assert got[int(v)] == pytest.approx(expected, rel=1e-10)


def test_costs_less_than_three_times_all_tails():
    p = np.random.default_rng(2).random(10_000)

    def seconds(function):
        jax.block_until_ready(function(p))
        times = []
        for _ in range(5):
            start = time.perf_counter()
            jax.block_until_ready(function(p))
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(alphas) < 3 * seconds(log_tails)
