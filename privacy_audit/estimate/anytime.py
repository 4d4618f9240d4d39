"""Bounds that hold at every moment, so that an audit may stop as soon as it has shown enough.

The likelihood of the error counts under any fixed pair of rates, over that under the true pair, is a martingale;
so is its average over a prior on the pair (Robbins 1970). By Ville's inequality it never exceeds 1/α, with
probability 1 − α. The pairs of rates against which the average stays below 1/α therefore hold the true pair at
all times together, and the values of ε on them form an interval that may be looked at after every chunk. One
confidence set holds both rates: ε̂ spends the whole error once, where a bound for each rate has half of it.

The prior is the posterior after pilot trials, which also fix the threshold and are not counted.
"""

import dataclasses
import math

from scipy.optimize import brentq
from scipy.special import betaln

from privacy_audit.estimate.clopper_pearson import INDEPENDENT, best_threshold, epsilon_from_rates
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.scores import check_scores, check_worlds, errors_at

PLANNED_PER_PILOT = 5
LARGEST_EPSILON = 60.0
_TINY = 1e-15


@dataclasses.dataclass(frozen=True)
class AnytimeAudit:
    """An audit under way; made by `start`, advanced by `update`.

    Attributes:
        threshold: Scores at or above it are guessed D'; fixed by the pilot.
        pilot_d: Trials of D that fixed it, not counted.
        pilot_d_prime: Trials of D' that fixed it, not counted.
        prior_d: Beta shapes for the false positive rate, from the pilot.
        prior_d_prime: Beta shapes for the false negative rate.
        delta: δ at which ε is stated.
        confidence: Coverage of [epsilon_lower, epsilon_upper] over all times together.
        false_positives: Trials of D that were guessed D' since the pilot.
        false_negatives: Trials of D' that were guessed D.
        trials_d: Trials of D since the pilot.
        trials_d_prime: Trials of D' since the pilot.
        epsilon_lower: The largest lower bound so far.
        epsilon_upper: The smallest upper end so far of what this threshold's rates can mean.
    """

    threshold: float
    pilot_d: int
    pilot_d_prime: int
    prior_d: tuple[float, float]
    prior_d_prime: tuple[float, float]
    delta: float
    confidence: float
    false_positives: int = 0
    false_negatives: int = 0
    trials_d: int = 0
    trials_d_prime: int = 0
    epsilon_lower: float = 0.0
    epsilon_upper: float = math.inf


def start(
    pilot_d, pilot_d_prime, *, delta: float, confidence: float = 0.95, planned: int | None = None
) -> AnytimeAudit:
    """Fixes the threshold and the prior on pilot trials.

    Args:
        pilot_d: Scores of the pilot trials of D.
        pilot_d_prime: Scores of the pilot trials of D'; higher = more likely D'.
        delta: δ at which ε is stated.
        confidence: Coverage of the bounds over all times together.
        planned: About how many trials per world are to follow; the threshold suits that number. Five
            times the pilot when left out.

    Raises:
        ValueError: on empty, non-finite or misshapen scores.
    """
    d, d_prime = check_worlds(pilot_d, pilot_d_prime, delta, confidence)
    planned = PLANNED_PER_PILOT * max(len(d), len(d_prime)) if planned is None else planned
    if planned < 1:
        raise ValueError(f"planned must be >= 1, got {planned}")
    threshold = best_threshold(d, d_prime, planned, planned, delta, confidence)
    _, (false_positives,), (false_negatives,) = errors_at(d, d_prime, threshold)
    priors = _posterior(int(false_positives), len(d)), _posterior(int(false_negatives), len(d_prime))
    return AnytimeAudit(threshold, len(d), len(d_prime), *priors, delta, confidence)


def update(audit: AnytimeAudit, scores_d, scores_d_prime) -> AnytimeAudit:
    """The audit after a further chunk of trials of both worlds.

    Raises:
        ValueError: on empty, non-finite or misshapen scores.
    """
    d, d_prime = check_scores(scores_d, "scores_d"), check_scores(scores_d_prime, "scores_d_prime")
    _, (false_positives,), (false_negatives,) = errors_at(d, d_prime, audit.threshold)
    audit = dataclasses.replace(
        audit,
        false_positives=audit.false_positives + int(false_positives),
        false_negatives=audit.false_negatives + int(false_negatives),
        trials_d=audit.trials_d + len(d),
        trials_d_prime=audit.trials_d_prime + len(d_prime),
    )
    lower, upper = interval_now(audit)
    return dataclasses.replace(
        audit, epsilon_lower=max(audit.epsilon_lower, lower), epsilon_upper=min(audit.epsilon_upper, upper)
    )


