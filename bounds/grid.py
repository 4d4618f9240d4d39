"""Which points (ε, δ(ε)) of a privacy profile a bound uses: any choice is valid, a good one is tight."""

from typing import NamedTuple, Protocol

import numpy as np
from jaxtyping import Float


class Profile(Protocol):
    """What the bounds ask of a privacy profile."""

    adjacency: str

    def delta(self, epsilon): ...

    def epsilon(self, delta): ...

    def trade_off(self, false_positive_rate): ...


class Grid(NamedTuple):
    """Points of a profile, ε ascending."""

    epsilon: Float[np.ndarray, "J"]
    delta: Float[np.ndarray, "J"]

    def for_abstaining(self, candidates: int | None, guessed: int) -> "Grid":
        """δ·m/r where r of m candidates are guessed and the rest passed over (any r that is fixed beforehand)."""
        if candidates is None or guessed == 0:
            return self
        return self._replace(delta=np.minimum(self.delta * (candidates / guessed), 1.0))


def points(profile: Profile, size: int, smallest_delta: float) -> Grid:
    """At most `size` points from ε = 0 to where δ is no more than `smallest_delta` above its limit.

    A profile that says nothing beyond one pair (ε, δ) gives that pair alone.
    """
    limit = float(profile.delta(np.inf))
    top = float(profile.epsilon(limit)) if limit < 1 else 0.0
    if np.isfinite(top) and _is_one_pair(profile, top, limit):
        return Grid(np.array([top]), np.array([limit]))
    near = min(float(profile.epsilon(min(limit + smallest_delta, 1.0))), top)
    epsilon = np.linspace(0.0, near, size) if np.isfinite(near) else np.zeros(1)
    # Where a finite ε reaches the limit of δ, it belongs to any good bound.
    epsilon = np.unique(np.append(epsilon[:-1], top) if np.isfinite(top) else epsilon)
    return Grid(epsilon, np.asarray(profile.delta(epsilon), np.float64))


def _is_one_pair(profile: Profile, top: float, limit: float) -> bool:
    """Whether below `top` the profile only says what (top, limit)-DP already implies."""
    inside = np.linspace(0.0, top, 7)[:-1]
    # (e^top - e^ε)/(1 + e^top), written so that nothing overflows.
    implied = -np.expm1(inside - top) / (1 + np.exp(-top))
    implied = limit + (1 - limit) * implied
    return bool(np.all(np.asarray(profile.delta(inside)) >= implied - 1e-12))
