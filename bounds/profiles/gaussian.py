"""Gaussian DP, in closed form and to full relative accuracy in the far tail."""

import dataclasses
import math

import numpy as np
from scipy import special

from .base import REPLACE_ONE, PrivacyProfile, check_adjacency, check_at_least

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


class _Gaussian(PrivacyProfile):
    """What `GaussianDP` and `GaussianMechanism` share: everything follows from μ."""

    mu: float

    def _log_delta(self, epsilon):
        return gaussian_log_delta(epsilon, self.mu)

    def _log_delta_at_infinity(self):
        return 0.0 if np.isposinf(self.mu) else -np.inf

    def _epsilon(self, log_delta):
        if np.isposinf(self.mu):
            return np.where(log_delta >= 0, 0.0, np.inf)
        return super()._epsilon(log_delta)

    def _trade_off(self, rate):
        if np.isposinf(self.mu):
            return np.zeros_like(rate)
        return special.ndtr(-special.ndtri(rate) - self.mu)


@dataclasses.dataclass(frozen=True)
class GaussianDP(_Gaussian):
    """μ-Gaussian DP (Dong, Roth and Su 2022): no easier to tell apart than N(0, 1) and N(μ, 1).

    >>> round(float(GaussianDP(1.0, adjacency="replace_one").delta(1.0)), 6)
    0.126937
    """

    mu: float
    adjacency: str = dataclasses.field(kw_only=True)

    def __post_init__(self):
        check_at_least("mu", self.mu)
        check_adjacency(self.adjacency)


@dataclasses.dataclass(frozen=True)
class GaussianMechanism(_Gaussian):
    """`steps` sums clipped to norm C, each with noise N(0, (σC)²): μ = √steps/σ, twice that for replace-one.

    >>> GaussianMechanism(4.0, steps=16).mu, GaussianMechanism(4.0, steps=16, adjacency="replace_one").mu
    (1.0, 2.0)
    """

    noise_multiplier: float
    steps: int = 1
    adjacency: str = dataclasses.field(default="add_remove", kw_only=True)

    def __post_init__(self):
        check_at_least("noise_multiplier", self.noise_multiplier)
        check_at_least("steps", self.steps, 1)
        check_adjacency(self.adjacency)

    @property
    def mu(self) -> float:
        """Its Gaussian-DP parameter."""
        shift = 2.0 if self.adjacency == REPLACE_ONE else 1.0
        return shift * math.sqrt(self.steps) / self.noise_multiplier if self.noise_multiplier else math.inf


def gaussian_log_delta(epsilon: np.ndarray, mu: float) -> np.ndarray:
    """log[Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ)] for ε >= 0, without cancellation (Balle and Wang 2018, th. 8).

    With a, b = ε/μ ∓ μ/2 and R(x) = Φ(-x)/φ(x), δ = φ(a)·(R(a) - R(b)), because e^ε φ(b) = φ(a).
    """
    epsilon = np.asarray(epsilon, dtype=np.float64)
    if mu == 0:
        return np.full_like(epsilon, -np.inf)
    if np.isposinf(mu):
        return np.zeros_like(epsilon)
    # Beyond the range of doubles, squares are infinite and δ is 0 or 1, as it should be.
    with np.errstate(divide="ignore", over="ignore"):
        a = epsilon / mu - mu / 2
        log_density = -0.5 * a**2 - 0.5 * math.log(2 * math.pi)
        if mu <= 1:
            return log_density + np.log(_mills_difference(a, mu))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        tail = log_density + np.log(_mills(np.maximum(a, 0.0)) - _mills(a + mu))
        body = np.log1p(-special.ndtr(a) - np.exp(epsilon + special.log_ndtr(-a - mu)))
    return np.where(a > 0, tail, body)


def _mills(x: np.ndarray) -> np.ndarray:
    return math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2))


def _mills_difference(a: np.ndarray, width: float) -> np.ndarray:
    """R(a) - R(a + width) for width <= 1, a >= -1/2, as the integral of -R'(x) = 1 - x R(x)."""
    x = a[..., None] + 0.5 * width * (_NODES + 1)
    return 0.5 * width * np.sum(_WEIGHTS * _minus_mills_slope(x), axis=-1)


def _minus_mills_slope(x: np.ndarray) -> np.ndarray:
    """1 - x R(x), which beyond 20 is summed as 1/x² - 3/x⁴ + 15/x⁶ - … to escape cancellation."""
    far = np.maximum(x, 20.0)
    term = total = far**-2.0
    for n in range(1, 12):
        term = -term * (2 * n + 1) / far**2
        total = total + term
    return np.where(x > 20.0, total, 1.0 - x * _mills(np.minimum(x, 20.0)))
