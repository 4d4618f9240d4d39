"""What any attack could recover in a game, and what the game's outcome says about ε."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from privacy_audit.attacks.secrets.priors import SecretPrior
from privacy_audit.bounds import max_successes
from privacy_audit.estimate.clopper_pearson import rate_lower, rate_upper
from privacy_audit.estimate.families import approximate_dp_family
from privacy_audit.estimate.one_run import one_run_secrets
from privacy_audit.reproduce.adversary_aware.canaries.game import Cell, best_use, profile_of
from privacy_audit.reproduce.adversary_aware.canaries.settings import Settings

STRONGEST = "sum"
"""What the attack sees whose outcome bounds ε, fixed beforehand."""


def limits(cell: Cell, prior: SecretPrior, settings: Settings, sigma: float) -> dict[str, Any]:
    """Most of n secrets that any attack recovers at this confidence, by k; and ε in both adjacencies."""
    kinds = {str(k): prior.bound_prior(k) for k in settings.guesses}
    found = {"prior": {k: kind.largest for k, kind in kinds.items()}}
    if math.isinf(cell.epsilon):
        return found | {"bound": dict.fromkeys(kinds, settings.targets), "epsilon_proven": None}
    profile = profile_of(settings, sigma, "replace_one")
    return found | {
        "bound": {
            k: max_successes(profile, [kind] * settings.targets, settings.confidence, refine=settings.refine)
            for k, kind in kinds.items()
        },
        "epsilon_proven": {
            adjacency: float(profile_of(settings, sigma, adjacency).epsilon(settings.delta))
            for adjacency in ("replace_one", "add_remove")
        },
    }


def interval(hits: int, targets: int, confidence: float) -> tuple[float, float]:
    """Clopper-Pearson interval of the success rate behind so many hits, as if targets were independent.

    They are not quite: all of them share one training and its noise, so that the interval may be too narrow.

    >>> [round(end, 3) for end in interval(0, 100, 0.95)]
    [0.0, 0.036]
    """
    failure = (1 - confidence) / 2
    return float(rate_lower(hits, targets, failure)), float(rate_upper(hits, targets, failure))


def lower_bound(record: Mapping[str, Any], prior: SecretPrior, settings: Settings) -> dict[str, Any]:
    """ε that the guessed secrets refute, whatever the mechanism: replace-one, (ε, δ)-DP."""
    attack = best_use(record["guesses"], STRONGEST)
    family = approximate_dp_family(settings.delta, "replace_one")
    estimate = one_run_secrets(
        [some[0] for some in record["guesses"][attack]],
        record["secrets"],
        prior.bound_prior(),
        family=family,
        delta=settings.delta,
        confidence=settings.confidence,
    )
    return {"attack": attack, **estimate.to_json()}
