"""ε-DP, (ε, δ)-DP and k-ary randomized response."""

import dataclasses

import numpy as np

from .base import (
    PrivacyProfile,
    check_adjacency,
    check_at_least,
    check_probabilities,
    freeze,
    randomized_trade_off,
)


@dataclasses.dataclass(frozen=True, init=False)
class PureDP(PrivacyProfile):
    """Any ε-DP mechanism: the worst one is binary randomized response.

    >>> float(PureDP(1.0, adjacency="replace_one").delta(1.0))
    0.0
    """

    pure_epsilon: float
    adjacency: str

    def __init__(self, epsilon: float, *, adjacency: str):
        check_at_least("epsilon", epsilon)
        check_adjacency(adjacency)
        freeze(self, pure_epsilon=float(epsilon), adjacency=adjacency)

    def _log_delta(self, epsilon):
        return _log_randomized_delta(epsilon, self.pure_epsilon)

    def _log_delta_at_infinity(self):
        return 0.0 if np.isposinf(self.pure_epsilon) else -np.inf

    def _epsilon(self, log_delta):
        return _randomized_epsilon(np.exp(log_delta), self.pure_epsilon)

    def _trade_off(self, rate):
        return randomized_trade_off(rate, self.pure_epsilon)


@dataclasses.dataclass(frozen=True, init=False)
class ApproximateDP(PrivacyProfile):
    """Any (ε, δ)-DP mechanism: the worst one reveals all with probability δ, else is randomized response.

    >>> float(ApproximateDP(1.0, 1e-5, adjacency="replace_one").epsilon(1e-5))
    1.0
    """

    stated_epsilon: float
    stated_delta: float
    adjacency: str

    def __init__(self, epsilon: float, delta: float, *, adjacency: str):
        check_at_least("epsilon", epsilon)
        check_probabilities("delta", delta)
        check_adjacency(adjacency)
        freeze(self, stated_epsilon=float(epsilon), stated_delta=float(delta), adjacency=adjacency)

    def _log_delta(self, epsilon):
        rest = np.exp(_log_randomized_delta(epsilon, self.stated_epsilon))
        with np.errstate(divide="ignore"):
            # At and beyond the stated ε this is the stated δ to the last bit.
            return np.where(
                rest > 0,
                np.log(self.stated_delta + (1 - self.stated_delta) * rest),
                np.log(self.stated_delta),
            )

    def _log_delta_at_infinity(self):
        if np.isposinf(self.stated_epsilon):
            return 0.0
        with np.errstate(divide="ignore"):
            return np.log(self.stated_delta)

    def _epsilon(self, log_delta):
        delta = np.exp(log_delta)
        # log and exp do not undo each other to the last bit.
        reached = log_delta >= self._log_delta_at_infinity()
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.clip((delta - self.stated_delta) / (1 - self.stated_delta), 0.0, 1.0)
        rest = np.nan_to_num(rest, nan=1.0)
        return np.where(reached, _randomized_epsilon(rest, self.stated_epsilon), np.inf)

    def _trade_off(self, rate):
        return randomized_trade_off(rate, self.stated_epsilon, self.stated_delta)


@dataclasses.dataclass(frozen=True, init=False)
class RandomizedResponse(PrivacyProfile):
    """Reports a symbol out of k truthfully with probability e^ε/(e^ε + k - 1), else one of the others at random.

    >>> float(RandomizedResponse(np.log(1.5), 2).trade_off(0.25))
    0.625
    """

    pure_epsilon: float
    k: int
    adjacency: str

    def __init__(self, epsilon: float, k: int, *, adjacency: str = "replace_one"):
        check_at_least("epsilon", epsilon)
        check_at_least("k", k, 2)
        if not float(k).is_integer():
            raise ValueError(f"k must be a whole number, got {k}")
        check_adjacency(adjacency)
        freeze(self, pure_epsilon=float(epsilon), k=int(k), adjacency=adjacency)

    def _log_delta(self, epsilon):
        # For ε >= 0 only the outcome "the true symbol" can be more likely than e^ε times the neighbour's.
        true = 1.0 / (1.0 + (self.k - 1) * np.exp(-self.pure_epsilon))
        with np.errstate(divide="ignore"):
            return np.log(true) + np.log(np.maximum(-np.expm1(epsilon - self.pure_epsilon), 0.0))

    def _log_delta_at_infinity(self):
        return 0.0 if np.isposinf(self.pure_epsilon) else -np.inf

    def _epsilon(self, log_delta):
        true = 1.0 / (1.0 + (self.k - 1) * np.exp(-self.pure_epsilon))
        with np.errstate(divide="ignore"):
            below = np.log1p(-np.minimum(np.exp(log_delta) / true, 1.0))
        return _rounded_up(np.maximum(self.pure_epsilon + below, 0.0), self.pure_epsilon)

    def _trade_off(self, rate):
        return _symmetric_response_trade_off(rate, self.pure_epsilon, self.k)


def _symmetric_response_trade_off(rate: np.ndarray, epsilon: float, k: int) -> np.ndarray:
    """Likelihood ratios e^ε, 1 and e^-ε give a curve of three straight pieces."""
    lie = np.exp(-epsilon) / (1.0 + (k - 1) * np.exp(-epsilon))
    if lie == 0.0:
        return np.zeros_like(rate)
    return np.interp(rate, [0.0, lie, (k - 1) * lie, 1.0], [1.0, (k - 1) * lie, lie, 0.0])


def _log_randomized_delta(epsilon: np.ndarray, bound: float) -> np.ndarray:
    """log of (e^bound - e^ε)_+/(e^bound + 1)."""
    if np.isposinf(bound):
        return np.zeros_like(epsilon)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(-np.expm1(epsilon - bound), 0.0)) - np.log1p(np.exp(-bound))


def _randomized_epsilon(delta: np.ndarray, bound: float) -> np.ndarray:
    if np.isposinf(bound):
        return np.where(delta >= 1, 0.0, np.inf)
    with np.errstate(divide="ignore"):
        below = np.log1p(-np.minimum(delta * (1.0 + np.exp(-bound)), 1.0))
    return _rounded_up(np.maximum(bound + below, 0.0), bound)


def _rounded_up(epsilon: np.ndarray, bound: float) -> np.ndarray:
    """A few units in the last place up, never beyond the mechanism's own ε."""
    return np.minimum(epsilon * (1 + 1e-14), bound)
