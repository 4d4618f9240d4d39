"""Two bounds for one target that read the whole profile: 1 - f(κ), and e^ε·κ + δ."""

import numpy as np

from ..grid import Profile, points
from ..priors import Targets
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
)

_ONE_TARGET = frozenset({UNIFORM, SKEWED, MEMBERSHIP, ATTRIBUTE, RECONSTRUCTION, ONE, EXACT, APPROXIMATE})
_GRID = 200


def _kulynych(v: int, profile: Profile, targets: Targets) -> float:
    return 1 - float(profile.trade_off(only_kappa(targets)))


def _narcissus(v: int, profile: Profile, targets: Targets) -> float:
    """e^ε·κ + δ(ε), the least over ε; κ is the blind guess."""
    grid = points(profile, _GRID, 1e-12)
    return float(np.min(np.exp(np.minimum(grid.epsilon, 700.0)) * only_kappa(targets) + grid.delta))


KULYNYCH = Baseline(
    "Kulynych 2025",
    "Kulynych, Gomez, Kaissis, Hayes, Balle, Calmon and Raisaro 2025, arXiv 2507.06969",
    _ONE_TARGET,
    "any, through its trade-off curve",
    _kulynych,
)
NARCISSUS = Baseline(
    "Narcissus 2024",
    "Cohen, Kaplan, Mansour, Moran, Nissim, Stemmer and Tsfadia 2024, arXiv 2405.15753",
    _ONE_TARGET,
    "any",
    _narcissus,
)
