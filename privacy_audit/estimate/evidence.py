"""Evidence about ε that may be looked at at any time, from error counts at one threshold."""

import dataclasses
import math

from scipy.optimize import brentq
from scipy.special import betaln

from privacy_audit.estimate.clopper_pearson import epsilon_from_rates

_TINY = 1e-15


@dataclasses.dataclass(frozen=True)
class Counter:
    """Errors at one threshold, and the prior on both rates.

    Attributes:
        threshold: Scores at or above it are guessed D'.
        prior_d: Beta shapes for the false positive rate.
        prior_d_prime: Beta shapes for the false negative rate.
        false_positives: Trials of D at or above it.
        false_negatives: Trials of D' below it.
    """

    threshold: float
    prior_d: tuple[float, float]
    prior_d_prime: tuple[float, float]
    false_positives: int = 0
    false_negatives: int = 0


def point(counter: Counter, n: int, m: int, delta: float) -> float:
    """ε at the observed rates."""
    return float(epsilon_from_rates(counter.false_positives / n, counter.false_negatives / m, delta))


def log_evidence(
    counter: Counter, n: int, m: int, epsilon: float, delta: float, *, against_less: bool
) -> float:
    """log of the average likelihood over the largest one among the rates with at most (or at least) this ε.

    Under any such rates its exponential exceeds 1/α at some time with probability α at most. At most ε means
    beyond neither line, so either half-plane contains those rates; at least ε means beyond one of them, so
    both half-planes are needed.
    """
    fp, fn = counter.false_positives, counter.false_negatives
    slope, limit = math.exp(epsilon), 1 - delta
    likelihoods = [
        best_in_half_plane(slope, limit, against_less, *counts) for counts in ((fp, n, fn, m), (fn, m, fp, n))
    ]
    average = _log_mixture(fp, n, *counter.prior_d) + _log_mixture(fn, m, *counter.prior_d_prime)
    return average - (min(likelihoods) if against_less else max(likelihoods))


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


def _log_mixture(errors: int, trials: int, a: float, b: float) -> float:
    return float(betaln(errors + a, trials - errors + b) - betaln(a, b))


def _log_likelihood(errors: int, trials: int, rate: float) -> float:
    yes = errors * math.log(rate) if errors else 0.0
    return yes + ((trials - errors) * math.log1p(-rate) if trials > errors else 0.0)
