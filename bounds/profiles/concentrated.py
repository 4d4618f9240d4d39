"""Zero-concentrated DP."""

import dataclasses

import numpy as np

from .base import PrivacyProfile, check_adjacency, check_at_least


@dataclasses.dataclass(frozen=True)
class ZeroConcentratedDP(PrivacyProfile):
    """ρ-zCDP: Rényi DP with ε(α) = αρ at every order α > 1.

    δ(ε) = min over α of exp((α - 1)(αρ - ε))·(1 - 1/α)^(α - 1)/α (Canonne, Kamath and Steinke 2020, cor. 13).

    >>> round(float(ZeroConcentratedDP(0.5, adjacency="replace_one").epsilon(1e-5)), 3)
    4.728
    """

    rho: float
    adjacency: str = dataclasses.field(kw_only=True)

    def __post_init__(self):
        check_at_least("rho", self.rho)
        check_adjacency(self.adjacency)

    def _log_delta(self, epsilon):
        if self.rho == 0:
            return np.full_like(epsilon, -np.inf)
        if np.isposinf(self.rho):
            return np.zeros_like(epsilon)
        return concentrated_log_delta(epsilon, self.rho)

    def _log_delta_at_infinity(self):
        return 0.0 if np.isposinf(self.rho) else -np.inf


def concentrated_log_delta(epsilon: np.ndarray, rho: float) -> np.ndarray:
    """The minimum over α, by bisection on the derivative (2α - 1)ρ - ε + log(1 - 1/α); any α > 1 is valid."""
    low, high = np.full_like(epsilon, -30.0), np.log((epsilon + 1.0) / rho + 2.0) + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        excess = np.exp(middle)
        slope = (2 * excess + 1) * rho - epsilon - np.log1p(1 / excess)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    excess = np.exp(high)
    alpha = 1 + excess
    return excess * (alpha * rho - epsilon) - excess * np.log1p(1 / excess) - np.log(alpha)
