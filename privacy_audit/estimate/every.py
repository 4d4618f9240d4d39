"""Every threshold at once: ε from ranks, with the correction for the choice computed, not bounded.

Let TP_k be the number of D' scores above the (k+1)-th largest D score: the true positives of the most
generous threshold with k false positives. If the mechanism is (ε, δ)-DP, the true positive rate at a false
positive rate a is at most min(1, e^ε·a + δ) at every threshold. Couple both worlds by their quantiles: all
TP_k together are then at most what they are for one pair of distributions, in which D's levels are uniform
on [0, 1] and D's' have that line as their distribution function. So the largest deviation over a grid of k
has a known null distribution whatever the scores are, and whether they are tied. Its quantile is simulated
for (n, m, ε, δ) with a fixed seed.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr

STATEMENT = (
    "all thresholds are corrected for: the largest deviation over them is compared with its simulated "
    "quantile under the least favourable (ε, δ)-DP pair, three standard errors to the safe side"
)
SIMULATIONS = 20_000
SEED = 20210113
CALIBRATION_STEP = 0.05
LARGEST_EPSILON = 60.0


class Crossing(NamedTuple):
    """Where the ranks speak loudest: the local p-value there, k and TP_k."""

    local_p: float
    false_positives: int
    true_positives: int


@functools.lru_cache(maxsize=64)
def rank_grid(trials: int) -> tuple[int, ...]:
    """The false positive counts k that are looked at: steps of 1.5 standard deviations of k, or of k/8."""
    ranks = [0]
    while (following := ranks[-1] + max(1, round(1.5 * math.sqrt(ranks[-1])), ranks[-1] // 8)) < trials:
        ranks.append(following)
    return tuple(ranks)


def true_positives(scores_d: np.ndarray, scores_d_prime: np.ndarray, ranks) -> Int[np.ndarray, "j"]:
    """TP_k for each k of `ranks`: D' scores strictly above the (k+1)-th largest D score."""
    cuts = np.sort(scores_d)[len(scores_d) - 1 - np.asarray(ranks)]
    return len(scores_d_prime) - np.searchsorted(np.sort(scores_d_prime), cuts, side="right")


def local_p(
    ranks, hits, trials: int, trials_prime: int, epsilon: float, delta: float
) -> Float[np.ndarray, "..."]:
    """Nearly Pr[TP_k >= hits] under the least favourable pair.

    TP_k >= g says that the g-th of D's' uniforms lies below e^ε·V + δ, with V ~ Beta(k+1, n−k) and the other
    Beta(g, m−g+1); cube roots of both are nearly normal (Wilson and Hilferty 1931). Only the ordering of
    deviations rests on this, not their level.
    """
    level, level_hit = (np.asarray(ranks) + 1.0) / (trials + 1), np.maximum(hits, 0.5) / (trials_prime + 1)
    spread = (1 - level) / (level * (trials + 2)) / 9
    spread_hit = (1 - level_hit) / (level_hit * (trials_prime + 2)) / 9
    root = np.cbrt((np.exp(epsilon) * level + delta) / level_hit)
    z = (root * (1 - spread) - (1 - spread_hit)) / np.sqrt(spread_hit + root**2 * spread)
    return ndtr(z)


@functools.lru_cache(maxsize=8)
def _levels(trials: int) -> Float[np.ndarray, "s j"]:
    """Simulated V_(k+1) at the grid of k, by gamma increments."""
    rng = np.random.default_rng(SEED)
    ranks = np.asarray(rank_grid(trials))
    steps = np.append(np.diff(ranks, prepend=-1), trials - ranks[-1])
    sums = np.cumsum(rng.standard_gamma(steps, size=(SIMULATIONS, len(steps))), axis=1)
    return sums[:, :-1] / sums[:, -1:]


@functools.lru_cache(maxsize=4096)
def critical_level(trials: int, trials_prime: int, epsilon: float, delta: float, failure: float) -> float:
    """The local p-value that the least favourable pair reaches at some k, `failure` of the time at most."""
    rng = np.random.default_rng(SEED + 1)
    reach = np.minimum(np.exp(epsilon) * _levels(trials) + delta, 1.0)
    left, before, smallest = np.full(SIMULATIONS, trials_prime), np.zeros(SIMULATIONS), np.ones(SIMULATIONS)
    for rank, here in zip(rank_grid(trials), reach.T, strict=True):
        left = left - rng.binomial(left, np.clip((here - before) / np.maximum(1 - before, 1e-300), 0, 1))
        reached = local_p(rank, trials_prime - left, trials, trials_prime, epsilon, delta)
        smallest, before = np.minimum(smallest, reached), here
    safe = failure - 3 * math.sqrt(failure * (1 - failure) / SIMULATIONS)
    return float(np.sort(smallest)[max(math.floor(safe * SIMULATIONS) - 1, 0)])


def loudest(d, d_prime, epsilon: float, delta: float) -> Crossing:
    """The k of the grid at which these scores deviate most from (ε, δ)-DP."""
    ranks = np.asarray(rank_grid(len(d)))
    hits = true_positives(d, d_prime, ranks)
    reached = local_p(ranks, hits, len(d), len(d_prime), epsilon, delta)
    best = int(np.argmin(reached))
    return Crossing(float(reached[best]), int(ranks[best]), int(hits[best]))


def simultaneous_epsilon(d, d_prime, delta: float, failure: float) -> float:
    """The largest ε that the scores refute with `failure`, from D' scoring above D; 0 if none.

    Critical levels are simulated every `CALIBRATION_STEP` in ε; in between the smaller neighbour is taken.
    """
    trials, trials_prime = len(d), len(d_prime)

    def margin(epsilon: float) -> float:
        cell = int(epsilon / CALIBRATION_STEP)
        ends = (cell * CALIBRATION_STEP, (cell + 1) * CALIBRATION_STEP)
        critical = min(critical_level(trials, trials_prime, end, delta, failure) for end in ends)
        return loudest(d, d_prime, epsilon, delta).local_p - critical

    if margin(0.0) >= 0:
        return 0.0
    low, high = 0.0, CALIBRATION_STEP
    while loudest(d, d_prime, high, delta).local_p < failure and high < LARGEST_EPSILON:
        low, high = high, 2 * high
    low = low if margin(low) < 0 else 0.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if margin(middle) < 0 else (low, middle)
    return low
