"""ε by way of Gaussian DP: two rates bound μ, and μ gives ε (Nasr et al. 2023, arXiv 2302.07956)."""

import numpy as np
from scipy.special import ndtri

from privacy_audit.bounds.profiles import GaussianDP
from privacy_audit.estimate.beforehand import beforehand
from privacy_audit.estimate.clopper_pearson import INDEPENDENT, rate_lower, rate_upper
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.scores import check_worlds, errors_at, midpoint_thresholds, notes_on

HELD_OUT_FRACTION = 0.05


def gaussian_dp(
    scores_d,
    scores_d_prime,
    *,
    delta: float,
    confidence: float = 0.95,
    threshold: float | str = "held-out",
    held_out_fraction: float = HELD_OUT_FRACTION,
) -> Estimate:
    """Lower bound on ε if the mechanism is tightly described by Gaussian DP.

    Clopper-Pearson bounds on both rates, each at half the error, give μ >= Φ⁻¹(1 − FPR⁺) − Φ⁻¹(FNR⁺).

    Args:
        scores_d: Scores of the trials of D.
        scores_d_prime: Scores of the trials of D'; higher = more likely D'.
        delta: δ at which ε is stated.
        confidence: Coverage of `epsilon_lower` itself.
        threshold: A number fixed beforehand, or `held-out`: where both error rates agree on the first
            ⌈held_out_fraction·n⌉ trials, which are not counted.
        held_out_fraction: Share of the trials that choose the threshold.

    Raises:
        ValueError: on empty, non-finite or misshapen scores, or an unknown rule.
    """
    d, d_prime = check_worlds(scores_d, scores_d_prime, delta, confidence)
    threshold, d, d_prime, _, assumed = beforehand(
        d, d_prime, threshold, held_out_fraction, balanced_threshold
    )
    return _estimate(d, d_prime, threshold, delta, confidence, assumed)


def balanced_threshold(d: np.ndarray, d_prime: np.ndarray, *counted: int) -> float:
    """Where both error rates are nearest to each other: best for μ by symmetry, however many trials follow."""
    del counted
    thresholds, false_positives, false_negatives = midpoint_thresholds(d, d_prime)
    return float(thresholds[np.argmin(np.abs(false_positives / len(d) - false_negatives / len(d_prime)))])


def _estimate(d, d_prime, threshold: float, delta, confidence, rule: str) -> Estimate:
    _, (false_positives,), (false_negatives,) = errors_at(d, d_prime, threshold)
    n, m, failure = len(d), len(d_prime), (1 - confidence) / 2
    lower = _mu(rate_upper(false_positives, n, failure), rate_upper(false_negatives, m, failure))
    upper = _mu(rate_lower(false_positives, n, failure), rate_lower(false_negatives, m, failure))
    point = _mu(false_positives / n, false_negatives / m)
    epsilon_lower, epsilon_point, epsilon_upper = (_epsilon(mu, delta) for mu in (lower, point, upper))
    return Estimate(
        method="gaussian_dp",
        epsilon_lower=epsilon_lower,
        epsilon_point=epsilon_point,
        epsilon_upper=epsilon_upper,
        delta=delta,
        confidence=confidence,
        valid=True,
        assumptions=(INDEPENDENT, "the mechanism's trade-off curve is that of Gaussian DP", rule),
        threshold=threshold,
        false_positives=int(false_positives),
        false_negatives=int(false_negatives),
        trials_d=n,
        trials_d_prime=m,
        notes=notes_on(d, d_prime),
        details={"mu_lower": lower, "mu_upper": upper},
    )


def _mu(false_positive_rate, false_negative_rate) -> float:
    """Φ⁻¹(1 − FPR) − Φ⁻¹(FNR), at least 0: a threshold that is worse than chance shows nothing."""
    if false_positive_rate + false_negative_rate >= 1:
        return 0.0
    return float(-ndtri(false_positive_rate) - ndtri(false_negative_rate))


def _epsilon(mu: float, delta: float) -> float:
    if mu == 0 or np.isinf(mu):
        return mu
    return float(GaussianDP(mu, adjacency="add_remove").epsilon(delta))
