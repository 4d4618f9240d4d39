"""One training run: against jax_privacy, and against each other."""

import numpy as np
import pytest
from scipy.stats import binom

from privacy_audit.bounds.priors import categorical, uniform
from privacy_audit.estimate import approximate_dp_family, gaussian_family, one_run_audit, one_run_secrets
from privacy_audit.estimate.one_run.audit import bounded_parameter, count_correct

GAUSSIAN = gaussian_family()
COUNTS = [(37, 40, 2000), (94, 100, 2000), (60, 80, 80)]


def _epsilon(method, counts, family, delta=1e-5):
    parameter = bounded_parameter(method, *counts, family, delta, 0.05)
    return float(family.profile(parameter).epsilon(delta)) if parameter else 0.0


@pytest.mark.parametrize("counts", COUNTS)
def test_published_methods_agree_with_jax_privacy(counts):
    auditing = pytest.importorskip("jax_privacy.auditing", reason="jax_privacy is not installed")
    correct, guesses, candidates = counts
    theirs = auditing._epsilon_one_run(0, candidates, guesses, correct, 0.05, 1e-5)
    assert _epsilon("steinke", counts, approximate_dp_family(1e-5)) == pytest.approx(theirs, rel=5e-4)
    theirs = auditing._epsilon_one_run_fdp(0, candidates, guesses, correct, 0.05, 1e-5)
    assert _epsilon("mahloujifar", counts, GAUSSIAN) == pytest.approx(theirs, rel=5e-4)


@pytest.mark.parametrize("counts", COUNTS[::2])
def test_ours_is_never_weaker(counts):
    pure = approximate_dp_family(1e-5)
    assert _epsilon("optimal", counts, pure) >= _epsilon("steinke", counts, pure) - 5e-4
    assert _epsilon("optimal", counts, GAUSSIAN) >= _epsilon("mahloujifar", counts, GAUSSIAN) - 1e-3


def test_random_guesses_show_nothing():
    rng = np.random.default_rng(0)
    found = one_run_audit(
        rng.normal(size=400), rng.random(400) < 0.5, delta=1e-5, guesses=40, method="steinke"
    )
    assert found.epsilon_lower < 0.5
    assert found.valid


@pytest.mark.parametrize("method", ["steinke", "mahloujifar"])
@pytest.mark.parametrize("values", [1, 2, 400])
def test_scores_that_know_nothing_err_in_a_twentieth_of_runs(method, values):
    """Canaries stand in the order of their coins and scores tie; at exactly 5% this fails with probability 1e-4."""
    rng, repeats, claimed = np.random.default_rng(values), 300, 0
    for _ in range(repeats):
        included = np.sort(rng.random(60) < 0.5)
        scores = rng.integers(values, size=60)
        found = one_run_audit(scores, included, delta=1e-5, guesses=20, method=method)
        claimed += found.epsilon_lower > 0
    assert claimed <= binom.isf(1e-4, repeats, 0.05)


def test_equal_scores_are_counted_as_the_worst_order_would():
    """Against the fewest right guesses over many orders."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores, included = rng.integers(3, size=9), rng.random(9) < 0.5
        found = []
        for _ in range(300):
            order = rng.permutation(9)
            order = order[np.argsort(scores[order], kind="stable")]
            found.append((included[order[-3:]].sum(), (~included[order[:2]]).sum()))
        fewest = np.min(found, axis=0).sum()
        assert count_correct(scores, included, 5, both_sides=True) == fewest


def test_without_delta_a_gaussian_is_refuted_or_not():
    scores, included = np.arange(60.0), np.arange(60) >= 30
    found = one_run_audit(scores, included, delta=0.0, guesses=20, family=GAUSSIAN)
    assert found.epsilon_lower == np.inf


def test_guesses_on_both_sides_and_on_one():
    scores, included = np.arange(10.0), np.arange(10) >= 5
    both = one_run_audit(scores, included, delta=1e-5, guesses=4, method="steinke")
    one = one_run_audit(scores, included, delta=1e-5, guesses=6, method="steinke", both_sides=False)
    assert (both.details["correct"], one.details["correct"]) == (4, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"included": [True]}, "one entry a canary"),
        ({"included": [0, 2]}, "vector of 0 and 1, got 2"),
        ({"guesses": 3}, "guesses must be between"),
        ({"method": "best"}, "method must be one of"),
        ({"method": "steinke", "family": GAUSSIAN}, "family must be left out"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        one_run_audit(**({"scores": [0.0, 1.0], "included": [0, 1], "delta": 1e-5} | arguments))


def test_secrets_of_unequal_priors_get_the_certified_bound():
    family = approximate_dp_family(1e-5, "replace_one")
    priors = [categorical([0.5, 0.3, 0.2])] * 12
    secrets = [0, 1, 2] * 4
    found = one_run_secrets(secrets, secrets, priors, family=family, delta=1e-5)
    assert found.method == "one_run, certified"
    # Pure DP: all right has probability β^12 at most, so ε >= logit(0.05^(1/12)) for κ = ½.
    beta = 0.05 ** (1 / 12)
    assert found.epsilon_lower == pytest.approx(np.log(beta / (1 - beta)), abs=0.1)


def test_secrets_match_as_told_and_abstain_only_beforehand():
    family = approximate_dp_family(1e-5, "replace_one")
    arguments = {"priors": uniform(10), "family": family, "delta": 1e-5}
    with pytest.raises(ValueError, match="fixed before the run, got abstention at 1"):
        one_run_secrets([1, None], [1, 2], **arguments)
    found = one_run_secrets([1, None], [1, 2], guessed=[True, False], **arguments)
    assert (found.details["correct"], found.details["guesses"]) == (1, 1)
    near = one_run_secrets(
        [4], [5], uniform(10, 3), match=lambda g, s: abs(g - s) <= 1, family=family, delta=0.0
    )
    assert near.details["correct"] == 1
