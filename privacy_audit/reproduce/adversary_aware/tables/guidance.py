"""From a real list of secrets to ε and noise: the limit on the advantage that Paper U's Table 2 uses.

The prior is that of the best guess, or of the best ten where an attacker may try ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privacy_audit.attacks.secrets.priors import SecretPrior
from privacy_audit.bounds import epsilon_for_advantage, noise_multiplier_for_advantage
from privacy_audit.bounds.profiles import DPSGD
from privacy_audit.reproduce.adversary_aware.secrets import kinds

ADVANTAGE, DELTA = 0.05, 1e-5
HEADS = (1, 10, 100)


@dataclass(frozen=True)
class Training:
    """DP-SGD whose noise is calibrated: sampling rate q and steps T."""

    sampling_rate: float
    steps: int


def guidance_rows(training: Training, guesses: tuple[int, ...]) -> list[dict[str, Any]]:
    """One row a list and number of guesses."""
    return [_row(name, prior, count, training) for name, prior in kinds().items() for count in guesses]


def _row(name: str, prior: SecretPrior, guesses: int, training: Training) -> dict[str, Any]:
    kinds_of_prior = prior.bound_prior(guesses)
    sigma = noise_multiplier_for_advantage(ADVANTAGE, training.sampling_rate, training.steps, kinds_of_prior)
    profile = DPSGD(sigma, training.sampling_rate, training.steps, adjacency="replace_one")
    return {
        "secrets": name,
        "guesses": guesses,
        "kappa": kinds_of_prior.largest,
        "pure_epsilon": float(epsilon_for_advantage(ADVANTAGE, kinds_of_prior.largest)),
        "noise_multiplier": sigma,
        "epsilon_replace_one": float(profile.epsilon(DELTA)),
        "epsilon_add_remove": float(DPSGD(sigma, training.sampling_rate, training.steps).epsilon(DELTA)),
    }


def head_rows() -> list[dict[str, Any]]:
    """How much of each list's probability its head holds."""
    rows = []
    for name, prior in kinds().items():
        if not prior.candidates:
            continue
        falling = np.sort(prior.probabilities)[::-1]
        mass = {f"head_{count}": float(falling[:count].sum()) for count in HEADS}
        rows.append({"secrets": name, "candidates": len(falling), "likeliest": prior.candidates[0], **mass})
    return rows
