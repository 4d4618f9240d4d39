"""(ε, δ)-DP at its plainest: randomized response, and with probability δ the secret itself."""

import dataclasses

import numpy as np

from ..poisson_binomial import logsf
from ..profiles import ApproximateDP
from .response import RandomizedResponses


@dataclasses.dataclass(frozen=True)
class RevealEach:
    """Each of n uniform secrets is revealed with probability δ on its own, else released by ε randomized response."""

    epsilon: float
    delta: float
    secrets: int
    symbols: int

    @property
    def profile(self) -> ApproximateDP:
        """Its guarantee under replacement of one secret."""
        return ApproximateDP(self.epsilon, self.delta, adjacency="replace_one")

    def success(self, v):
        """Exact Pr[v or more are recovered], of the shape of `v`."""
        response = RandomizedResponses(self.epsilon, self.secrets, self.symbols)
        each = self.delta + (1 - self.delta) * response.each
        return np.exp(logsf(np.asarray(v) - 1, np.full(self.secrets, each)))


@dataclasses.dataclass(frozen=True)
class RevealAll:
    """All n uniform secrets are revealed at once with probability δ, else each is released by randomized response."""

    epsilon: float
    delta: float
    secrets: int
    symbols: int

    @property
    def profile(self) -> ApproximateDP:
        """Its guarantee under replacement of one secret."""
        return ApproximateDP(self.epsilon, self.delta, adjacency="replace_one")

    def success(self, v):
        """Exact Pr[v or more are recovered], of the shape of `v`."""
        rest = RandomizedResponses(self.epsilon, self.secrets, self.symbols).success(v)
        possible = np.asarray(v) <= self.secrets
        return np.where(possible, self.delta + (1 - self.delta) * rest, 0.0)
