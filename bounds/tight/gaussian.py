"""The idealised Gaussian attack: the secret is one of k orthogonal unit signals in Gaussian noise."""

import dataclasses
import math

import numpy as np
from jaxtyping import ArrayLike, Float
from scipy import special

from .._check import require, require_integer
from ..poisson_binomial import logsf
from ..priors.known import _distribution as distribution
from ..profiles import GaussianDP

_REACH, _PANELS = 14.0, 112
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def gaussian_success(
    sigma: float, p: Float[ArrayLike, "k"] | None = None, *, candidates: int | None = None
) -> float:
    """Success of the Bayes-optimal attack on y = e_x + N(0, σ²·I), x drawn from a prior over k candidates.

    ∫ φ(t) Σ_x p_x·Π_{y≠x} Φ(t + 1/σ + σ·log(p_x/p_y)) dt, equal candidates taken together (Paper U's "idealised
    Gaussian Bayes-optimal" attack).

    Args:
        sigma: noise in units of the signal, > 0.
        p: the prior, for up to about 10⁴ different probabilities; or
        candidates: number of equally likely candidates, up to 10⁹ and beyond.

    Raises:
        ValueError: unless exactly one prior is given.

    >>> round(gaussian_success(0.2, candidates=10**9), 6)
    0.143098
    """
    require("sigma", "> 0", sigma, lambda s: s > 0)
    values, counts = _levels(p, candidates)
    t, weights = _rule()
    inside = np.zeros_like(t)
    for x, (value, count) in enumerate(zip(values, counts, strict=True)):
        gap = 1 / sigma + sigma * (math.log(value) - np.log(values))
        others = counts - (np.arange(len(counts)) == x)
        inside += count * value * np.exp(special.log_ndtr(t[:, None] + gap) @ others)
    return float(min(np.sum(weights * inside), 1.0))


def _levels(p, candidates) -> tuple[np.ndarray, np.ndarray]:
    if (p is None) == (candidates is None):
        raise ValueError(f"exactly one of p and candidates must be given, got {p} and {candidates}")
    if p is None:
        require_integer("candidates", candidates)
        require("candidates", ">= 1", candidates, lambda k: k >= 1)
        return np.array([1.0 / candidates]), np.array([float(candidates)])
    values, counts = np.unique(distribution(p), return_counts=True)
    positive = values > 0
    return values[positive], counts[positive].astype(float)


def _rule() -> tuple[np.ndarray, np.ndarray]:
    """Nodes on ±14 and weights that include φ."""
    width = 2 * _REACH / _PANELS
    left = -_REACH + width * np.arange(_PANELS)
    t = (left[:, None] + 0.5 * width * (_NODES + 1)).ravel()
    weights = np.tile(0.5 * width * _WEIGHTS, _PANELS)
    return t, weights * np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi)


@dataclasses.dataclass(frozen=True)
class GaussianChannel:
    """n uniform secrets of k symbols, each sent through its own Gaussian channel."""

    sigma: float
    secrets: int
    symbols: int

    @property
    def profile(self) -> GaussianDP:
        """Replacing a secret moves its signal by √2."""
        return GaussianDP(math.sqrt(2) / self.sigma, adjacency="replace_one")

    def success(self, v):
        """Exact Pr[v or more are recovered], of the shape of `v`."""
        each = gaussian_success(self.sigma, candidates=self.symbols)
        return np.exp(logsf(np.asarray(v) - 1, np.full(self.secrets, each)))
