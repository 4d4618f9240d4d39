"""The Laplace mechanism."""

import dataclasses

import numpy as np

from .base import REPLACE_ONE, PrivacyProfile, check_adjacency, check_at_least


@dataclasses.dataclass(frozen=True)
class LaplaceMechanism(PrivacyProfile):
    """Laplace noise of scale `noise_multiplier` times the L1 norm that one record may contribute.

    Replacing a record moves the sum by up to twice that norm.

    >>> float(LaplaceMechanism(1.0, adjacency="replace_one").epsilon(0.0))
    2.0
    """

    noise_multiplier: float
    adjacency: str = dataclasses.field(default="add_remove", kw_only=True)

    def __post_init__(self):
        check_at_least("noise_multiplier", self.noise_multiplier)
        check_adjacency(self.adjacency)

    @property
    def pure_epsilon(self) -> float:
        """The ε of its ε-DP guarantee."""
        shift = 2.0 if self.adjacency == REPLACE_ONE else 1.0
        return shift / self.noise_multiplier if self.noise_multiplier else np.inf

    def _log_delta(self, epsilon):
        with np.errstate(divide="ignore"):
            return np.log(-np.expm1(np.minimum(epsilon - self.pure_epsilon, 0.0) / 2))

    def _log_delta_at_infinity(self):
        return 0.0 if np.isposinf(self.pure_epsilon) else -np.inf

    def _epsilon(self, log_delta):
        with np.errstate(divide="ignore"):
            below = 2 * np.log1p(-np.exp(log_delta))
        if np.isposinf(self.pure_epsilon):
            return np.where(log_delta >= 0, 0.0, np.inf)
        epsilon = np.maximum(self.pure_epsilon + below, 0.0)
        return np.minimum(epsilon * (1 + 1e-14), self.pure_epsilon)

    def _trade_off(self, rate):
        if np.isposinf(self.pure_epsilon):
            return np.zeros_like(rate)
        shrink = np.exp(-self.pure_epsilon)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            steep, middle = 1.0 - rate / shrink, shrink / (4 * rate)
        return np.where(rate < shrink / 2, steep, np.where(rate <= 0.5, middle, shrink * (1.0 - rate)))
