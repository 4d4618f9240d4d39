"""Membership of canaries, each in the data by a fair coin: three ways to bound ε from the guesses."""

import dataclasses
import math
import numbers
from collections.abc import Callable

import numpy as np

from privacy_audit.bounds.priors import membership
from privacy_audit.bounds.success import success_bound
from privacy_audit.estimate.families import Family, approximate_dp_family
from privacy_audit.estimate.one_run import mahloujifar, steinke
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.scores import check_level, check_scores
from privacy_audit.estimate.search import last_refuted

METHODS = ("optimal", "steinke", "mahloujifar")
COINS = "each canary was included by its own fair coin, and the guess sees nothing else that depends on it"
FIXED = "the number of guesses was fixed before the run"


def one_run_audit(
    scores,
    included,
    *,
    delta: float,
    confidence: float = 0.95,
    method: str = "optimal",
    guesses: int | None = None,
    both_sides: bool = True,
    family: Family | None = None,
) -> Estimate:
    """Lower bound on ε from one training run with m canaries.

    The canaries with the highest scores are guessed to be in, and if `both_sides` as many with the lowest
    to be out; on the rest the auditor abstains.

    Args:
        scores: One score a canary; higher = more likely in.
        included: Whether each canary was in the data.
        delta: δ at which ε is stated.
        confidence: Coverage of `epsilon_lower`.
        method: `optimal`: the best bound on the number of right guesses that holds for every mechanism of the
            family (`bounds.success_bound`), inverted. `steinke`: theorem 3.3 of Steinke et al. 2023.
            `mahloujifar`: algorithm 1 of Mahloujifar et al. 2024.
        guesses: r, fixed beforehand; all canaries when left out.
        both_sides: Whether half of the guesses say "out". False: all of them say "in".
        family: What the mechanism is assumed to be: (ε, δ)-DP when left out, or `gaussian_family()`, ….
            Its adjacency must be add/remove, since a canary is in or out. `steinke` takes only the former.

    Raises:
        ValueError: on misshapen input, an unknown method or family, or more guesses than canaries.
    """
    check_level(delta, confidence)
    scores, included = check_scores(scores, "scores"), _check_included(included)
    if len(scores) != len(included):
        raise ValueError(f"included must have one entry a canary ({len(scores)}), got {len(included)}")
    guesses = len(scores) if guesses is None else guesses
    if not (isinstance(guesses, numbers.Integral) and 1 <= guesses <= len(scores)):
        raise ValueError(f"guesses must be between 1 and the number of canaries, got {guesses}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method == "steinke" and family is not None:
        raise ValueError(f"family must be left out for method 'steinke', got {family.name}")
    named = method if family is None else f"{method}, {family.name}"
    family = approximate_dp_family(delta) if family is None else family
    if math.isinf(float(family.profile(family.lowest).epsilon(delta))):  # all that can be refuted is ε < ∞
        family = dataclasses.replace(family, highest=family.lowest)
    correct = count_correct(scores, included, guesses, both_sides)
    parameter = bounded_parameter(method, correct, guesses, len(scores), family, delta, 1 - confidence)
    return Estimate(
        method=f"one_run, {named}",
        epsilon_lower=float(family.profile(parameter).epsilon(delta)) if parameter > 0 else 0.0,
        delta=delta,
        confidence=confidence,
        valid=True,
        assumptions=(COINS, FIXED, f"the mechanism is one of {family.name}"),
        details={
            "correct": correct,
            "guesses": guesses,
            "canaries": len(scores),
            f"{family.parameter}_lower": parameter,
        },
        notes=_notes(scores, included),
    )


def count_correct(scores: np.ndarray, included: np.ndarray, guesses: int, both_sides: bool) -> int:
    """The fewest right guesses among the extreme scores that any order of equal ones gives.

    Positions may follow the coins, so none may break a tie.
    """
    says_out = guesses // 2 if both_sides else 0
    says_in = guesses - says_out
    return _fewest_right(scores, included, says_in) + _fewest_right(-scores, ~included, says_out)


def _fewest_right(scores: np.ndarray, included: np.ndarray, guesses: int) -> int:
    """Of so many highest scores that are guessed to be in."""
    if guesses == 0:
        return 0
    edge = np.partition(scores, -guesses)[-guesses]
    above, tied = scores > edge, scores == edge
    wrong = np.sum(~included[tied])
    return int(np.sum(included[above]) + max(0, guesses - np.sum(above) - wrong))


def bounded_parameter(
    method: str, correct: int, guesses: int, candidates: int, family: Family, delta: float, failure: float
) -> float:
    """The largest parameter of the family that so many right guesses refute; 0 if none."""
    if 2 * correct <= guesses:  # no better than the coins themselves
        return 0.0
    counts = correct, guesses, candidates

    def by_steinke(parameter: float) -> bool:
        return steinke.p_value(*counts, parameter, delta) <= failure

    def by_mahloujifar(parameter: float) -> bool:
        return mahloujifar.refuted(*counts, family.profile(parameter).trade_off, failure)

    def by_optimum(parameter: float) -> bool:
        return optimal_p_value(*counts, family, parameter) <= failure

    if method == "steinke":
        return last_refuted(by_steinke, family.lowest, family.highest)
    if method == "mahloujifar":
        return last_refuted(by_mahloujifar, family.lowest, family.highest)
    # The optimum costs a linear program an evaluation: start where the cheaper method ends.
    nearby = last_refuted(by_mahloujifar, family.lowest, family.highest)
    return _from_nearby(by_optimum, nearby, family)


def optimal_p_value(correct: int, guesses: int, candidates: int, family: Family, parameter: float) -> float:
    """The largest chance of so many right guesses that any mechanism with this profile allows."""
    priors = [membership()] * guesses
    bound = success_bound(correct, family.profile(parameter), priors, "optimal", candidates=candidates)
    return float(bound)


def _from_nearby(refuted: Callable[[float], bool], nearby: float, family: Family) -> float:
    start = nearby * (1 - 1e-4)
    if start <= family.lowest or not refuted(start):
        return last_refuted(refuted, family.lowest, family.highest)
    return last_refuted(refuted, start, family.highest, growth=1.05)


def _notes(scores: np.ndarray, included: np.ndarray) -> tuple[str, ...]:
    notes = []
    if len(np.unique(scores)) < len(scores):
        notes.append("equal scores at the edge of the guesses are counted as wrong")
    if len(np.unique(included)) == 1:
        notes.append("all canaries are on one side, which fair coins rarely do")
    return tuple(notes)


def _check_included(included) -> np.ndarray:
    included = np.asarray(included)
    if included.ndim != 1 or not np.isin(included, (0, 1)).all():
        raise ValueError(f"included must be a vector of 0 and 1, got {_odd(included)}")
    return included.astype(bool)


def _odd(included: np.ndarray) -> str:
    if included.ndim != 1:
        return f"shape {included.shape}"
    return str(included[~np.isin(included, (0, 1))][0])
