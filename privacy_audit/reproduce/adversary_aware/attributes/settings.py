"""Every setting of the attribute experiment: what Paper U states, and what it leaves open, named as ours.

Stated: ACS, 3-way marginals, n = 100 records, ε = 1, δ = 1e-5, 95 %, d = 1 … 5 attributes at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from privacy_audit.attacks.attributes import Gibbs, Projection

ONES = (("SEX",), ("RACE",), ("MARITAL",), ("AGE",), ("EDUCATION",), ("CLASS",), ("HOURS",), ("INCOME",))
GROUPS = (
    ("SEX", "RACE"),
    ("SEX", "RACE", "MARITAL"),
    ("SEX", "RACE", "MARITAL", "AGE"),
    ("SEX", "RACE", "MARITAL", "AGE", "EDUCATION"),
)
OURS = (
    "eight attributes in 2 to 4 values each, all of their 56 three-way marginals; noise of one size on all counts",
    "half of the people are public, the targets come from the other half; the adversary knows every attribute of a "
    "target but d, and every record that is no target, so that the table may as well be that of the targets",
    "the prior of a target: the distribution of the d attributes among public people who agree with it on all others, "
    "with the weight of one person for the overall distribution",
    "game *drawn*: the secrets of 100 fixed people are drawn from their priors, which are then exact, as in U's game; "
    "game *real*: 100 new people a game keep their own, and the halves are taken for independent draws of one "
    "population",
    "success is the exact match of all d attributes",
    "projection: Adam on the logits of the relaxed table, known attributes fixed; posterior: Gibbs sampling with the "
    "prior, started from the projection. The posterior is the attack, fixed before the games that are counted",
)
"""Choices that the summary of the paper leaves open."""


@dataclass(frozen=True)
class Settings:
    """Of one scale.

    Attributes:
        people: name of the source of the table.
        folder: where its files lie; None where it needs none.
        targets: n.
        games: per cell, each with its own noise (and secrets, or people).
        epsilons: of the drawn games; `real_epsilons` of those with real secrets. ∞: no noise.
        ways: width of the marginals.
        sets: attributes to be reconstructed together, one cell each.
        failure: probability that the estimated prior of the real games is too small, within 1 - confidence.
        refine: whether the certified bound's weights are optimised.
    """

    people: str
    folder: str | None
    targets: int
    games: int
    epsilons: tuple[float, ...]
    real_epsilons: tuple[float, ...]
    sets: tuple[tuple[str, ...], ...]
    projection: Projection = field(default_factory=Projection)
    gibbs: Gibbs = field(default_factory=Gibbs)
    ways: int = 3
    delta: float = 1e-5
    confidence: float = 0.95
    failure: float = 1e-3
    refine: bool = True


def scales(people: str, folder: str | None) -> dict[str, Settings]:
    """By name; the toy scale has invented people whatever `people` is."""
    whole = (1.0, 10.0, 100.0, math.inf)
    return {
        "smoke": Settings(
            "toy",
            None,
            targets=30,
            games=5,
            epsilons=(1.0, math.inf),
            real_epsilons=(1.0,),
            sets=(("SEX",), ("SEX", "RACE")),
            projection=Projection(steps=30),
            gibbs=Gibbs(sweeps=40, chains=2),
            refine=False,
        ),
        "desk": Settings(people, folder, 100, 10, whole, (1.0, 10.0), ONES + GROUPS),
        "paper": Settings(people, folder, 100, 100, whole, whole, ONES + GROUPS),
    }
