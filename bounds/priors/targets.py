"""The priors of all n secrets in one game, as the bounds read them."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import ArrayLike, Float, Int

from .._check import require_probability
from .base import MEMBERSHIP, SUBSTITUTION, Prior

_NEEDS = {SUBSTITUTION: "replace_one", MEMBERSHIP: "add_remove"}


@dataclasses.dataclass(frozen=True)
class Targets:
    """Which of the `kinds` of prior each secret has; `bare` when only κ was given, so that c = 1."""

    kinds: tuple[Prior, ...]
    kind: Int[np.ndarray, "n"]
    bare: bool

    @property
    def count(self) -> int:
        return len(self.kind)

    @property
    def largest(self) -> Float[np.ndarray, "n"]:
        """κ* of each secret."""
        return np.array([prior.largest for prior in self.kinds], np.float64)[self.kind]

    @property
    def failure(self) -> float:
        """Probability that some estimated prior is wrong; one estimate counts once however many secrets use it."""
        return min(sum(prior.failure for prior in self.kinds), 1.0)

    @property
    def uniform(self) -> Prior | None:
        """The one uniform prior that all secrets share, if that is so."""
        alone = len(self.kinds) == 1 and not self.bare and self.kinds[0].symbols is not None
        return self.kinds[0] if alone else None

    def constants(self, epsilon: Float[np.ndarray, "J"]) -> Float[np.ndarray, "J n"]:
        """c of each secret at each ε (1 for a bare κ)."""
        if self.bare:
            return np.ones((len(epsilon), self.count))
        table = np.array([prior.constant(epsilon) for prior in self.kinds]).reshape(-1, len(epsilon))
        return table[self.kind].T

    def require_adjacency(self, adjacency: str) -> None:
        """Raises ValueError if a profile with this adjacency says nothing about this game."""
        for prior in self.kinds:
            needed = _NEEDS[prior.game]
            if adjacency != needed:
                raise ValueError(
                    f"profile must have adjacency {needed!r} in a {prior.game} game "
                    f"(neighbours differ by one {_CHANGE[prior.game]}), got {adjacency!r}"
                )


_CHANGE = {SUBSTITUTION: "record's value", MEMBERSHIP: "record's presence"}


def as_targets(priors: Sequence[Prior] | Prior | Float[ArrayLike, "n"]) -> Targets:
    """Reads one prior per secret: a sequence of `Prior`, a single one, or a vector of bare κ.

    Bare κ are taken in a substitution game; use `membership` for bits that say whether a record is present.

    Raises:
        ValueError: on anything else.
    """
    if isinstance(priors, Targets):
        return priors
    if isinstance(priors, Prior):
        return Targets((priors,), np.zeros(1, int), bare=False)
    if isinstance(priors, list | tuple) and priors and all(isinstance(prior, Prior) for prior in priors):
        return _of_objects(priors)
    require_probability("priors", priors)
    kappa = np.asarray(priors, np.float64)
    if kappa.ndim != 1:
        raise ValueError(f"priors must be a vector with one entry per secret, got shape {kappa.shape}")
    values, kind = np.unique(kappa, return_inverse=True)
    return Targets(tuple(Prior(value, value) for value in values.tolist()), kind, bare=True)


def _of_objects(priors: Sequence[Prior]) -> Targets:
    place: dict[Prior, int] = {}
    kind = np.array([place.setdefault(prior, len(place)) for prior in priors])
    games = {prior.game for prior in place}
    if len(games) > 1:
        raise ValueError(f"priors must all belong to one game, got {sorted(games)}")
    return Targets(tuple(place), kind, bare=False)
