"""Do these scores refute a claimed privacy profile?"""

import dataclasses
from typing import Any

import numpy as np

from privacy_audit.bounds.profiles import PrivacyProfile
from privacy_audit.estimate import precedence
from privacy_audit.estimate.clopper_pearson import INDEPENDENT
from privacy_audit.estimate.every import true_positives
from privacy_audit.estimate.result import SCHEMA_VERSION, finite_or_none
from privacy_audit.estimate.scores import check_scores, notes_on

LEVELS = (0.002, 0.01, 0.05, 0.15, 0.3, 0.5)


@dataclasses.dataclass(frozen=True)
class ProfileTest:
    """The verdict on a claimed profile.

    Attributes:
        p_value: Valid under the claim: Pr[p_value <= α] <= α for every α.
        direction: Where the smallest p-value lies: "D' above D" (few false positives, many true ones) or
            "D below D'" (the same with the worlds' roles exchanged).
        false_positives: Errors k at that threshold, fixed beforehand.
        true_positives: Correct guesses of the other world there.
        tests: How many ranks and directions were tried; the p-value is corrected for all.
        assumptions: What validity rests on.
        notes: What the reader should know about these scores.
    """

    p_value: float
    direction: str
    false_positives: int
    true_positives: int
    tests: int
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The fields as strict JSON values."""
        return {"schema_version": SCHEMA_VERSION, **finite_or_none(dataclasses.asdict(self))}


def f_dp_test(scores_d, scores_d_prime, profile: PrivacyProfile, *, levels=LEVELS) -> ProfileTest:
    """Tests the claim that the mechanism has this profile, by exact rank tests in both directions.

    At each false positive level, fixed beforehand, the number of hits has an exact tail probability under the
    claim (`precedence.p_value`); the smallest is multiplied by the number of tests (Bonferroni).

    Args:
        scores_d: Scores of the trials of D.
        scores_d_prime: Scores of the trials of D'; higher = more likely D'.
        profile: The claim. Its adjacency must be the game's: add/remove for D' = D + one example.
        levels: False positive levels at which to look, each in (0, 1).

    Raises:
        ValueError: on empty, non-finite or misshapen scores, or a level outside (0, 1).
    """
    d, d_prime = check_scores(scores_d, "scores_d"), check_scores(scores_d_prime, "scores_d_prime")
    levels = np.asarray(levels, float)
    if levels.size == 0 or not np.all((levels > 0) & (levels < 1)):
        raise ValueError(f"levels must be in (0, 1), at least one, got {levels.tolist()}")
    directions = {"D' above D": (d, d_prime), "D below D'": (-d_prime, -d)}
    tests = [
        (*_one_test(first, second, rank, profile), name)
        for name, (first, second) in directions.items()
        for rank in np.unique(np.maximum(np.round(levels * len(first)).astype(int) - 1, 0))
    ]
    smallest, rank, hits, name = min(tests)
    return ProfileTest(
        p_value=min(1.0, len(tests) * smallest),
        direction=name,
        false_positives=rank,
        true_positives=hits,
        tests=len(tests),
        assumptions=(INDEPENDENT, precedence.STATEMENT),
        notes=notes_on(d, d_prime),
    )


def _one_test(first, second, rank: int, profile: PrivacyProfile) -> tuple[float, int, int]:
    hits = int(true_positives(first, second, [rank])[0])
    return precedence.p_value(hits, rank, len(first), len(second), profile.trade_off), int(rank), hits
