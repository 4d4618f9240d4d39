"""Marginals against counting by hand, their sensitivity against all pairs of records, their noise against its law."""

import itertools

import numpy as np
import pytest
from scipy import stats

from privacy_audit.bounds.profiles import ZeroConcentratedDP
from privacy_audit.train.tabular import Marginals, NoisyMarginals

SIZES = (2, 3, 2, 2)


def records():
    return np.array(list(itertools.product(*map(range, SIZES))))


def test_counts_are_those_of_counting():
    codes = np.random.default_rng(0).integers(0, SIZES, size=(50, len(SIZES)))
    counts = Marginals.all_ways(SIZES, 3).counts(codes)
    expected = []
    for chosen in itertools.combinations(range(4), 3):
        for values in itertools.product(*(range(SIZES[a]) for a in chosen)):
            expected.append(np.sum(np.all(codes[:, chosen] == values, axis=1)))
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("ways", [1, 2, 3, 4])
@pytest.mark.parametrize("varied", [None, (1,), (0, 3)])
def test_the_sensitivity_is_the_largest_change_that_replacing_a_record_makes(ways, varied):
    marginals = Marginals.all_ways(SIZES, ways)
    changes = []
    for first, second in itertools.combinations(records(), 2):
        if varied is None or set(np.flatnonzero(first != second)) <= set(varied):
            changes.append(np.linalg.norm(marginals.counts(first[None]) - marginals.counts(second[None])))
    assert max(changes) == pytest.approx(marginals.l2_sensitivity(varied), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0, 100.0])
def test_the_noise_is_the_least_that_keeps_the_promise(epsilon):
    mechanism = NoisyMarginals.calibrated(Marginals.all_ways(SIZES, 3), epsilon, 1e-5)
    spent = float(mechanism.profile().epsilon(1e-5))
    assert epsilon * (1 - 1e-6) <= spent <= epsilon * (1 + 1e-12)
    assert mechanism.profile().adjacency == "replace_one"
    # A looser account of the same noise: ρ = Δ²/(2·noise²).
    rho = mechanism.marginals.l2_sensitivity() ** 2 / (2 * mechanism.noise**2)
    assert spent < float(ZeroConcentratedDP(rho, adjacency="replace_one").epsilon(1e-5))


def test_the_noise_has_the_declared_size_on_every_count():
    marginals = Marginals.all_ways((4,) * 6, 3)
    codes = np.random.default_rng(1).integers(0, 4, size=(30, 6))
    noise = NoisyMarginals(marginals, 2.5).release(np.random.default_rng(2), codes) - marginals.counts(codes)
    # False alarm 1e-6, fixed seed.
    assert stats.kstest(noise, "norm", args=(0, 2.5)).pvalue > 1e-6
    quiet = NoisyMarginals(marginals, 0.0)
    np.testing.assert_array_equal(quiet.release(np.random.default_rng(3), codes), marginals.counts(codes))
    assert np.isposinf(quiet.profile().mu)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Marginals.all_ways(SIZES, 5), "ways must be in 1 … 4 .*, got 5"),
        (lambda: Marginals.all_ways(SIZES, 0), "ways must be in 1 … 4 .*, got 0"),
        (lambda: Marginals(SIZES, ((0, 4),)), r"sets must be different attributes in 0 … 3, got \(0, 4\)"),
        (lambda: Marginals(SIZES, ()), "sets must be one or more"),
        (
            lambda: NoisyMarginals(Marginals.all_ways(SIZES, 1), -1.0),
            "noise must be >= 0 and finite, got -1.0",
        ),
        (
            lambda: NoisyMarginals.calibrated(Marginals.all_ways(SIZES, 1), 0.0, 1e-5),
            "epsilon must be > 0, got 0",
        ),
        (lambda: NoisyMarginals.calibrated(Marginals.all_ways(SIZES, 1), 1.0, 1.0), "delta must be in"),
    ],
)
def test_bad_input_is_one_line(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