def should_stop(audit: AnytimeAudit, *, above: float | None = None, width: float | None = None) -> bool:
    """Whether ε > `above` is shown, or the interval is no wider than `width`; False where neither is asked."""
    shown = above is not None and audit.epsilon_lower > above
    return shown or (width is not None and audit.epsilon_upper - audit.epsilon_lower <= width)


def estimate(audit: AnytimeAudit) -> Estimate:
    """The verdict at this moment, valid whatever made the audit stop here."""
    counted = audit.trials_d > 0 and audit.trials_d_prime > 0
    pilots = f"the first {audit.pilot_d} trials of D and {audit.pilot_d_prime} of D' chose the threshold"
    return Estimate(
        method="anytime",
        epsilon_lower=audit.epsilon_lower,
        epsilon_point=_point(audit) if counted else None,
        epsilon_upper=audit.epsilon_upper,
        delta=audit.delta,
        confidence=audit.confidence,
        valid=True,
        assumptions=(INDEPENDENT, f"{pilots} and are not counted", "the bounds hold at all times together"),
        threshold=audit.threshold,
        false_positives=audit.false_positives,
        false_negatives=audit.false_negatives,
        trials_d=audit.trials_d,
        trials_d_prime=audit.trials_d_prime,
    )


def interval_now(audit: AnytimeAudit) -> tuple[float, float]:
    """Smallest and largest ε among the pairs of rates that are not refuted at this moment."""
    fp, fn, n, m = audit.false_positives, audit.false_negatives, audit.trials_d, audit.trials_d_prime
    mixture = _log_mixture(fp, n, *audit.prior_d) + _log_mixture(fn, m, *audit.prior_d_prime)
    needed = mixture + math.log1p(-audit.confidence)  # pairs less likely than this are refuted

    def excess(epsilon: float, below: bool) -> float:
        """Positive when every pair with at most (below) or at least this ε is refuted.

        At most ε means beyond neither line, so either half-plane contains those pairs; at least ε means
        beyond one of them, so both half-planes are needed.
        """
        slope, limit = math.exp(epsilon), 1 - audit.delta
        likelihoods = [
            best_in_half_plane(slope, limit, below, *counts) for counts in ((fp, n, fn, m), (fn, m, fp, n))
        ]
        return needed - (min(likelihoods) if below else max(likelihoods))

    point = _point(audit)
    lower = _last_refuted(lambda e: excess(e, True), 0.0, min(point, LARGEST_EPSILON))
    upper = _last_refuted(lambda e: excess(e, False), LARGEST_EPSILON, min(point, LARGEST_EPSILON))
    return lower, math.inf if upper >= LARGEST_EPSILON else upper


def best_in_half_plane(slope: float, limit: float, beyond: bool, fp: int, n: int, fn: int, m: int) -> float:
    """Largest log-likelihood over the rates with slope·FPR + FNR >= limit (beyond) or <= limit.

    It is concave: the observed rates if they are inside, else the best point on the line.
    """
    if (slope * fp / n + fn / m >= limit) == beyond:
        return _log_likelihood(fp, n, fp / n) + _log_likelihood(fn, m, fn / m)
    end = limit / slope

    def uphill(rate: float) -> float:
        other = limit - slope * rate
        return fp / rate - (n - fp) / (1 - rate) - slope * (fn / other - (m - fn) / (1 - other))

    low, high = end * _TINY, end * (1 - _TINY)
    if uphill(low) <= 0:
        rate = low
    elif uphill(high) >= 0:
        rate = high
    else:
        rate = brentq(uphill, low, high, xtol=end * 1e-12)
    return _log_likelihood(fp, n, rate) + _log_likelihood(fn, m, limit - slope * rate)


def _last_refuted(log_excess, far: float, point: float) -> float:
    """The ε between `far` and the observed one at which refutation ends; `far` where it never begins."""
    if log_excess(far) <= 0:
        return far
    if log_excess(point) >= 0:
        return point
    return brentq(log_excess, far, point, xtol=1e-9)


def _point(audit: AnytimeAudit) -> float:
    rates = audit.false_positives / audit.trials_d, audit.false_negatives / audit.trials_d_prime
    return float(epsilon_from_rates(*rates, audit.delta))


def _posterior(errors: int, trials: int) -> tuple[float, float]:
    return errors + 0.5, trials - errors + 0.5


def _log_mixture(errors: int, trials: int, a: float, b: float) -> float:
    return float(betaln(errors + a, trials - errors + b) - betaln(a, b))


def _log_likelihood(errors: int, trials: int, rate: float) -> float:
    yes = errors * math.log(rate) if errors else 0.0
    return yes + ((trials - errors) * math.log1p(-rate) if trials > errors else 0.0)
