"""ε by the joint posterior of both error rates (Zanella-Béguelin et al. 2023, arXiv 2206.05199)."""

import functools
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincc, betaincinv

from privacy_audit.estimate.beforehand import beforehand
from privacy_audit.estimate.clopper_pearson import (
    HELD_OUT_FRACTION,
    INDEPENDENT,
    best_threshold,
    epsilon_from_rates,
)
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.scores import check_level, check_worlds, errors_at, notes_on

LARGEST_EPSILON = 200.0
_CELLS = 1000


def bayesian(
    scores_d,
    scores_d_prime,
    *,
    delta: float,
    confidence: float = 0.95,
    threshold: float | str = "held-out",
    held_out_fraction: float = HELD_OUT_FRACTION,
    prior: float = 1.0,
) -> Estimate:
    """Credible lower bound on ε: the joint beta posterior gives ε >= `epsilon_lower` the stated probability.

    A statement about the posterior, hence not called valid: as a confidence bound it is near its level
    (the benchmark measures it), but no theorem says so for every pair of rates.

    Args:
        scores_d: Scores of the trials of D.
        scores_d_prime: Scores of the trials of D'; higher = more likely D'.
        delta: δ at which ε is stated.
        confidence: Posterior probability of ε >= `epsilon_lower`.
        threshold: A number fixed beforehand, or `held-out`.
        held_out_fraction: Share of the first trials that choose a held-out threshold.
        prior: Both shapes of the beta prior of each rate: 1 is uniform. Jeffreys' 0.5
            overstates ε where there are no errors.

    Raises:
        ValueError: on empty, non-finite or misshapen scores, an unknown rule or a prior that is not positive.
    """
    d, d_prime = check_worlds(scores_d, scores_d_prime, delta, confidence)
    choose = functools.partial(best_threshold, delta=delta, confidence=confidence)
    threshold, d, d_prime, _, assumed = beforehand(d, d_prime, threshold, held_out_fraction, choose)
    _, (false_positives,), (false_negatives,) = errors_at(d, d_prime, threshold)
    counts = int(false_positives), int(false_negatives), len(d), len(d_prime)
    lower, upper = credible_interval(*counts, delta=delta, confidence=confidence, prior=prior)
    return Estimate(
        method="bayesian",
        epsilon_lower=lower,
        epsilon_point=float(epsilon_from_rates(counts[0] / counts[2], counts[1] / counts[3], delta)),
        epsilon_upper=upper,
        delta=delta,
        confidence=confidence,
        valid=False,
        assumptions=(
            INDEPENDENT,
            assumed,
            f"a credible bound: each rate has a Beta({prior:g}, {prior:g}) prior",
        ),
        threshold=threshold,
        false_positives=counts[0],
        false_negatives=counts[1],
        trials_d=counts[2],
        trials_d_prime=counts[3],
        notes=notes_on(d, d_prime),
    )


def credible_interval(
    false_positives: int,
    false_negatives: int,
    trials_d: int,
    trials_d_prime: int,
    *,
    delta: float,
    confidence: float = 0.95,
    prior: float = 1.0,
) -> tuple[float, float]:
    """Posterior quantiles of ε at 1 − confidence and confidence; finite for any counts, also without errors.

    >>> lower, upper = credible_interval(0, 0, 100, 100, delta=1e-5)
    >>> round(lower, 2), round(upper, 2)
    (4.19, 8.27)
    """
    check_level(delta, confidence)
    if not prior > 0:
        raise ValueError(f"prior must be > 0, got {prior}")
    fpr = (false_positives + prior, trials_d - false_positives + prior)
    fnr = (false_negatives + prior, trials_d_prime - false_negatives + prior)
    # Cells of equal posterior probability, one false positive rate each.
    rates = betaincinv(*fpr, (np.arange(_CELLS) + 0.5) / _CELLS)
    at_most = functools.partial(posterior_at_most, rates=rates, fnr=fnr, delta=delta)
    return _quantile(at_most, 1 - confidence), _quantile(at_most, confidence)


def posterior_at_most(epsilon: float, rates: np.ndarray, fnr: tuple[float, float], delta: float) -> float:
    """Pr[ε(FPR, FNR) <= epsilon]: FPR is one of `rates` with equal probability, FNR ~ Beta(fnr).

    FNR has to stay above both lines of the (ε, δ) region; given FPR that is one beta tail.
    """
    least = np.maximum(1 - delta - np.exp(epsilon) * rates, np.exp(-epsilon) * (1 - delta - rates))
    return float(np.mean(betaincc(*fnr, np.clip(least, 0.0, 1.0))))


def _quantile(at_most: Callable[[float], float], probability: float) -> float:
    if at_most(0.0) >= probability:
        return 0.0
    if at_most(LARGEST_EPSILON) <= probability:
        return LARGEST_EPSILON
    return float(brentq(lambda epsilon: at_most(epsilon) - probability, 0.0, LARGEST_EPSILON, xtol=1e-6))
