"""ε from error counts by exact binomial (Clopper-Pearson) bounds (Paper L, §3.3, eq. 5)."""

import functools
import math

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv

from privacy_audit.estimate import every
from privacy_audit.estimate.beforehand import beforehand
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.scores import (
    check_level,
    check_worlds,
    errors_at,
    midpoint_thresholds,
    notes_on,
    observed_thresholds,
)

HELD_OUT_FRACTION = 0.2
INDEPENDENT = "trials are independent, and identically distributed within a world"
RULES = ("held-out", "every", "same-sample")


def check_threshold(threshold: str | float) -> None:
    """Raises ValueError unless it is a finite number or one of the rules."""
    known = threshold in RULES if isinstance(threshold, str) else math.isfinite(threshold)
    if not known:
        raise ValueError(f"threshold must be a finite number or one of {', '.join(RULES)}, got {threshold!r}")


def rate_upper(errors, trials, failure: float) -> Float[np.ndarray, "..."]:
    """Upper confidence bound on a binomial rate, below the true rate with probability at most `failure`.

    >>> round(float(rate_upper(0, 1000, 0.025)), 6)
    0.003682
    """
    errors, trials = np.broadcast_arrays(np.asarray(errors, float), np.asarray(trials, float))
    missing = np.maximum(trials - errors, 1e-300)  # every trial an error: the bound is 1
    return np.where(errors >= trials, 1.0, betaincinv(errors + 1.0, missing, 1 - failure))


def rate_lower(errors, trials, failure: float) -> Float[np.ndarray, "..."]:
    """Lower confidence bound on a binomial rate: the mirror image of `rate_upper`."""
    return 1 - rate_upper(np.asarray(trials) - np.asarray(errors), trials, failure)


def epsilon_from_rates(false_positive_rate, false_negative_rate, delta: float) -> Float[np.ndarray, "..."]:
    """max{log((1−δ−FPR)/FNR), log((1−δ−FNR)/FPR), 0}, infinite where an error rate is 0 (Paper L, eq. 4).

    >>> round(float(epsilon_from_rates(0.1, 0.2, 0.0)), 4)
    2.0794
    """
    fpr, fnr = np.asarray(false_positive_rate, float), np.asarray(false_negative_rate, float)

    def log_ratio(missed, other):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(1 - delta - missed, 0.0)) - np.log(other)

    useful = 1 - delta - fpr - fnr > 0
    return np.where(
        useful,
        np.maximum(
            log_ratio(np.where(useful, fpr, 0), np.where(useful, fnr, 1)),
            log_ratio(np.where(useful, fnr, 0), np.where(useful, fpr, 1)),
        ),
        0.0,
    )


def epsilon_from_counts(
    false_positives, false_negatives, trials_d, trials_d_prime=None, *, delta: float, confidence: float = 0.95
) -> Float[np.ndarray, "..."]:
    """Lower confidence bound on ε from error counts, elementwise.

    Each rate is bounded at failure (1 − confidence)/2, so the bound on ε itself holds with `confidence`:
    the two-sided 95% convention of Paper L, §3.3.

    Args:
        false_positives: Trials of D guessed D', scalar or array.
        false_negatives: Trials of D' guessed D.
        trials_d: Trials of D.
        trials_d_prime: Trials of D'; as many as of D when left out.
        delta: δ in [0, 1).
        confidence: Coverage of the result.

    Raises:
        ValueError: if a count is negative, not finite or above its number of trials.

    >>> round(float(epsilon_from_counts(0, 0, 1000, delta=0.0)), 4)
    5.6006
    """
    check_level(delta, confidence)
    trials_d_prime = trials_d if trials_d_prime is None else trials_d_prime
    _check_counts("false_positives", false_positives, trials_d)
    _check_counts("false_negatives", false_negatives, trials_d_prime)
    failure = (1 - confidence) / 2
    fpr = rate_upper(false_positives, trials_d, failure)
    return epsilon_from_rates(fpr, rate_upper(false_negatives, trials_d_prime, failure), delta)


def clopper_pearson(
    scores_d,
    scores_d_prime,
    *,
    delta: float,
    confidence: float = 0.95,
    threshold: str | float = "held-out",
    held_out_fraction: float = HELD_OUT_FRACTION,
) -> Estimate:
    """Lower bound on ε from the scores of the two worlds, by exact bounds on both error rates.

    Args:
        scores_d: Scores of the trials of D.
        scores_d_prime: Scores of the trials of D'; higher = more likely D'.
        delta: δ at which ε is stated.
        confidence: Coverage of `epsilon_lower` itself.
        threshold: `held-out`: the first ⌈held_out_fraction·n⌉ trials of each world choose it, the others are
            counted. `every`: all thresholds at once, by exact tests on ranks whose largest deviation is
            calibrated; both error counts are judged together, not each at half the error. `same-sample`:
            chosen on the trials that are counted, as the papers do; not a valid bound. A number: chosen
            beforehand by theory or on other trials.
        held_out_fraction: Share of the trials that choose a held-out threshold.

    Raises:
        ValueError: on empty, non-finite or misshapen scores, or an unknown rule.

    >>> clopper_pearson([0.0] * 1000, [1.0] * 1000, delta=0.0, threshold=0.5).epsilon_lower
    5.600587531298923
    """
    d, d_prime = check_worlds(scores_d, scores_d_prime, delta, confidence)
    if threshold == "every":
        return _every(d, d_prime, delta, confidence)
    if threshold == "same-sample":
        return _same_sample(d, d_prime, delta, confidence)
    check_threshold(threshold)
    choose = functools.partial(best_threshold, delta=delta, confidence=confidence)
    counted = beforehand(d, d_prime, threshold, held_out_fraction, choose)
    return at_threshold(
        counted.d,
        counted.d_prime,
        counted.threshold,
        delta,
        confidence,
        counted.rule,
        (INDEPENDENT, counted.assumption),
    )


