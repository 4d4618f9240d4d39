"""From scores to findings: corrections for choices, counts of what went wrong, and what the report says."""

import numpy as np
import pytest

from privacy_audit.report.document import report_document
from privacy_audit.report.figure import most_true_positives
from privacy_audit.report.table import render_table
from privacy_audit.verdict import compare_pairs, conclude


def verdict_of(shifts, nonfinite=0, trials=400, **changes):
    """A run whose statistics are normal numbers, shifted in world 1 by so much."""
    rng = np.random.default_rng(3)
    d = {name: rng.standard_normal(trials) for name in shifts}
    d_prime = {name: rng.standard_normal(trials) + shift for name, shift in shifts.items()}
    counts = np.zeros(trials, np.int32)
    counts[0] = nonfinite
    arguments = {
        "adversaries": tuple(dict.fromkeys(name.split("/")[0] for name in shifts)),
        "epsilon_proven": 4.0,
        "delta": 1e-5,
        "confidence": 0.95,
        "threshold": "held-out",
    }
    worlds = (world | {"training/nonfinite": counts} for world in (d, d_prime))
    return conclude(*worlds, **(arguments | changes))


def test_report_16_gradients_that_are_not_finite_are_counted_in_the_report():
    verdict = verdict_of({"a/s": 1.0}, nonfinite=7)
    assert report_document(verdict, {})["nonfinite_gradients"] == 14  # 7 in each world
    assert "14 per-example gradients were not finite" in render_table(verdict)
    assert "not finite" not in render_table(verdict_of({"a/s": 1.0}))


def test_report_18_choices_among_statistics_and_adversaries_are_corrected():
    """Two statistics of `a`, one of `b`: 97.5% each and 95%; the best of all is held to 1 − 0.05/3."""
    verdict = verdict_of({"a/max": 2.0, "a/mean": 2.0, "b/loss": 2.0})
    assert [f.estimate.confidence for f in verdict.findings] == pytest.approx([0.975, 0.975, 0.95])
    assert all(f.among_all.confidence == pytest.approx(1 - 0.05 / 3) for f in verdict.findings)
    best = verdict.best_of_all
    assert best.among_all.epsilon_lower <= best.estimate.epsilon_lower


def test_same_sample_is_never_called_valid():
    (finding,) = verdict_of({"a/s": 1.0}).findings
    assert not finding.same_sample.valid
    assert finding.same_sample.epsilon_lower >= finding.estimate.epsilon_lower
    invalid = verdict_of({"a/s": 1.0, "b/s": 2.0}, threshold="same-sample")
    shown = render_table(invalid)
    assert "ε̂ (not valid)" in shown
    assert "ε̂: not a valid bound (clopper_pearson, same-sample threshold)" in shown
    assert "best of all" not in shown
    assert report_document(invalid, {})["best_of_all"]["valid"] is False
    assert "ε̂ (valid)" in render_table(verdict_of({"a/s": 1.0, "b/s": 2.0}))


def test_pairs_are_compared_in_the_order_asked_for():
    (pair,) = compare_pairs(verdict_of({"a/s": 2.0, "b/s": 0.0}))
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.interval.lower > 0.2


def test_the_proven_region_is_that_of_pure_and_approximate_dp():
    """Kairouz: at FPR 0.1, ε = log 3, δ = 0 the TPR is at most 0.3; at FPR 0.5 at most 1 − 0.5/3."""
    most = most_true_positives(np.array([0.0, 0.1, 0.5, 1.0]), np.log(3), 0.0)
    np.testing.assert_allclose(most, [0.0, 0.3, 1 - 0.5 / 3, 1.0])
    assert most_true_positives(np.array([0.0]), 1.0, 0.01)[0] == pytest.approx(0.01)
    assert most_true_positives(np.array([0.5]), np.inf, 0.0)[0] == 1.0
