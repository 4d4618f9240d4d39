"""No mechanism beats the bounds: the linear program over every mechanism on small cases, and a sample of large ones.

`benchmarks/tightness.py` compares certified and optimal on more than 3,000 settings.
"""

import math

import jax
import numpy as np
import pytest

from privacy_audit.bounds import (
    expected_successes,
    flip_probability,
    max_successes,
    optimal_mechanism,
    success_bound,
)
from privacy_audit.bounds.priors import Prior, categorical, top_guesses, uniform
from privacy_audit.bounds.profiles import ApproximateDP, GaussianDP

# Feasibility tolerance of the program's solver, in units of probability.
SOLVER = 1e-7

SKEWED = [[0.7, 0.3], [0.55, 0.45], [0.9, 0.1], [0.5, 0.5]]
THREE = [[0.6, 0.3, 0.1], [0.4, 0.35, 0.25]]


def approximate(epsilon, delta):
    return ApproximateDP(epsilon, delta, adjacency="replace_one")


@pytest.mark.parametrize(
    "priors",
    [SKEWED[:1], SKEWED[:2], SKEWED[:3], SKEWED, THREE[:1], THREE, [*THREE[:1], *SKEWED[:2]]],
    ids=lambda priors: "x".join(str(len(p)) for p in priors),
)
def test_certified_against_every_mechanism(priors, full_program):
    kinds, kappa = [categorical(p) for p in priors], [max(p) for p in priors]
    settings = [(0.2, 1e-3), (1.0, 0.15)] if len(priors) < 4 else [(0.5, 0.05)]
    for epsilon, delta in settings:
        for v in range(1, len(priors) + 1):
            best = full_program(v, priors, [(epsilon, delta)])
            for given in (kinds, kappa):
                assert success_bound(v, approximate(epsilon, delta), given) >= best - SOLVER


def test_certified_with_many_epsilons(full_program):
    profile = GaussianDP(0.8, adjacency="replace_one")
    points = [(e, float(profile.delta(e))) for e in (0.0, 0.5, 1.0, 2.0)]
    # The program knows four points of the curve, so only a bound that knows no more must exceed it.
    for v in (1, 2):
        best = full_program(v, SKEWED[:2], points)
        assert success_bound(v, profile, [categorical(p) for p in SKEWED[:2]]) >= best - 0.02
        for epsilon, delta in points:
            assert full_program(v, SKEWED[:2], [(epsilon, delta)]) >= best - SOLVER


def test_several_guesses_need_their_own_constant(full_program):
    """4 symbols, 2 guesses, n = 1, ε = .5, δ = .1: c = 1 - β would give .6602, below the optimum .6791."""
    pairs = np.array(
        [[a in z for z in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))] for a in range(4)], float
    )
    best = full_program(1, [[0.25] * 4], [(0.5, 0.1)], [pairs])
    assert best == pytest.approx(0.6791, abs=1e-4)
    prior = uniform(4, guesses=2)
    assert float(success_bound(1, approximate(0.5, 0.1), prior)) >= best - SOLVER
    assert float(success_bound(1, approximate(0.5, 0.1), prior, "optimal")) == pytest.approx(best, abs=1e-6)


def test_arbitrary_match_sets(full_program):
    rng = np.random.default_rng(0)
    for _ in range(6):
        laws = [rng.dirichlet(np.ones(3)) for _ in range(2)]
        matches = [rng.integers(0, 2, (3, 2)).astype(float) for _ in range(2)]
        kinds = [
            Prior(float((p @ m).max()), float((p @ m).min())) for p, m in zip(laws, matches, strict=True)
        ]
        for v in (1, 2):
            best = full_program(v, laws, [(0.7, 0.1)], matches)
            assert success_bound(v, approximate(0.7, 0.1), kinds) >= best - SOLVER


@pytest.mark.parametrize(("n", "symbols"), [(1, 3), (2, 2), (2, 3), (3, 2), (4, 2)])
def test_optimal_is_the_optimum(n, symbols, full_program):
    for epsilon, delta in [(0.5, 0.01), (1.0, 0.15)][: 2 if n < 4 else 1]:
        for v in range(1, n + 1):
            best = full_program(v, [np.full(symbols, 1 / symbols)] * n, [(epsilon, delta)])
            got = float(success_bound(v, approximate(epsilon, delta), [uniform(symbols)] * n, "optimal"))
            assert got == pytest.approx(best, abs=1e-6)
            assert got >= best - SOLVER