def at_threshold(
    d, d_prime, threshold: float, delta, confidence, rule: str, assumptions, valid=True
) -> Estimate:
    """The estimate of one threshold, from trials that did not choose it."""
    _, (false_positives,), (false_negatives,) = errors_at(d, d_prime, threshold)
    n, m, failure = len(d), len(d_prime), (1 - confidence) / 2
    lower_rates = rate_lower(false_positives, n, failure), rate_lower(false_negatives, m, failure)
    return Estimate(
        method=f"clopper_pearson, {rule} threshold",
        epsilon_lower=float(
            epsilon_from_counts(false_positives, false_negatives, n, m, delta=delta, confidence=confidence)
        ),
        epsilon_point=float(epsilon_from_rates(false_positives / n, false_negatives / m, delta)),
        epsilon_upper=float(epsilon_from_rates(*lower_rates, delta)) if valid else None,
        delta=delta,
        confidence=confidence,
        valid=valid,
        assumptions=assumptions,
        threshold=threshold,
        false_positives=int(false_positives),
        false_negatives=int(false_negatives),
        trials_d=n,
        trials_d_prime=m,
        notes=notes_on(d, d_prime),
    )


def best_threshold(
    d, d_prime, counted_d: int, counted_d_prime: int, delta: float, confidence: float
) -> float:
    """The threshold that these pilot scores promise the largest bound from, on so many further trials."""
    thresholds, false_positives, false_negatives = midpoint_thresholds(d, d_prime)
    # Half an error and half a success more keep a pilot without errors from promising a rate of zero.
    fpr, fnr = (false_positives + 0.5) / (len(d) + 1), (false_negatives + 0.5) / (len(d_prime) + 1)
    promised = epsilon_from_counts(
        fpr * counted_d, fnr * counted_d_prime, counted_d, counted_d_prime, delta=delta, confidence=confidence
    )
    if promised.max() <= 0:  # nothing promised: the most balanced split of the largest advantage
        promised = -(fpr + fnr)
    return float(thresholds[np.argmax(promised)])


def _same_sample(d, d_prime, delta, confidence) -> Estimate:
    thresholds, false_positives, false_negatives = observed_thresholds(d, d_prime)
    shown = epsilon_from_counts(
        false_positives, false_negatives, len(d), len(d_prime), delta=delta, confidence=confidence
    )
    warning = "not a valid bound: the trials that are counted chose the threshold"
    best = float(thresholds[np.argmax(shown)])
    return at_threshold(
        d, d_prime, best, delta, confidence, "same-sample", (INDEPENDENT, warning), valid=False
    )


def _every(d, d_prime, delta, confidence) -> Estimate:
    failure = (1 - confidence) / 2
    upward = every.simultaneous_epsilon(d, d_prime, delta, failure)
    downward = every.simultaneous_epsilon(-d_prime, -d, delta, failure)
    if upward >= downward:
        rank = every.loudest(d, d_prime, upward, delta).false_positives
        # The rule behind TP_k: anything above the (k+1)-th largest score of D is guessed D'.
        threshold = float(np.nextafter(np.sort(d)[len(d) - 1 - rank], np.inf))
    else:
        rank = every.loudest(-d_prime, -d, downward, delta).false_positives
        threshold = float(np.sort(d_prime)[rank])
    _, (false_positives,), (false_negatives,) = errors_at(d, d_prime, threshold)
    return Estimate(
        method="clopper_pearson, every threshold",
        epsilon_lower=max(upward, downward),
        epsilon_point=float(
            epsilon_from_rates(false_positives / len(d), false_negatives / len(d_prime), delta)
        ),
        delta=delta,
        confidence=confidence,
        valid=True,
        assumptions=(INDEPENDENT, every.STATEMENT),
        threshold=threshold,
        false_positives=int(false_positives),
        false_negatives=int(false_negatives),
        trials_d=len(d),
        trials_d_prime=len(d_prime),
        notes=notes_on(d, d_prime),
    )


def _check_counts(name: str, counts, trials) -> None:
    counts, trials = np.asarray(counts, float), np.asarray(trials, float)
    if not np.all(trials >= 1):
        raise ValueError(f"trials must be >= 1, got {trials.min()}")
    outside = ~((counts >= 0) & (counts <= trials))
    if outside.any():
        worst = np.broadcast_to(counts, outside.shape)[outside][0]
        raise ValueError(f"{name} must be between 0 and the number of trials, got {worst}")
