"""The area under the ROC curve with an interval, and the difference of two (DeLong et al. 1988)."""

import dataclasses
import math
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri
from scipy.stats import rankdata

from privacy_audit.estimate.result import SCHEMA_VERSION, finite_or_none
from privacy_audit.estimate.scores import check_scores, notes_on


@dataclasses.dataclass(frozen=True)
class Interval:
    """A figure of merit with a two-sided interval.

    Attributes:
        method: What was estimated.
        point: The estimate.
        lower: Lower end.
        upper: Upper end.
        confidence: Coverage of the interval from `lower` to `upper`.
        assumptions: What the coverage rests on.
        notes: What the reader should know about these scores.
    """

    method: str
    point: float
    lower: float
    upper: float
    confidence: float
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The fields as strict JSON values."""
        return {"schema_version": SCHEMA_VERSION, **finite_or_none(dataclasses.asdict(self))}


def auc(scores_d, scores_d_prime, *, confidence: float = 0.95) -> Interval:
    """Probability that a trial of D' scores higher than one of D, ties half, with a large-sample interval.

    The interval is DeLong's on the logit scale.

    Raises:
        ValueError: on empty, non-finite or misshapen scores.

    >>> auc([0.0, 1.0], [2.0, 3.0]).point
    1.0
    """
    d, d_prime = check_scores(scores_d, "scores_d"), check_scores(scores_d_prime, "scores_d_prime")
    _check_confidence(confidence)
    placed_d, placed_d_prime = placements(d, d_prime)
    area, n, m = float(placed_d_prime.mean()), len(d), len(d_prime)
    # Separated worlds are given half a misplaced trial, so that they still get an interval.
    margin = 0.5 / min(n, m)
    inside = min(max(area, margin), 1 - margin)
    variance = _variance(placed_d) / n + _variance(placed_d_prime) / m
    deviation = math.sqrt(variance if inside == area else inside * (1 - inside) / min(n, m))
    half = float(-ndtri((1 - confidence) / 2)) * deviation / (inside * (1 - inside))
    center = math.log(inside) - math.log1p(-inside)
    lower, upper = (1 / (1 + math.exp(-min(max(center + side, -700), 700))) for side in (-half, half))
    assumed = ("trials are independent", "large samples: DeLong's variance on the logit scale")
    return Interval(
        "auc", area, min(lower, area), max(upper, area), confidence, assumed, notes_on(d, d_prime)
    )


def auc_difference(
    first_d, first_d_prime, second_d, second_d_prime, *, paired: bool, confidence: float = 0.95
) -> Interval:
    """AUC of the first adversary minus that of the second, with DeLong's interval.

    Args:
        first_d: The first adversary's scores of D.
        first_d_prime: The first adversary's scores of D'.
        second_d: The second adversary's scores of D.
        second_d_prime: The second adversary's scores of D'.
        paired: Whether entry i of both adversaries comes from the same trial; the correlation then counts.
        confidence: Coverage of the interval.

    Raises:
        ValueError: on misshapen scores, or on worlds of unequal length when paired.
    """
    names = ("first_d", "first_d_prime", "second_d", "second_d_prime")
    given = (first_d, first_d_prime, second_d, second_d_prime)
    a, a_prime, b, b_prime = (check_scores(*pair) for pair in zip(given, names, strict=True))
    _check_confidence(confidence)
    if paired and (len(a) != len(b) or len(a_prime) != len(b_prime)):
        raise ValueError(
            "paired adversaries must have the same trials, got "
            f"{len(a)} and {len(b)} of D, {len(a_prime)} and {len(b_prime)} of D'"
        )
    (pa, pa_prime), (pb, pb_prime) = placements(a, a_prime), placements(b, b_prime)
    if paired:
        variance = _variance(pa - pb) / len(pa) + _variance(pa_prime - pb_prime) / len(pa_prime)
    else:
        variance = sum(_variance(placed) / len(placed) for placed in (pa, pa_prime, pb, pb_prime))
    point = float(pa_prime.mean() - pb_prime.mean())
    half = float(-ndtri((1 - confidence) / 2)) * math.sqrt(variance)
    relation = "same trials, paired" if paired else "independent trials"
    return Interval(
        "auc_difference",
        point,
        max(point - half, -1.0),
        min(point + half, 1.0),
        confidence,
        (
            "trials are independent of each other",
            f"both adversaries: {relation}",
            "large samples: DeLong's variance",
        ),
    )


def placements(d: np.ndarray, d_prime: np.ndarray) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "m"]]:
    """Per trial of D the share of D' above it, per trial of D' the share of D below it; ties count half."""
    n, m = len(d), len(d_prime)
    together = rankdata(np.concatenate([d, d_prime]))
    below_d_prime = (together[n:] - rankdata(d_prime)) / n
    above_d = 1 - (together[:n] - rankdata(d)) / m
    return above_d, below_d_prime


def _variance(placed: np.ndarray) -> float:
    return float(np.var(placed, ddof=1)) if len(placed) > 1 else 0.25


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), got {confidence}")
