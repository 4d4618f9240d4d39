"""k-ary randomized response of each secret: it meets the pure bound for every guess."""

import dataclasses

import numpy as np
from jaxtyping import ArrayLike, Float

from .._check import require_non_negative
from ..poisson_binomial import logsf
from ..priors.known import _distribution as distribution
from ..profiles import PureDP


def posterior(epsilon: float, p: Float[ArrayLike, "k"]) -> Float[np.ndarray, "k"]:
    """Success of naming the released symbol, for each symbol: β(ε, p), the pure bound itself.

    It is also the best guess wherever max(p) <= e^ε·p.

    Args:
        epsilon: ε >= 0 of the response.
        p: distribution of the secret.

    >>> [round(float(x), 4) for x in posterior(1.0, [0.5, 0.3, 0.2])]
    [0.7311, 0.5381, 0.4046]
    """
    require_non_negative("epsilon", epsilon)
    p = distribution(p)
    lie = np.exp(-epsilon)
    return p / (p + (1 - p) * lie)


def best_response_success(epsilon: float, p: Float[ArrayLike, "k"]) -> float:
    """Success of the best attack on one secret, Σ over outputs of the most likely (secret, output)."""
    require_non_negative("epsilon", epsilon)
    p = distribution(p)
    lie = np.exp(-epsilon)
    true = 1 / (1 + (p.size - 1) * lie)
    return float(np.sum(np.maximum(true * p, true * lie * np.max(p))))


@dataclasses.dataclass(frozen=True)
class RandomizedResponses:
    """n uniform secrets of k symbols, each released by ε randomized response.

    >>> mechanism = RandomizedResponses(1.0, secrets=3, symbols=2)
    >>> round(float(mechanism.success(3)), 4)  # 0.7311³
    0.3907
    """

    epsilon: float
    secrets: int
    symbols: int

    @property
    def profile(self) -> PureDP:
        """Its guarantee under replacement of one secret."""
        return PureDP(self.epsilon, adjacency="replace_one")

    @property
    def each(self) -> float:
        """Success of the best attack on one secret."""
        return float(1 / (1 + (self.symbols - 1) * np.exp(-self.epsilon)))

    def success(self, v):
        """Exact Pr[v or more are recovered], of the shape of `v`."""
        return np.exp(logsf(np.asarray(v) - 1, np.full(self.secrets, self.each)))
