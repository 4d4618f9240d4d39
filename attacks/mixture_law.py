"""Exact distribution of the watermark's summed log-likelihood ratio when nothing leaks into it.

The score is a sum of T independent terms, each an increasing function of one projection s_t whose law is known in both
worlds. At q = 1 it is normal; otherwise the law of a term is laid on a grid and convolved T times (FFT).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

GRID = 2**20
REACH = 14.0
"""Standard deviations of the projection, and of the score, that the grids cover: what is left out is below 1e-40."""


@dataclass(frozen=True, eq=False)
class Law:
    """Cumulative distributions of the score under D and D' at ascending values, linear between them.

    Attributes:
        values, below_d, below_d_prime: `[k]`.
    """

    values: Float[np.ndarray, "k"]
    below_d: Float[np.ndarray, "k"]
    below_d_prime: Float[np.ndarray, "k"]

    def cdf(self, scores, world: int) -> Float[np.ndarray, "..."]:
        """Pr[score <= x] in this world."""
        return np.interp(scores, self.values, self.below_d_prime if world else self.below_d)


@functools.lru_cache(maxsize=4)
def mixture_law(noise_multiplier: float, sampling_rate: float, steps: int, adjacency: str) -> Law:
    """The score's law for noise multiplier σ, sampling rate q and T steps.

    >>> law = mixture_law(2.0, 1.0, 4, "add_remove")  # N(∓1/2, 1)
    >>> round(float(law.cdf(0.5, 0)), 6), round(float(law.cdf(0.5, 1)), 6)
    (0.841345, 0.5)
    """
    if sampling_rate == 1:
        return _normal(noise_multiplier, steps, adjacency)
    return _convolved(noise_multiplier, sampling_rate, steps, adjacency)


def _normal(sigma: float, steps: int, adjacency: str) -> Law:
    """Σ_t (2s_t − 1)/(2σ²), or 2Σ_t s_t/σ²: normal with mean ∓d²/2 and variance d²."""
    distance = (2.0 if adjacency == "replace_one" else 1.0) * math.sqrt(steps) / sigma
    quantiles = np.linspace(-REACH - distance, REACH + distance, GRID // 16)
    return Law(quantiles * distance, ndtr(quantiles + distance / 2), ndtr(quantiles - distance / 2))


def _convolved(sigma: float, rate: float, steps: int, adjacency: str) -> Law:
    signed = adjacency == "replace_one"
    shifts = np.linspace(-REACH * sigma - signed, REACH * sigma + 1, GRID)  # projections, equally spaced
    terms = _log_present(shifts, rate, sigma) - (_log_present(-shifts, rate, sigma) if signed else 0.0)
    edges = np.concatenate([[-np.inf], (shifts[1:] + shifts[:-1]) / 2, [np.inf]])
    means = ((-1.0 if signed else 0.0), 1.0)
    masses = [
        np.diff((1 - rate) * ndtr(edges / sigma) + rate * ndtr((edges - mean) / sigma)) for mean in means
    ]
    moments = [(mass @ terms, mass @ terms**2) for mass in masses]
    deviation = max(math.sqrt(steps * (second - first**2)) for first, second in moments)
    low = steps * moments[0][0] - REACH * deviation - np.ptp(terms)
    high = steps * moments[1][0] + REACH * deviation + np.ptp(terms)
    spacing = (high - low) / GRID
    first = math.floor(low / spacing)
    values = spacing * (first + np.arange(GRID))
    below = [np.cumsum(_power(terms / spacing, mass, steps, first)) for mass in masses]
    return Law(values + spacing / 2, *(np.clip(cdf, 0.0, 1.0) for cdf in below))


def _log_present(projection: np.ndarray, rate: float, sigma: float) -> np.ndarray:
    return np.logaddexp(math.log1p(-rate), math.log(rate) + (2 * projection - 1) / (2 * sigma**2))


def _power(positions, mass, steps: int, first: int) -> Float[np.ndarray, "k"]:
    """Masses of the sum of `steps` terms on the grid from `first`; each term's mass is split to keep its mean.

    Args:
        positions: of the values of one term, in grid spacings.
    """
    cell = np.floor(positions)
    part = positions - cell
    base = int(cell.min())
    near = (cell - base).astype(int) % GRID
    one = np.bincount(near, mass * (1 - part), GRID) + np.bincount((near + 1) % GRID, mass * part, GRID)
    many = np.fft.irfft(np.fft.rfft(one) ** steps, GRID)
    return np.roll(many, (steps * base - first) % GRID)
