"""Scores of the two worlds: what is accepted, how they are split, and how errors are counted."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

SWAPPED_SIGMAS = 5.0


class Errors(NamedTuple):
    """Error counts of the rule "guess D' when score >= threshold", one entry a threshold."""

    thresholds: Float[np.ndarray, "k"]
    false_positives: Int[np.ndarray, "k"]
    false_negatives: Int[np.ndarray, "k"]


def check_scores(values, name: str) -> Float[np.ndarray, "n"]:
    """The scores as a float64 vector.

    Raises:
        ValueError: if they are not one non-empty vector of finite real numbers.
    """
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be real numbers, got {type(values).__name__}") from error
    if scores.ndim != 1 or scores.size == 0:
        raise ValueError(f"{name} must be a non-empty vector, got shape {scores.shape}")
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        raise ValueError(f"{name} must be finite, got {scores[bad[0]]} at trial {bad[0]} ({bad.size} in all)")
    return scores


def check_level(delta: float, confidence: float) -> None:
    """Raises ValueError unless 0 <= delta < 1 and 0 < confidence < 1."""
    if not 0 <= delta < 1:
        raise ValueError(f"delta must be in [0, 1), got {delta}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), got {confidence}")


def check_worlds(scores_d, scores_d_prime, delta: float, confidence: float):
    """Both worlds' scores, checked; they may differ in length."""
    check_level(delta, confidence)
    return check_scores(scores_d, "scores_d"), check_scores(scores_d_prime, "scores_d_prime")


def pilot_size(trials: int, fraction: float) -> int:
    """How many trials, the first ones, choose the threshold: ⌈fraction·n⌉, leaving at least one to count."""
    if not 0 < fraction < 1:
        raise ValueError(f"held_out_fraction must be in (0, 1), got {fraction}")
    if trials < 2:
        raise ValueError(f"a held-out threshold needs at least 2 trials per world, got {trials}")
    return min(math.ceil(fraction * trials), trials - 1)


def errors_at(scores_d: np.ndarray, scores_d_prime: np.ndarray, thresholds) -> Errors:
    """Counts of errors at each threshold, in O((n + k) log n)."""
    thresholds = np.atleast_1d(np.asarray(thresholds, np.float64))
    above = len(scores_d) - np.searchsorted(np.sort(scores_d), thresholds, side="left")
    return Errors(thresholds, above, np.searchsorted(np.sort(scores_d_prime), thresholds, side="left"))


def observed_thresholds(scores_d: np.ndarray, scores_d_prime: np.ndarray) -> Errors:
    """Every threshold that splits the observed scores differently; tied scores stay on one side."""
    return errors_at(scores_d, scores_d_prime, np.unique(np.concatenate([scores_d, scores_d_prime])))


def midpoint_thresholds(scores_d: np.ndarray, scores_d_prime: np.ndarray) -> Errors:
    """As `observed_thresholds`, halfway between neighbouring scores: unbiased for fresh scores."""
    values = np.unique(np.concatenate([scores_d, scores_d_prime]))
    halfway = values[:-1] / 2 + values[1:] / 2
    # Neighbouring floats have no number between them: the upper one splits them just as well.
    halfway = np.where(halfway > values[:-1], halfway, values[1:])
    return errors_at(scores_d, scores_d_prime, np.concatenate([values[:1], halfway]))


def mann_whitney(scores_d: np.ndarray, scores_d_prime: np.ndarray) -> float:
    """Share of pairs in which D' scores higher, ties half: the area under the ROC curve."""
    ordered = np.sort(scores_d)
    below = np.searchsorted(ordered, scores_d_prime, "left") + np.searchsorted(
        ordered, scores_d_prime, "right"
    )
    return float(below.mean() / (2 * len(scores_d)))


def notes_on(scores_d: np.ndarray, scores_d_prime: np.ndarray) -> tuple[str, ...]:
    """What is odd about these scores: a single value, or D' scoring below D far beyond chance."""
    if np.ptp(np.concatenate([scores_d, scores_d_prime])) == 0:
        return ("every score has the same value: the scores carry no information",)
    area = mann_whitney(scores_d, scores_d_prime)
    n, m = len(scores_d), len(scores_d_prime)
    null_deviation = math.sqrt((n + m + 1) / (12 * n * m))
    if (0.5 - area) > SWAPPED_SIGMAS * null_deviation:
        return (f"the worlds look swapped: D' scores below D (AUC {area:.3f}); higher must mean D'",)
    return ()
