"""Simultaneous upper bands for a rate at every threshold at once, with exactly computed coverage.

Write V_(1) <= ... <= V_(n) for the ordered true rates at the n observed scores: uniform order statistics when
the scores are continuous, stochastically larger when they are tied. A threshold with k errors has a true
rate of at most V_(k+1), so "V_(k+1) <= b_k for all k" bounds every rate at once. The boundary has equal
local levels (Berk and Jones 1979) at a fixed grid of counts, Pr[V_(k+1) > b_k] = γ, and between grid points
takes the next one's value; γ is the largest for which the probability of leaving the band anywhere is at most
`failure`. Fewer counts in the grid leave more of the failure probability to each of them.
"""

import functools

import numpy as np
from jaxtyping import Float, Int
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq
from scipy.special import betaincinv, gammaln
from scipy.stats import poisson

STATEMENT = (
    "both rates stay inside simultaneous bands over all thresholds: equal local levels on a fixed grid of "
    "error counts, with the joint coverage of each band computed exactly"
)
GROWTH = 1.3


def grid(trials: int) -> Int[np.ndarray, "j"]:
    """The error counts at which the band is drawn: ever coarser, relative to the rate's own deviation."""
    counts, step = [0], 1.0
    while counts[-1] < trials - 1:
        step = max(1.0, 0.5 * np.sqrt(counts[-1]) * GROWTH)
        counts.append(min(int(np.ceil(counts[-1] + step)), trials - 1))
    return np.array(counts[:-1] if trials > 1 else counts)


def crossing_probability(
    counts: Int[np.ndarray, "j"], boundary: Float[np.ndarray, "j"], trials: int
) -> float:
    """Pr[V_(k+1) > b_k for some grid count k] for uniform order statistics of `trials`.

    V_(k+1) <= b_k says that at least k + 1 of the points lie below b_k. As b grows the number below is that
    of a Poisson process given its total, so one convolution a grid point carries its distribution along.
    """
    top = int(counts[-1]) + 1  # once k_max + 1 points lie below, no later condition can fail
    size = next_fast_len(2 * top + 1)
    weights, failed, previous = np.zeros(top + 1), 0.0, 0.0
    weights[0] = 1.0
    below = np.arange(top + 1)
    for count, height in zip(counts, boundary, strict=True):
        step = poisson.pmf(below, trials * (height - previous))
        moved = np.maximum(irfft(rfft(weights, size) * rfft(step, size), size)[: top + 1], 0.0)
        # Given j points below b the rest fall above it: Poisson pmf of n − j over pmf of n.
        lost = below[: count + 1]
        failed += float(np.sum(moved[: count + 1] * _rest(trials, lost, height)))
        moved[: count + 1] = 0.0
        weights, previous = moved, height
    return failed


def _rest(trials: int, below: np.ndarray, height: float) -> np.ndarray:
    """Pr[Poisson(n(1−b)) = n − j] / Pr[Poisson(n) = n]."""
    left, mean = trials - below, trials * (1 - height)
    return np.exp(
        left * np.log(mean)
        - mean
        - gammaln(left + 1)
        - trials * np.log(trials)
        + trials
        + gammaln(trials + 1)
    )


@functools.lru_cache(maxsize=64)
def local_level(trials: int, failure: float) -> float:
    """The largest local level γ at which the whole band fails with probability at most `failure`."""
    counts = grid(trials)

    def excess(log_level):
        return np.log(
            crossing_probability(counts, _boundary(counts, trials, np.exp(log_level)), trials) / failure
        )

    level = np.exp(brentq(excess, np.log(failure / len(counts)) - 1e-9, np.log(failure), xtol=1e-6))
    return float(level * (1 - 1e-5))  # to the safe side of the root


def _boundary(counts, trials, level):
    return betaincinv(counts + 1.0, trials - counts + 0.0, 1 - level)


@functools.lru_cache(maxsize=64)
def upper_band(trials: int, failure: float) -> Float[np.ndarray, "n+1"]:
    """Upper bounds on the rate, by number of errors 0 … n, that hold at all thresholds with 1 − failure."""
    counts = grid(trials)
    boundary = np.append(_boundary(counts, trials, local_level(trials, failure)), 1.0)
    band = boundary[np.searchsorted(counts, np.arange(trials + 1), side="left")]
    band.flags.writeable = False
    return band
