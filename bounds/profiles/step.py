"""The privacy loss of one Poisson-subsampled Gaussian step, on a grid and rounded to the safe side.

Connect-the-dots (Doroshenko et al. 2022): the mass of each grid interval goes to its two ends such that both
worlds keep theirs, which dominates the true loss. The masses are computed interval by interval, so that far tails
keep their relative accuracy and the total stays 1; as differences of δ, dp_accounting's way, both drift with steps.
"""

import dataclasses
import functools
import math

import numpy as np
from scipy import special

from .base import REPLACE_ONE

# log of the mass beyond the grid on either side. Steps times this is the smallest δ that can be certified.
_LOG_CUT = -80.0
# Grid points per standard deviation of the loss: ε comes out about 1e-4 above its limit.
_POINTS_PER_DEVIATION = 30
# Rare but enormous losses would ask for more; coarser is looser, still safe.
_MOST_POINTS = 300_000


@dataclasses.dataclass(frozen=True, eq=False)
class StepLoss:
    """Pr[loss = interval·(lowest + i)] = probabilities[i]; `infinite` is the mass beyond the grid."""

    probabilities: np.ndarray
    lowest: int
    interval: float
    infinite: float

    @functools.cached_property
    def losses(self) -> np.ndarray:
        """Loss at each grid point."""
        return (self.lowest + np.arange(len(self.probabilities))) * self.interval

    @functools.cached_property
    def log_probabilities(self) -> np.ndarray:
        """log of `probabilities`: a tilt that is enormous beside them under- and overflows otherwise."""
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities)

    def log_moment(self, tilt: float) -> float:
        """log E exp(tilt·loss) of the finite part."""
        terms = self.log_probabilities + tilt * self.losses
        largest = terms.max()
        return float(largest + math.log(np.sum(np.exp(terms - largest))))

    def tilted(self, tilt: float) -> tuple[np.ndarray, float, float, float]:
        """Probabilities of the tilted loss, their log moment, mean and standard deviation."""
        log_moment = self.log_moment(tilt)
        weights = np.exp(self.log_probabilities + tilt * self.losses - log_moment)
        # Plain sums: BLAS threads cost more here than they save.
        mean = np.sum(weights * self.losses)
        return weights, log_moment, mean, math.sqrt(np.sum(weights * (self.losses - mean) ** 2))


def step_losses(noise_multiplier: float, sampling_rate: float, adjacency: str) -> list[StepLoss]:
    """The loss of one step for every ordered pair of neighbours that matters.

    Present: (1-q)·N(0, σ²) + q·N(1, σ²). Absent: N(0, σ²). Replaced: (1-q)·N(0, σ²) + q·N(-1, σ²), whose two
    directions mirror each other.
    """
    sigma, q = noise_multiplier, sampling_rate
    reach = 1 + sigma * -special.ndtri_exp(_LOG_CUT)
    range_ = _added_loss(reach, sigma, q) - _added_loss(-reach, sigma, q)
    interval = max(loss_deviation(sigma, q) / _POINTS_PER_DEVIATION, range_ / _MOST_POINTS)
    if adjacency == REPLACE_ONE:
        x, lowest = _grid(_replaced_loss, _replaced_inverse, sigma, q, interval, reach)
        present, replaced = (_masses(x, q, mean, sigma) for mean in (1.0, -1.0))
        return [_connect(present, replaced, lowest, interval)]
    x, lowest = _grid(_added_loss, _added_inverse, sigma, q, interval, reach)
    present, absent = _masses(x, q, 1.0, sigma), _masses(x, 0.0, 0.0, sigma)
    highest = lowest + len(x) - 1
    return [
        _connect(present, absent, lowest, interval),
        _connect(absent[::-1], present[::-1], -highest, interval),
    ]


