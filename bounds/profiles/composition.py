"""The privacy loss of many steps, composed exactly far into the tail.

dp_accounting's composition stops near δ = 1e-12, where the rounding of the FFT (to either side) takes over, and
at 1e-15, its truncation. Here the loss is tilted exponentially before the FFT, so that the bulk of the tilted sum
lies at the ε asked for, and every error is added: δ(ε) is an upper bound that falls in ε and follows the tail.
"""

import dataclasses
import functools
import math

import numpy as np
from scipy import fft

from .step import StepLoss, step_losses

# Mass of the tilted sum that may fall outside the FFT's window, as a log.
_LOG_WINDOW = -32.0
_MOST_TILTS = 16
# Tilt times the largest loss of one step.
_STRONGEST_TILT = 700.0
_LONGEST_WINDOW = 2**24


@dataclasses.dataclass(frozen=True, eq=False)
class TiltedTail:
    """One upper bound on log δ(ε), sharp where the tilted sum has its bulk.

    With A, B the sums of Pr[loss = l] and of Pr[loss = l]·e^-l over l > ε, δ(ε) = A - e^ε B, plus errors.
    """

    losses: np.ndarray
    log_a: np.ndarray
    log_b: np.ndarray
    tilt: float
    log_error: float
    log_infinite: float

    def log_delta(self, epsilon: np.ndarray) -> np.ndarray:
        """The bound at each ε >= 0; decreasing in ε."""
        first = np.searchsorted(self.losses, epsilon, side="right")
        log_a = self.log_a[first]
        with np.errstate(divide="ignore", invalid="ignore"):
            kept = log_a + np.log(
                np.maximum(-np.expm1(np.minimum(epsilon + self.log_b[first] - log_a, 0.0)), 0.0)
            )
        kept = np.where(np.isneginf(log_a), -np.inf, kept)
        return np.logaddexp(np.logaddexp(kept, self._error(epsilon)), self.log_infinite)

    def _error(self, epsilon: np.ndarray) -> np.ndarray:
        """log of what rounding and the window can hide at each ε."""
        return self.log_error - self.tilt * epsilon


@dataclasses.dataclass(frozen=True, eq=False)
class OneDirection:
    """The composed loss for one ordered pair of neighbours."""

    step: StepLoss
    steps: int

    @functools.lru_cache(maxsize=_MOST_TILTS)  # noqa: B019
    def tail(self, index: int) -> TiltedTail:
        """The bound of tilt `index`: 0 is no tilt, each further one moves the bulk by four deviations."""
        return compose(self.step, self.steps, self._tilt(index))

    @functools.lru_cache(maxsize=_MOST_TILTS)  # noqa: B019
    def _tilt(self, index: int) -> float:
        if index == 0:
            return 0.0
        before = self._tilt(index - 1)
        _, _, mean, deviation = self.step.tilted(before)
        goal = mean + 4 * deviation / math.sqrt(self.steps)
        low, high = before, _STRONGEST_TILT / abs(self.step.losses[-1])
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.step.tilted(middle)[2] < goal else (low, middle)
        return high

    def _reach(self, index: int) -> float:
        """Largest ε at which tilt `index` is sharp: its error is then below 1e-5 of δ."""
        _, _, mean, deviation = self.step.tilted(self._tilt(index))
        return self.steps * mean + 5 * math.sqrt(self.steps) * deviation

    def log_delta(self, epsilon: np.ndarray, floor: float) -> np.ndarray:
        """Upper bound on log δ(ε): the least over all tilts up to the first that reaches ε, hence falling in ε."""
        best = self.tail(0).log_delta(epsilon)
        for index in range(_MOST_TILTS - 1):
            beyond = (best > floor) & (epsilon > self._reach(index))
            if not beyond.any() or len(self.tail(index).losses) > _LONGEST_WINDOW:
                break
            best = np.where(beyond, np.minimum(best, self.tail(index + 1).log_delta(epsilon)), best)
        return best


@dataclasses.dataclass(frozen=True, eq=False)
class ComposedLoss:
    """The composed loss in every direction that the adjacency allows."""

    directions: tuple[OneDirection, ...]

    def log_delta(self, epsilon: np.ndarray, floor: float = -np.inf) -> np.ndarray:
        """Upper bound on log δ(ε) for finite ε >= 0; below `floor` it may be looser, which spares work."""
        return functools.reduce(
            np.maximum, (d.log_delta(np.asarray(epsilon), floor) for d in self.directions)
        )

    def log_infinite(self) -> float:
        """log of the mass that the grid could not place."""
        return max(d.tail(0).log_infinite for d in self.directions)


def compose_gaussian(
    noise_multiplier: float, sampling_rate: float, steps: int, adjacency: str
) -> ComposedLoss:
    """The loss of `steps` Poisson-subsampled Gaussian steps under the stated adjacency."""
    return ComposedLoss(
        tuple(OneDirection(step, steps) for step in step_losses(noise_multiplier, sampling_rate, adjacency))
    )


def compose(step: StepLoss, steps: int, tilt: float) -> TiltedTail:
    """Composes by one FFT of the tilted loss, adding what rounding and truncation may have taken away."""
    weights, log_moment, mean, deviation = step.tilted(tilt)
    first, last = _window(step, steps, tilt, log_moment, mean, deviation)
    length = fft.next_fast_len(max(last - first + 1, len(weights)), real=True)
    tilted = fft.irfft(fft.rfft(weights, length) ** steps, length)
    tilted = np.maximum(np.roll(tilted, -(first - steps * step.lowest))[: last - first + 1], 0.0)
    losses = np.arange(first, last + 1) * step.interval
    with np.errstate(divide="ignore"):
        log_mass = np.log(tilted) + steps * log_moment - tilt * losses
    error = 1e-14 + steps * 2.0**-52 + 2 * math.exp(_LOG_WINDOW)
    return TiltedTail(
        losses,
        _suffix(log_mass),
        _suffix(log_mass - losses),
        tilt,
        steps * log_moment + math.log(error),
        math.log(-math.expm1(steps * math.log1p(-step.infinite))),
    )


def _suffix(log_mass: np.ndarray) -> np.ndarray:
    """log of the sums over i >= first, with an empty sum at the end."""
    return np.append(np.logaddexp.accumulate(log_mass[::-1])[::-1], -np.inf)


def _window(step, steps, tilt, log_moment, mean, deviation) -> tuple[int, int]:
    """Grid range that holds the tilted sum up to exp(_LOG_WINDOW) on each side, by Chernoff's bound."""
    largest = step.lowest + len(step.probabilities) - 1
    first, last = steps * step.lowest, steps * largest
    spread = max(math.sqrt(steps) * deviation, step.interval)
    for order in np.array([0.1, 0.3, 1.0, 2.0, 4.0, 7.0, 10.0, 14.0]) / spread:
        up = (steps * (step.log_moment(tilt + order) - log_moment) - _LOG_WINDOW) / order
        down = (steps * (step.log_moment(tilt - order) - log_moment) - _LOG_WINDOW) / order
        last = min(last, math.ceil(up / step.interval))
        first = max(first, math.floor(-down / step.interval))
    return first, last
