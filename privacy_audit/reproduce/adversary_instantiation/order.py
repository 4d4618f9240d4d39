"""The order of the adversaries by paired AUC differences: cell by cell, and averaged over the ε of a data set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from privacy_audit.estimate.auc import auc_difference, placements
from privacy_audit.reproduce.adversary_instantiation.settings import CONFIDENCE

WHITE_BOX = "matched_filter"

Worlds = tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]
"""Scores by `adversary/statistic`, of D and of D'."""


def statistic_for(adversary: str, epsilon: float, white_box: bool = False) -> str:
    """The one that stands for an adversary where they are ordered: fixed before the trials.

    Args:
        white_box: our matched filter in place of the paper's statistics, where all models are seen.

    >>> statistic_for("adaptive_poison", 2.0), statistic_for("adaptive_poison", 4.0)
    ('max', 'mean')
    """
    if adversary in ("intermediate_poison", "adaptive_poison"):
        return WHITE_BOX if white_box else "max" if epsilon <= 2 else "mean"
    return "likelihood_ratio" if adversary in ("gradient", "dataset") else "loss"


def order_of(worlds: Worlds, epsilon: float, adversaries: Sequence[str]) -> list[dict[str, Any]]:
    """AUC of each adversary minus that of the next weaker: by the paper's statistics, then by ours."""
    pairs = [
        tuple((name, statistic_for(name, epsilon, white_box)) for name in (stronger, weaker))
        for white_box in (False, True)
        for weaker, stronger in itertools.pairwise(adversaries)
    ]
    return [_difference(worlds, *pair) for pair in dict.fromkeys(pairs)]


def order_on_average(
    games: Mapping[float, Worlds], adversaries: Sequence[str], white_box: bool
) -> list[dict[str, Any]]:
    """The mean over the ε of a data set of AUC differences: every pair of adversaries.

    Trial i draws from the same key at every ε, so its placements are averaged before their variance is taken.

    Args:
        games: by ε; all with the same number of trials.
    """
    found = []
    for weaker, stronger in itertools.combinations(adversaries, 2):
        placed = [_placed(worlds, stronger, weaker, epsilon, white_box) for epsilon, worlds in games.items()]
        d, d_prime = (np.mean(world, axis=0) for world in zip(*placed, strict=True))
        deviation = math.sqrt(np.var(d, ddof=1) / len(d) + np.var(d_prime, ddof=1) / len(d_prime))
        half = -float(ndtri((1 - CONFIDENCE) / 2)) * deviation
        found.append(_entry(stronger, weaker, float(d_prime.mean()), half))
    return found


def _placed(worlds: Worlds, stronger: str, weaker: str, epsilon: float, white_box: bool):
    keys = [f"{name}/{statistic_for(name, epsilon, white_box)}" for name in (stronger, weaker)]
    of_stronger, of_weaker = (placements(*(world[key] for world in worlds)) for key in keys)
    return tuple(a - b for a, b in zip(of_stronger, of_weaker, strict=True))


def _entry(stronger: str, weaker: str, point: float, half: float) -> dict[str, Any]:
    lower, upper = point - half, point + half
    verdict = "stronger" if lower > 0 else "weaker" if upper < 0 else "not separated"
    return {
        "stronger": stronger,
        "weaker": weaker,
        "point": point,
        "lower": lower,
        "upper": upper,
        "found": verdict,
    }


def _difference(worlds: Worlds, stronger: tuple[str, str], weaker: tuple[str, str]) -> dict[str, Any]:
    scores = [world["/".join(name)] for name in (stronger, weaker) for world in worlds]
    interval = auc_difference(*scores, paired=True, confidence=CONFIDENCE)
    entry = _entry(stronger[0], weaker[0], interval.point, interval.upper - interval.point)
    return entry | {"statistics": [stronger[1], weaker[1]], "ours": WHITE_BOX in (stronger[1], weaker[1])}