def _connect(here: np.ndarray, there: np.ndarray, lowest: int, interval: float) -> StepLoss:
    """Splits interval masses so that sums of p and of p·e^-loss are kept; outer masses are rounded up.

    Args:
        here: mass below the grid, in each of its intervals, and above it, in the world that is observed.
        there: the same in the neighbouring world.
        lowest: index of the first grid point.
        interval: distance of grid points.
    """
    inside, neighbour = here[1:-1], there[1:-1]
    left = (lowest + np.arange(len(inside))) * interval
    with np.errstate(divide="ignore"):
        expected = np.exp(left + np.log(neighbour))
    upper = np.clip((inside - expected) / -math.expm1(-interval), 0.0, inside)
    probabilities = np.zeros(len(inside) + 1)
    probabilities[1:] += upper
    probabilities[:-1] += inside - upper
    probabilities[0] += here[0]
    return StepLoss(probabilities, lowest, interval, max(float(here[-1]), math.exp(_LOG_CUT)))


def _grid(loss, inverse, sigma, q, interval, reach) -> tuple[np.ndarray, int]:
    """Observations at which the loss crosses the grid points, and the index of the lowest grid point."""
    ends = loss(np.array([-reach, reach]), sigma, q) / interval
    lowest, highest = math.floor(ends[0]), math.ceil(ends[1])
    return inverse(np.arange(lowest, highest + 1) * interval, sigma, q), lowest


def _masses(x: np.ndarray, sampling_rate: float, mean: float, sigma: float) -> np.ndarray:
    """Mass of (1-q)·N(0, σ²) + q·N(mean, σ²) below, between and above the sorted x."""
    edges = np.concatenate([[-np.inf], x, [np.inf]])
    rest = (1 - sampling_rate) * _normal_masses(edges / sigma)
    return rest + sampling_rate * _normal_masses((edges - mean) / sigma)


def _normal_masses(z: np.ndarray) -> np.ndarray:
    """Standard normal mass between neighbouring z, from whichever tail is the smaller."""
    below, above = special.ndtr(z), special.ndtr(-z)
    return np.maximum(np.where(z[:-1] > 0, above[:-1] - above[1:], below[1:] - below[:-1]), 0.0)


def _added_loss(x, sigma, q):
    return np.logaddexp(math.log1p(-q), math.log(q) + (2 * x - 1) / (2 * sigma**2))


def _added_inverse(loss, sigma, q):
    """Where the loss log(1 - q + q·e^((2x-1)/2σ²)) is reached: nowhere (-inf) below log(1 - q)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(loss > 1, loss + np.log1p((q - 1) * np.exp(-loss)), np.log(np.expm1(loss) + q))
    ratio = np.where(np.isnan(ratio), -np.inf, ratio)
    return 0.5 + sigma**2 * (ratio - math.log(q))


def _replaced_loss(x, sigma, q):
    return _added_loss(x, sigma, q) - _added_loss(-x, sigma, q)


def _replaced_inverse(loss, sigma, q):
    """x = σ²(loss/2 + asinh(e^(1/2σ²)·(1-q)/q·sinh(loss/2))), by the symmetry of the two worlds."""
    half = np.abs(loss) / 2
    with np.errstate(divide="ignore"):
        log_sinh = half + np.log(-np.expm1(-2 * half) / 2)
    log_argument = 1 / (2 * sigma**2) + math.log1p(-q) - math.log(q) + log_sinh
    near = np.arcsinh(np.exp(np.minimum(log_argument, 300)))
    asinh = np.where(log_argument > 300, log_argument + math.log(2), near)
    return sigma**2 * np.sign(loss) * (half + asinh)


def loss_deviation(noise_multiplier: float, sampling_rate: float) -> float:
    """Standard deviation of one step's loss when the record is there, by the midpoint rule over ±9σ."""
    z = np.linspace(-9, 9, 2001)
    weights = np.exp(-0.5 * z**2)
    weights /= weights.sum()
    loss = _added_loss(noise_multiplier * z + np.array([[0.0], [1.0]]), noise_multiplier, sampling_rate)
    mixed = np.array([[1 - sampling_rate], [sampling_rate]]) * weights
    mean = (mixed * loss).sum()
    return math.sqrt((mixed * (loss - mean) ** 2).sum())
