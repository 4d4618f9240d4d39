"""Reconstruction robustness: one target, the prior success times e^ε."""

import numpy as np

from ..priors import Targets
from ..profiles import DPSGD, GaussianDP, GaussianMechanism, ZeroConcentratedDP
from ..profiles.dpsgd import renyi
from .base import (
    APPROXIMATE,
    ATTRIBUTE,
    EXACT,
    MEMBERSHIP,
    ONE,
    RECONSTRUCTION,
    SKEWED,
    UNIFORM,
    Baseline,
    only_kappa,
    pure_epsilon,
)

_ONE_TARGET = frozenset({UNIFORM, SKEWED, MEMBERSHIP, ATTRIBUTE, RECONSTRUCTION, ONE, EXACT, APPROXIMATE})
_SOURCE = "Balle, Cherubin and Hayes 2022, arXiv 2201.04845"


def _pure(v: int, profile, targets: Targets) -> float:
    return np.exp(min(pure_epsilon(profile, "ReRo, pure"), 700.0)) * only_kappa(targets)


def _renyi(v: int, profile, targets: Targets) -> float:
    """(κ·e^ε(α))^((α-1)/α), the least over the orders of the accountant."""
    if not (isinstance(profile, DPSGD) and profile.accountant == "rdp"):
        raise ValueError(f"profile must be DPSGD with accountant 'rdp' for ReRo, RDP, got {profile!r}")
    orders, epsilon = renyi(profile)
    kappa = only_kappa(targets)
    if kappa == 0:
        return 0.0
    return np.exp(min(np.min((np.log(kappa) + epsilon) * (orders - 1) / orders), 0.0))


def _concentrated(v: int, profile, targets: Targets) -> float:
    """exp(-(√ln(1/κ) - √ρ)²): the Rényi bound with ε(α) = αρ at its best order √(ln(1/κ)/ρ)."""
    rho, surprise = concentration(profile), -np.log(max(only_kappa(targets), 1e-300))
    return 1.0 if surprise <= rho else np.exp(-((np.sqrt(surprise) - np.sqrt(rho)) ** 2))


def concentration(profile) -> float:
    """ρ of a profile that is ρ-zCDP; μ-Gaussian DP has ρ = μ²/2."""
    if isinstance(profile, ZeroConcentratedDP):
        return profile.rho
    if isinstance(profile, GaussianDP | GaussianMechanism):
        return profile.mu**2 / 2
    raise ValueError(f"profile must be zero-concentrated or Gaussian for ReRo, zCDP, got {profile!r}")


RERO_PURE = Baseline("ReRo, pure", _SOURCE, _ONE_TARGET, "pure DP", _pure)
RERO_RENYI = Baseline("ReRo, RDP", _SOURCE, _ONE_TARGET, "DP-SGD with accountant 'rdp'", _renyi)
RERO_CONCENTRATED = Baseline("ReRo, zCDP", _SOURCE, _ONE_TARGET, "zCDP or Gaussian", _concentrated)