@pytest.mark.parametrize("seed", range(4))
def test_certified_above_optimal(seed):
    rng = np.random.default_rng(seed)
    n, symbols = 24, int(rng.choice([2, 3, 10, 100]))
    profile = approximate(rng.uniform(0.1, 3), 10 ** rng.uniform(-6, -1))
    v, priors = np.unique(rng.integers(1, n + 1, 4)), [uniform(symbols)] * n
    certified, optimal = (success_bound(v, profile, priors, m) for m in ("certified", "optimal"))
    assert np.all(certified >= optimal * (1 - 1e-9))


def test_large_optimum():
    priors = [uniform(10)] * 1000
    assert float(success_bound(300, approximate(1.0, 1e-3), priors, "optimal")) == pytest.approx(
        0.010935, abs=1e-6
    )


def test_the_optimal_mechanism_does_what_it_says():
    """20,000 runs; false alarm below 1e-4 (four standard deviations), seed fixed."""
    n, symbols, v, runs = 20, 4, 12, 20_000
    mechanism = optimal_mechanism(v, approximate(1.0, 0.01), n, symbols)
    bound = float(success_bound(v, approximate(1.0, 0.01), [uniform(symbols)] * n, "optimal"))
    assert float(mechanism.success(v)) == pytest.approx(bound, abs=1e-6)
    assert float(mechanism.delta(1.0)) <= 0.01 + SOLVER
    secrets = jax.random.randint(jax.random.key(1), (n,), 0, symbols)
    guesses = jax.vmap(mechanism.sample, (0, None))(jax.random.split(jax.random.key(0), runs), secrets)
    assert int(guesses.min()) >= 0
    assert int(guesses.max()) < symbols
    rate = float(np.mean(np.sum(np.asarray(guesses == secrets), axis=1) >= v))
    assert abs(rate - bound) < 4 * np.sqrt(bound * (1 - bound) / runs)


def test_optimal_mechanism_by_hand():
    """f(0..3) of the counterexample in `printed`."""
    mechanism = optimal_mechanism(1, approximate(0.3, 0.1), 3, 2)
    np.testing.assert_allclose(
        np.exp(mechanism.log_weights), [0.20359968, 0.15083035, 0.11173787, 0.00869563], atol=1e-7
    )
    with pytest.raises(ValueError, match=r"^v must be in \[1, 3\], got 4$"):
        optimal_mechanism(4, approximate(0.3, 0.1), 3, 2)


def test_expected_successes():
    """The table's means; β under pure DP; and above the program's optimum for one record with skewed prior."""
    gaussian = GaussianDP(1.0, adjacency="replace_one")
    assert expected_successes(gaussian, [uniform(10)] * 100) == pytest.approx(32.9, abs=0.05)
    assert expected_successes(gaussian, [uniform(2)] * 100) == pytest.approx(69.1, abs=0.05)
    assert 32.9 < expected_successes(gaussian, [0.1] * 100) < 38.9
    assert expected_successes(approximate(1.0, 0.0), [uniform(2)]) == pytest.approx(0.731, abs=1e-3)
    assert expected_successes(approximate(1.0, 0.0), [0.5]) == pytest.approx(math.e / (1 + math.e), rel=1e-12)
    sex = float(flip_probability(1.0, 0.56)) + 1e-5
    assert expected_successes(approximate(1.0, 1e-5), [0.56] * 100) == pytest.approx(100 * sex, rel=1e-9)
    assert expected_successes(approximate(1.0, 0.0), []) == 0


def test_expected_successes_against_every_mechanism(full_program):
    for law in (*THREE, SKEWED[0]):
        best = full_program(1, [law], [(0.8, 0.05)])
        assert expected_successes(approximate(0.8, 0.05), categorical(law)) >= best - SOLVER


def test_expected_successes_of_any_match_sets_against_every_mechanism(full_program):
    """Two symbols named at once, whose sets overlap: never below the optimum for one record, bare or not."""
    law = np.full(4, 0.25)
    sets = np.array([[a in z for z in ((0, 1), (1, 2), (2, 3), (3, 0))] for a in range(4)], float)
    for epsilon, delta in ((0.5, 0.1), (0.5, 0.0), (2.0, 0.01)):
        best = full_program(1, [law], [(epsilon, delta)], [sets])
        profile = approximate(epsilon, delta)
        for priors in ([0.5], [Prior(0.5, 0.5)]):
            assert expected_successes(profile, priors) >= best - SOLVER
            assert expected_successes(profile, priors) <= float(success_bound(1, profile, priors)) + 1e-9


def test_two_guesses_raise_the_count():
    profile = approximate(1.0, 1e-5)
    one, two = (max_successes(profile, [top_guesses([0.1] * 10, g)] * 30, method="optimal") for g in (1, 2))
    assert one < two
