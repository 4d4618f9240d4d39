"""Bounds that hold at every moment, so that an audit may stop as soon as it has shown enough.

The likelihood of the error counts under any fixed pair of rates, over that under the true pair, is a martingale;
so is its average over a prior on the pair (Robbins 1970), and so is an average over several thresholds. By Ville's
inequality it never exceeds 1/α, with probability 1 − α. So an ε at which every pair of rates is refuted by that
factor is refuted at all times together, however often one looks. The evidence is about both rates jointly: ε̂
spends the whole error once, where a bound for each rate has half of it.

Pilot trials, which are not counted, fix the thresholds and the prior: half of the weight is on the threshold that
promises most, the rest on quantiles of the pilot, since a small pilot knows the best threshold only roughly.
"""

import dataclasses
import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from privacy_audit.estimate.clopper_pearson import INDEPENDENT, best_threshold
from privacy_audit.estimate.evidence import Counter, log_evidence, point
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.scores import check_scores, check_worlds, errors_at

PLANNED_PER_PILOT = 5
LARGEST_EPSILON = 60.0
QUANTILES = (0.03, 0.08, 0.16, 0.3, 0.5, 0.7, 0.84, 0.92, 0.97)


@dataclasses.dataclass(frozen=True)
class AnytimeAudit:
    """An audit under way; made by `start`, advanced by `update`.

    Attributes:
        counters: Errors at each threshold; the first is the one that the pilot promises most from.
        pilot_d: Trials of D that fixed the thresholds, not counted.
        pilot_d_prime: Trials of D' that fixed them, not counted.
        delta: δ at which ε is stated.
        confidence: Coverage over all times together, of `epsilon_lower` and of `epsilon_upper` each.
        trials_d: Trials of D since the pilot.
        trials_d_prime: Trials of D' since the pilot.
        epsilon_lower: The largest lower bound so far.
        epsilon_upper: The smallest upper end so far of what the first threshold's rates can mean, but no less
            than `epsilon_lower`, which other thresholds may have raised above it.
    """

    counters: tuple[Counter, ...]
    pilot_d: int
    pilot_d_prime: int
    delta: float
    confidence: float
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
    best = best_threshold(d, d_prime, planned, planned, delta, confidence)
    others = np.unique(np.quantile(np.concatenate([d, d_prime]), QUANTILES))
    errors = errors_at(d, d_prime, [best, *others[others != best]])
    counters = tuple(
        Counter(float(threshold), _posterior(int(fp), len(d)), _posterior(int(fn), len(d_prime)))
        for threshold, fp, fn in zip(*errors, strict=True)
    )
    return AnytimeAudit(counters, len(d), len(d_prime), delta, confidence)


def update(audit: AnytimeAudit, scores_d, scores_d_prime) -> AnytimeAudit:
    """The audit after a further chunk of trials of both worlds.

    Raises:
        ValueError: on empty, non-finite or misshapen scores.
    """
    d, d_prime = check_scores(scores_d, "scores_d"), check_scores(scores_d_prime, "scores_d_prime")
    errors = errors_at(d, d_prime, [counter.threshold for counter in audit.counters])
    counters = tuple(
        dataclasses.replace(
            counter,
            false_positives=counter.false_positives + int(fp),
            false_negatives=counter.false_negatives + int(fn),
        )
        for counter, _, fp, fn in zip(audit.counters, *errors, strict=True)
    )
    audit = dataclasses.replace(
        audit,
        counters=counters,
        trials_d=audit.trials_d + len(d),
        trials_d_prime=audit.trials_d_prime + len(d_prime),
    )
    lower = max(audit.epsilon_lower, lower_now(audit))
    upper = max(lower, min(audit.epsilon_upper, upper_now(audit)))
    return dataclasses.replace(audit, epsilon_lower=lower, epsilon_upper=upper)


def should_stop(audit: AnytimeAudit, *, above: float | None = None, width: float | None = None) -> bool:
    """Whether ε > `above` is shown, or the interval is no wider than `width`; False where neither is asked."""
    shown = above is not None and audit.epsilon_lower > above
    return shown or (width is not None and audit.epsilon_upper - audit.epsilon_lower <= width)


def estimate(audit: AnytimeAudit) -> Estimate:
    """The verdict at this moment, valid whatever made the audit stop here."""
    counted = audit.trials_d > 0 and audit.trials_d_prime > 0
    first = audit.counters[0]
    pilots = f"the first {audit.pilot_d} trials of D and {audit.pilot_d_prime} of D' chose the thresholds"
    return Estimate(
        method="anytime",
        epsilon_lower=audit.epsilon_lower,
        epsilon_point=point(first, audit.trials_d, audit.trials_d_prime, audit.delta) if counted else None,
        epsilon_upper=audit.epsilon_upper,
        delta=audit.delta,
        confidence=audit.confidence,
        valid=True,
        assumptions=(
            INDEPENDENT,
            f"{pilots} and are not counted",
            "the bounds hold at all times together",
            f"the evidence is averaged over {len(audit.counters)} thresholds; the counts are those of the first",
        ),
        threshold=first.threshold,
        false_positives=first.false_positives,
        false_negatives=first.false_negatives,
        trials_d=audit.trials_d,
        trials_d_prime=audit.trials_d_prime,
    )


def lower_now(audit: AnytimeAudit) -> float:
    """The largest ε such that less is refuted at this moment, by the evidence averaged over thresholds."""
    needed = -math.log1p(-audit.confidence)

    def excess(epsilon: float) -> float:
        return float(logsumexp(_evidence(audit, epsilon))) - needed

    points = [point(counter, audit.trials_d, audit.trials_d_prime, audit.delta) for counter in audit.counters]
    return _last_refuted(excess, 0.0, min(max(points), LARGEST_EPSILON))


def upper_now(audit: AnytimeAudit) -> float:
    """The smallest ε such that it is refuted at this moment that the first threshold is worth more."""
    counter, n, m = audit.counters[0], audit.trials_d, audit.trials_d_prime
    needed = -math.log1p(-audit.confidence)

    def excess(epsilon: float) -> float:
        return log_evidence(counter, n, m, epsilon, audit.delta, against_less=False) - needed

    upper = _last_refuted(excess, LARGEST_EPSILON, min(point(counter, n, m, audit.delta), LARGEST_EPSILON))
    return math.inf if upper >= LARGEST_EPSILON else upper


def _evidence(audit: AnytimeAudit, epsilon: float) -> np.ndarray:
    """Log evidence of each threshold against less than ε, its weight included."""
    n, m, delta = audit.trials_d, audit.trials_d_prime, audit.delta
    logs = [log_evidence(counter, n, m, epsilon, delta, against_less=True) for counter in audit.counters]
    return np.array(logs) + _log_weights(audit)


def _log_weights(audit: AnytimeAudit) -> np.ndarray:
    """Half of the weight on the first threshold, the rest shared; all of it where there is but one."""
    others = len(audit.counters) - 1
    return np.log([0.5] + [0.5 / others] * others) if others else np.zeros(1)


def _last_refuted(log_excess, far: float, point: float) -> float:
    """The ε between `far` and the observed one at which refutation ends; `far` where it never begins."""
    if log_excess(far) <= 0:
        return far
    if log_excess(point) >= 0:
        return point
    return brentq(log_excess, far, point, xtol=1e-7)


def _posterior(errors: int, trials: int) -> tuple[float, float]:
    return errors + 0.5, trials - errors + 0.5
