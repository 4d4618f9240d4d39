"""Closed-form Bayes security of DP-SGD, up to an error term whose constant the paper does not state."""

import math

import numpy as np

from ..poisson_binomial import sf
from ..priors import Targets
from ..profiles import DPSGD
from .base import ATTRIBUTE, EXACT, MANY, MEMBERSHIP, ONE, UNIFORM, Baseline


def cherubin_advantage(profile: DPSGD, error_constant: float = 1.0) -> tuple[float, float]:
    """Advantage of the best attack on one record: leading term and error term.

    1 - β* <= erf(q·√T/(√2·σ)) + O(√(q·T)/σ) for membership, β* the Bayes security.

    Args:
        profile: DP-SGD.
        error_constant: stands for the constant of the O(·), which is not stated; often the term swamps the first.
    """
    q, steps, sigma = profile.sampling_rate, profile.steps, profile.noise_multiplier
    if sigma == 0:
        return 1.0, 0.0
    return math.erf(q * math.sqrt(steps) / (math.sqrt(2) * sigma)), error_constant * math.sqrt(
        q * steps
    ) / sigma


def _cherubin(v: int, profile, targets: Targets) -> float:
    """Each of the targets alone, taken as independent, with success κ + (1 - κ)·advantage; leading term only."""
    if not isinstance(profile, DPSGD):
        raise ValueError(f"profile must be DPSGD for Cherubin 2024, got {profile!r}")
    advantage, _ = cherubin_advantage(profile)
    success = targets.largest + (1 - targets.largest) * advantage
    return float(sf(v - 1, np.asarray(success)))


CHERUBIN = Baseline(
    "Cherubin 2024",
    "Cherubin, Köpf, Paverd, Tople, Wutschitz and Zanella-Béguelin 2024, arXiv 2402.14397, leading term",
    frozenset({UNIFORM, MEMBERSHIP, ATTRIBUTE, ONE, MANY, EXACT}),
    "DP-SGD",
    _cherubin,
    proven=False,
)
