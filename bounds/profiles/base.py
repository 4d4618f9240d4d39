"""What every privacy profile answers, from the one function that each mechanism supplies: log δ(ε), ε >= 0."""

import abc
import functools
from collections.abc import Callable

import numpy as np

ADD_REMOVE = "add_remove"
REPLACE_ONE = "replace_one"
_ADJACENCIES = (ADD_REMOVE, REPLACE_ONE)

# Halving an interval of doubles more often than this changes nothing.
_BISECTIONS = 200
_LARGEST_EPSILON = 1e6


def check_adjacency(adjacency: str) -> None:
    """Raises ValueError unless `adjacency` is one of the two names."""
    if adjacency not in _ADJACENCIES:
        raise ValueError(f"adjacency must be 'add_remove' or 'replace_one', got {adjacency!r}")


def check_at_least(name: str, value: float, least: float = 0.0) -> None:
    """Raises ValueError unless value >= least (NaN fails; infinity passes)."""
    if not value >= least:
        raise ValueError(f"{name} must be >= {least:g}, got {value}")


def check_probabilities(name: str, values) -> np.ndarray:
    """`values` as a float64 array; raises ValueError unless all lie in [0, 1]."""
    values = np.asarray(values, dtype=np.float64)
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        raise ValueError(f"{name} must lie in [0, 1], got {values[wrong].flat[0]}")
    return values


def freeze(profile: "PrivacyProfile", **fields) -> None:
    """Sets fields of a frozen object whose constructor says `epsilon`, a name that the method has taken."""
    for name, value in fields.items():
        object.__setattr__(profile, name, value)


class PrivacyProfile(abc.ABC):
    """A mechanism's privacy: δ(ε), its inverse and the trade-off curve f.

    A subclass is a frozen dataclass with a field `adjacency` and supplies `_log_delta`, where δ(ε) is the
    largest hockey-stick divergence over *ordered* pairs of neighbours (so both directions are covered).
    """

    adjacency: str

    @abc.abstractmethod
    def _log_delta(self, epsilon: np.ndarray) -> np.ndarray:
        """log δ(ε) for finite ε >= 0, elementwise; never below the truth."""

    def _log_delta_at_infinity(self) -> float:
        """log of the probability that the privacy loss is infinite."""
        return -np.inf

    def log_delta(self, epsilon):
        """log δ(ε): as `delta`, but exact where δ itself would round to 0 or 1.

        Args:
            epsilon: float or array; negative values and ±inf are allowed.

        Returns:
            Array of the shape of `epsilon` (a NumPy scalar for a scalar), in [-inf, 0].
        """
        epsilon = _as_epsilon(epsilon)
        positive = np.where(np.isfinite(epsilon), np.abs(epsilon), 0.0)
        log_delta = np.minimum(self._log_delta(positive), 0.0)
        # δ(-ε) = 1 - e^-ε (1 - δ(ε)): exact, by complementing the event and swapping the neighbours.
        with np.errstate(divide="ignore"):
            mirrored = np.log1p(-np.exp(-positive) * -np.expm1(log_delta))
        log_delta = np.where(epsilon < 0, mirrored, log_delta)
        log_delta = np.where(np.isposinf(epsilon), self._log_delta_at_infinity(), log_delta)
        return np.where(np.isneginf(epsilon), 0.0, log_delta)[()]

    def delta(self, epsilon):
        """Smallest δ with (ε, δ)-DP under `self.adjacency`.

        Args:
            epsilon: float or array; negative values and ±inf are allowed.

        Returns:
            δ in [0, 1], of the shape of `epsilon`.
        """
        return np.exp(self.log_delta(epsilon))

    def epsilon(self, delta):
        """Smallest ε >= 0 with (ε, δ)-DP; inf where no finite ε below 10⁶ will do.

        Args:
            delta: float or array in [0, 1].

        Returns:
            ε of the shape of `delta`, such that `self.delta(ε) <= delta`.
        """
        delta = check_probabilities("delta", delta)
        with np.errstate(divide="ignore"):
            return self._epsilon(np.log(delta))[()]

    def _epsilon(self, log_delta: np.ndarray) -> np.ndarray:
        return smallest_epsilon(self.log_delta, log_delta)

    def trade_off(self, false_positive_rate):
        """Trade-off curve f: no test with this false-positive rate has a smaller false-negative rate.

        Args:
            false_positive_rate: float or array in [0, 1].

        Returns:
            Lower bound on the false-negative rate, of the same shape (Dong, Roth and Su 2022, proposition 6).
        """
        rate = check_probabilities("false_positive_rate", false_positive_rate)
        return np.clip(self._trade_off(rate), 0.0, 1.0 - rate)[()]

    def _trade_off(self, rate: np.ndarray) -> np.ndarray:
        """f(α) >= max(1 - δ - e^ε α, e^-ε (1 - δ - α)) for every ε; a grid of ε errs low, hence is safe."""
        epsilon, kept = _trade_off_table(self)
        rate = rate[..., None]
        with np.errstate(over="ignore", invalid="ignore"):
            steep = kept - np.exp(epsilon) * rate
        flat = np.exp(-epsilon) * (kept - rate)
        return np.fmax(np.max(np.fmax(steep, flat), axis=-1), 0.0)


@functools.lru_cache(maxsize=32)
def _trade_off_table(profile: PrivacyProfile) -> tuple[np.ndarray, np.ndarray]:
    """A grid of ε, dense near 0, and 1 - δ(ε) on it."""
    largest = np.fmin(profile.epsilon(1e-8), 700.0)
    epsilon = np.unique(np.concatenate([[0.0, largest], np.geomspace(1e-4, 1.0, 400) * largest]))
    return epsilon, -np.expm1(profile.log_delta(epsilon))


def smallest_epsilon(bound: Callable[[np.ndarray], np.ndarray], log_delta: np.ndarray) -> np.ndarray:
    """Smallest ε in [0, 10⁶] at which a decreasing bound is at most log δ, by bisection from above; else inf."""
    low = np.zeros_like(log_delta)
    high = np.ones_like(log_delta)
    for _ in range(20):
        short = bound(high) > log_delta
        if not short.any():
            break
        high = np.where(short, np.minimum(2 * high, _LARGEST_EPSILON), high)
    unreachable = bound(high) > log_delta
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if np.all(high - low <= 1e-13 * high):
            break
        enough = bound(middle) <= log_delta
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    high = np.where(bound(np.zeros_like(high)) <= log_delta, 0.0, high)
    return np.where(unreachable, np.inf, high)


def _as_epsilon(epsilon) -> np.ndarray:
    epsilon = np.asarray(epsilon, dtype=np.float64)
    if np.isnan(epsilon).any():
        raise ValueError("epsilon must be a number, got nan")
    return epsilon


def randomized_trade_off(rate: np.ndarray, epsilon: float, delta: float = 0.0) -> np.ndarray:
    """Trade-off curve of (ε, δ)-DP: max(0, 1 - δ - e^ε α, e^-ε (1 - δ - α))."""
    left = 1.0 - delta - rate
    with np.errstate(over="ignore", invalid="ignore"):
        steep = np.where(rate == 0, 1.0 - delta, 1.0 - delta - np.exp(epsilon) * rate)
    return np.maximum(np.maximum(steep, np.exp(-epsilon) * left), 0.0)
