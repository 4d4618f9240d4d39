"""How many trials can certify what: the ceiling of a perfect attack, and the number for a given one."""

import math

import numpy as np
from scipy.stats import binom

from privacy_audit.estimate.clopper_pearson import epsilon_from_counts, epsilon_from_rates
from privacy_audit.estimate.scores import check_level

# Nobody trains more often, and the quantiles of beta laws grow slow and coarse.
_MOST_TRIALS = 10**9


def ceiling(trials: int, *, delta: float = 0.0, confidence: float = 0.95) -> float:
    """The ε that a perfect attack shows with this many trials per world: no attack can show more.

    >>> round(ceiling(1000), 2)
    5.6
    """
    return float(epsilon_from_counts(0, 0, trials, delta=delta, confidence=confidence))


def trials_needed(
    epsilon: float,
    *,
    false_positive_rate: float = 0.0,
    false_negative_rate: float = 0.0,
    power: float = 0.9,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> int:
    """Smallest number of trials per world with which ε̂ > epsilon is shown with the stated probability.

    Without rates the attack is perfect, so the power is 1: the trials below which nothing can show ε. The
    held-out trials that choose a threshold come on top. Power is not quite monotone in the number of trials
    (counts are whole): the number returned has the power, and a neighbour may not.

    Args:
        epsilon: What is to be exceeded.
        false_positive_rate: The attack's, at a threshold that is fixed beforehand.
        false_negative_rate: The attack's.
        power: Probability of success, in (0, 1).
        delta: δ at which ε is stated.
        confidence: Coverage of the bound.

    Raises:
        ValueError: if the rates cannot show that ε with any number of trials, or only with more than 10⁹.

    >>> trials_needed(5.60)
    1000
    """
    check_level(delta, confidence)
    if not 0 < power < 1:
        raise ValueError(f"power must be in (0, 1), got {power}")
    rates = false_positive_rate, false_negative_rate
    limit = float(epsilon_from_rates(*rates, delta))
    if not 0 <= epsilon < limit:
        raise ValueError(
            f"epsilon must be >= 0 and below {limit:.4g}, what the rates are worth, got {epsilon}"
        )

    def enough(trials: int) -> bool:
        return success_probability(epsilon, trials, *rates, delta=delta, confidence=confidence) >= power

    low, high = 0, 1
    while not enough(high):
        if high >= _MOST_TRIALS:
            raise ValueError(
                f"epsilon must be what {_MOST_TRIALS:g} trials can show with power {power:g}, got {epsilon}"
            )
        low, high = high, min(2 * high, _MOST_TRIALS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def success_probability(
    epsilon: float,
    trials: int,
    false_positive_rate: float,
    false_negative_rate: float,
    *,
    delta: float,
    confidence: float,
) -> float:
    """Pr[ε̂ > epsilon] with this many trials per world at these true rates, exactly summed over the counts."""
    spread = 10 * math.sqrt(trials * false_positive_rate * (1 - false_positive_rate)) + 10
    low = max(0, math.floor(trials * false_positive_rate - spread))
    high = min(trials, math.ceil(trials * false_positive_rate + spread))
    # ε̂ falls smoothly in the count; two hundred points stand for a wide window.
    false_positives = np.unique(np.linspace(low, high, 200).astype(np.int64))
    most = largest_false_negatives(epsilon, false_positives, trials, delta, confidence)
    steps = np.diff(binom.cdf(false_positives, trials, false_positive_rate), prepend=0.0)
    return float(np.sum(steps * np.where(most >= 0, binom.cdf(most, trials, false_negative_rate), 0.0)))


def largest_false_negatives(epsilon: float, false_positives, trials: int, delta: float, confidence: float):
    """For each count of false positives the most false negatives with ε̂ > epsilon; −1 where there is none."""
    low, high = np.full(len(false_positives), -1), np.full(len(false_positives), trials)
    while np.any(high - low > 1):
        middle = np.maximum((low + high) // 2, 0)
        shown = (
            epsilon_from_counts(false_positives, middle, trials, delta=delta, confidence=confidence) > epsilon
        )
        low, high = np.where(shown, middle, low), np.where(shown, high, middle)
    return low
