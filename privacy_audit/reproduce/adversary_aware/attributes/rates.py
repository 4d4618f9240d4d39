"""Rates of success over games, with intervals that err wide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from privacy_audit.estimate.clopper_pearson import rate_lower, rate_upper

ATTACK = "posterior"
"""The attack that stands beside the bounds, chosen beforehand."""


@dataclass(frozen=True)
class Rate:
    """A mean success rate with its interval."""

    point: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{100 * self.point:.1f} ({100 * self.lower:.1f} to {100 * self.upper:.1f})"


def rate(hits: Sequence[int], targets: int, confidence: float) -> Rate:
    """The wider of Clopper-Pearson's interval over all targets and Student's over games.

    Targets of one game share its noise, so the first alone may be too narrow; games are independent, but few.
    """
    failure, trials = (1 - confidence) / 2, targets * len(hits)
    point = sum(hits) / trials
    lower, upper = (
        float(rate_lower(sum(hits), trials, failure)),
        float(rate_upper(sum(hits), trials, failure)),
    )
    if len(hits) > 1:
        spread = np.std(np.asarray(hits) / targets, ddof=1) / math.sqrt(len(hits))
        reach = float(stats.t.ppf(1 - failure, len(hits) - 1) * spread)
        lower, upper = min(lower, max(point - reach, 0.0)), max(upper, min(point + reach, 1.0))
    return Rate(point, lower, upper)


def attack_rate(results: Mapping[str, Any], cell: Mapping[str, Any], attack: str = ATTACK) -> Rate:
    """Of one attack in one cell."""
    return rate(cell["hits"][attack], results["targets"], results["confidence"])


def exceeded(results: Mapping[str, Any]) -> list[str]:
    """Cells whose bound lies below the upper end of the attack's interval.

    That refutes no bound by itself: the interval is for the mean over games, and may end above what one game allows
    with 95 %. `games_above` counts what a valid bound makes rare.
    """
    names = []
    for name, cell in results["cells"].items():
        if (
            cell["bounds"]
            and cell["bounds"]["certified"] < results["targets"] * attack_rate(results, cell).upper
        ):
            names.append(name)
    return names


def games_above(cell: Mapping[str, Any]) -> int:
    """Number of single games in which any attack recovered more than the certified bound."""
    return sum(
        max(counts) > cell["bounds"]["certified"] for counts in zip(*cell["hits"].values(), strict=True)
    )
