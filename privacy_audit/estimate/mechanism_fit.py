"""ε through a family of mechanisms: its parameter is bounded from the scores, then converted."""

import functools

import numpy as np

from privacy_audit.estimate import precedence
from privacy_audit.estimate.clopper_pearson import INDEPENDENT
from privacy_audit.estimate.every import true_positives
from privacy_audit.estimate.families import Family, gaussian_family
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.scores import check_worlds, errors_at, notes_on
from privacy_audit.estimate.search import last_refuted

_NUDGE = 1.02
_LEVELS = 200
_TOLERANCE = 1e-3


def mechanism_fit(
    scores_d, scores_d_prime, *, delta: float, confidence: float = 0.95, family: Family | None = None
) -> Estimate:
    """Lower bound on ε, if the mechanism's trade-off curve belongs to the family.

    Each parameter is tested exactly (`precedence.p_value`) at the rank where the family's curve tells
    neighbouring parameters apart best; that rank depends on the parameter and on the numbers of trials, never
    on the scores, so all trials are counted. The bound is the ε of the smallest parameter that is not refuted.

    Args:
        scores_d: Scores of the trials of D.
        scores_d_prime: Scores of the trials of D'; higher = more likely D'.
        delta: δ at which ε is stated; positive for the families here, whose ε at δ = 0 is infinite.
        confidence: Coverage of `epsilon_lower` itself.
        family: `gaussian_family()` (the default), `dpsgd_family(q, steps)` or your own.

    Raises:
        ValueError: on empty, non-finite or misshapen scores.
    """
    d, d_prime = check_worlds(scores_d, scores_d_prime, delta, confidence)
    family = gaussian_family() if family is None else family
    lower = fitted_parameter(d, d_prime, family, 1 - confidence)
    middle = fitted_parameter(d, d_prime, family, 0.5)
    upper = fitted_parameter(d, d_prime, family, confidence)
    epsilon_lower, point, epsilon_upper = (
        epsilon_at(family, value, delta) for value in (lower, middle, upper)
    )
    rank = best_rank(family, max(lower, family.lowest), len(d), len(d_prime))
    threshold = float(np.nextafter(np.sort(d)[len(d) - 1 - rank], np.inf))
    _, (false_positives,), (false_negatives,) = errors_at(d, d_prime, threshold)
    return Estimate(
        method="mechanism_fit",
        epsilon_lower=epsilon_lower,
        epsilon_point=point,
        epsilon_upper=epsilon_upper,
        delta=delta,
        confidence=confidence,
        valid=True,
        assumptions=(
            INDEPENDENT,
            f"the mechanism's trade-off curve is that of {family.name}",
            precedence.STATEMENT,
        ),
        threshold=threshold,
        false_positives=int(false_positives),
        false_negatives=int(false_negatives),
        trials_d=len(d),
        trials_d_prime=len(d_prime),
        notes=notes_on(d, d_prime),
        details={f"{family.parameter}_lower": lower, f"{family.parameter}_upper": upper},
    )


def fitted_parameter(d: np.ndarray, d_prime: np.ndarray, family: Family, failure: float) -> float:
    """The smallest parameter that the scores do not refute at `failure`; 0 if that is the family's lowest."""

    def refuted(parameter: float) -> bool:
        return parameter_p_value(d, d_prime, family, parameter) <= failure

    return last_refuted(refuted, family.lowest, family.highest, tolerance=_TOLERANCE)


def parameter_p_value(d: np.ndarray, d_prime: np.ndarray, family: Family, parameter: float) -> float:
    """Exact p-value of one member of the family: small when it leaks too little for these scores."""
    rank = best_rank(family, parameter, len(d), len(d_prime))
    hits = int(true_positives(d, d_prime, [rank])[0])
    return precedence.p_value(hits, rank, len(d), len(d_prime), family.profile(parameter).trade_off)


def epsilon_at(family: Family, parameter: float, delta: float) -> float:
    """ε(δ) of one member; 0 for the parameter 0."""
    return float(family.profile(parameter).epsilon(delta)) if parameter > 0 else 0.0


@functools.lru_cache(maxsize=512)
def best_rank(family: Family, parameter: float, trials: int, trials_prime: int) -> int:
    """The rank k at which a slightly leakier member stands out most, in standard deviations of TP_k."""
    lowest = min(2.0 / trials, 0.25)
    levels = np.geomspace(lowest, 1 - lowest, _LEVELS)
    missed = family.profile(parameter).trade_off(levels)
    gained = missed - family.profile(parameter * _NUDGE).trade_off(levels)
    slope = np.gradient(missed, levels)
    deviation = np.sqrt(missed * (1 - missed) / trials_prime + slope**2 * levels * (1 - levels) / trials)
    best = levels[np.argmax(gained / np.maximum(deviation, 1e-12))]
    return int(np.clip(round(best * trials) - 1, 0, trials - 1))
