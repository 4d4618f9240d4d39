"""What one setting leaks, from both sides: the measured ROC inside the proven trade-off curve, and Paper U's bounds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from privacy_audit.bounds import expected_successes
from privacy_audit.bounds.priors import membership, uniform
from privacy_audit.config import AuditConfig
from privacy_audit.estimate.clopper_pearson import rate_lower, rate_upper
from privacy_audit.estimate.scores import observed_thresholds

POINTS = 40
SECRETS = {
    "membership (κ = 1/2)": 2,
    "attribute of 10 values (κ = 0.1)": 10,
    "nine-digit number (κ = 1e-9)": 10**9,
}
"""What is guessed, and among how many equally likely values."""
CURVE = tuple(round(10**power) for power in np.linspace(0.31, 9, 25))
"""Numbers of values along which the bound is drawn."""


def bounds_of(config: AuditConfig) -> dict[str, Any]:
    """The trade-off curve of the game's own adjacency, and the success bounds of the mechanism.

    Membership is a game of adding one record; attributes and reconstruction exchange one, which needs the mechanism's
    replace-one profile.
    """
    rates = np.concatenate([[0.0], np.geomspace(1e-4, 1, POINTS)])
    exchanged = dataclasses.replace(config.profile, adjacency="replace_one", accountant="pld")
    profiles = {True: config.profile, False: exchanged}

    def success(values: int, is_membership: bool) -> float:
        prior = membership() if is_membership else uniform(values)
        return expected_successes(profiles[is_membership], [prior])

    return {
        "fpr": rates.tolist(),
        "tpr": (1 - np.asarray(config.profile.trade_off(rates))).tolist(),
        "epsilon_replace_one": float(exchanged.epsilon(config.delta)),
        "secrets": [
            {"secret": name, "values": values, "bound": success(values, name.startswith("membership"))}
            for name, values in SECRETS.items()
        ],
        "curve": [{"values": values, "bound": success(values, False)} for values in CURVE],
    }


def roc_band(
    d: Float[np.ndarray, "n"], d_prime: Float[np.ndarray, "m"], confidence: float
) -> dict[str, list[float]]:
    """A thinned ROC curve; the band holds the true positive rate at one threshold (Clopper-Pearson)."""
    _, false_positives, false_negatives = observed_thresholds(d, d_prime)
    wanted = np.unique(np.geomspace(1, len(d) + 1, POINTS).astype(int)) - 1
    rows = np.unique([np.argmin(np.abs(false_positives - count)) for count in wanted])
    rows = rows[np.argsort(false_positives[rows])]
    hits, failure = len(d_prime) - false_negatives[rows], (1 - confidence) / 2
    return {
        "fpr": (false_positives[rows] / len(d)).tolist(),
        "tpr": (hits / len(d_prime)).tolist(),
        "lower": rate_lower(hits, len(d_prime), failure).tolist(),
        "upper": rate_upper(hits, len(d_prime), failure).tolist(),
    }
