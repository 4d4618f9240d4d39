"""What an earlier bound is: its name, source, the settings it covers, and a function that refuses the others."""

import dataclasses
from collections.abc import Callable

import numpy as np

from .._check import require_integer
from ..grid import Profile
from ..priors import Targets, as_targets
from ..success import Priors

UNIFORM, SKEWED = "uniform prior", "non-uniform prior"
MEMBERSHIP, ATTRIBUTE, RECONSTRUCTION = "membership", "attribute", "reconstruction"
ONE, MANY = "one target", "many targets"
EXACT, APPROXIMATE = "exact match", "approximate match"
SETTINGS = (UNIFORM, SKEWED, MEMBERSHIP, ATTRIBUTE, RECONSTRUCTION, ONE, MANY, EXACT, APPROXIMATE)


@dataclasses.dataclass(frozen=True)
class Baseline:
    """An earlier bound on Pr[L >= v], called like `success_bound`.

    Attributes:
        name: authors and year.
        source: arXiv identifier and where in the paper.
        settings: which of `SETTINGS` it covers.
        profiles: what it asks of the profile, in words.
        compute: the bound, from (v, profile, targets), once the setting is known to be covered.
        proven: whether it is a bound; False for an estimate or one with an unstated constant.
    """

    name: str
    source: str
    settings: frozenset[str]
    profiles: str
    compute: Callable[[int, Profile, Targets], float] = dataclasses.field(repr=False)
    proven: bool = True

    def __call__(self, v: int, profile: Profile, priors: Priors) -> float:
        """Bound on the probability of v or more successes.

        Raises:
            ValueError: if the priors describe a setting that the bound does not cover, or it cannot read the profile.
        """
        require_integer("v", v)
        targets = as_targets(priors)
        missing = sorted(settings_of(targets) - self.settings)
        if missing:
            raise ValueError(f"priors must be a setting that {self.name} covers, got {', '.join(missing)}")
        if v <= 0:
            return 1.0
        if v > targets.count:
            return 0.0
        return float(np.clip(self.compute(int(v), profile, targets), 0.0, 1.0))


def settings_of(targets: Targets) -> set[str]:
    """Which settings a game's priors call for (a bare κ counts as neither uniform nor exact match)."""
    needed = {ONE if targets.count <= 1 else MANY}
    for prior in targets.kinds:
        equal = prior.symbols is not None and len(targets.kinds) == 1
        needed.add(UNIFORM if equal else SKEWED)
        needed.add(EXACT if prior.exact else APPROXIMATE)
        if prior.game == "membership":
            needed.add(MEMBERSHIP)
        elif not prior.exact or (prior.symbols or 0) > _MOST_ATTRIBUTE_VALUES:
            needed.add(RECONSTRUCTION)
        else:
            needed.add(ATTRIBUTE)
    return needed


# An attribute is one of few values; beyond that a secret is reconstructed, not inferred.
_MOST_ATTRIBUTE_VALUES = 100


def only_kappa(targets: Targets) -> float:
    """κ* of a single target."""
    return float(targets.largest[0])


def pure_epsilon(profile: Profile, name: str) -> float:
    """ε of a pure guarantee; raises ValueError if the profile has none."""
    epsilon = float(profile.epsilon(0.0))
    if not np.isfinite(epsilon):
        raise ValueError(f"profile must be pure DP for {name}, got {profile!r}")
    return epsilon
