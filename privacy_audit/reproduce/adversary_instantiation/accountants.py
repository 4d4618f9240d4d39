"""Three analyses of the same training: Rényi DP, the Gaussian-DP central limit, and privacy loss distributions.

The paper's last comparison: MNIST at q = 256/60000 and 60 epochs. The central limit is an approximation, no bound.
"""

from __future__ import annotations

import math
from typing import Any

from privacy_audit.bounds.profiles import DPSGD, GaussianDP
from privacy_audit.reproduce.adversary_instantiation.cells import Cell, most_steps
from privacy_audit.reproduce.adversary_instantiation.settings import (
    DELTA,
    EPSILONS,
    NOISE_MULTIPLIERS,
    Budgets,
    Scale,
)

SAMPLING_RATE, EPOCHS = 256 / 60_000, 60
STEPS = math.ceil(EPOCHS / SAMPLING_RATE)


def compare() -> list[dict[str, float]]:
    """ε of each analysis at each of the paper's σ."""
    return [{"noise_multiplier": sigma, **_epsilons(sigma)} for sigma in NOISE_MULTIPLIERS]


def _epsilons(sigma: float) -> dict[str, float]:
    exact = {
        name: float(DPSGD(sigma, SAMPLING_RATE, STEPS, accountant=name).epsilon(DELTA))
        for name in ("rdp", "pld")
    }
    mu = SAMPLING_RATE * math.sqrt(STEPS * math.expm1(1 / sigma**2))
    return exact | {"clt": float(GaussianDP(mu, adjacency="add_remove").epsilon(DELTA))}


def budget_rows(scale: Scale) -> list[dict[str, Any]]:
    """What batch and steps meet each target ε under either accountant: of the games, and of the accuracy table."""
    games = [(key, scale.sizes[key], scale.budgets[key], "game") for key in scale.sources]
    models = [
        (key, source.size, scale.accuracy_budgets[key], "accuracy")
        for key, source in scale.accuracy_sources.items()
    ]
    return [row for key, size, budgets, use in games + models for row in _rows(key, size, budgets, use)]


def _rows(key: str, size: int, budgets: Budgets, use: str) -> list[dict[str, Any]]:
    rows = []
    for epsilon in EPSILONS:
        sigma, batch_size = budgets[epsilon]
        rate = batch_size / size
        steps = {name: most_steps(epsilon, sigma, rate, name) for name in ("pld", "rdp")}
        rows.append(
            {
                "cell": Cell(key, epsilon).name,
                "use": use,
                "dataset": key,
                "epsilon": epsilon,
                "num_examples": size,
                "noise_multiplier": sigma,
                "batch_size": batch_size,
                "steps": steps,
                "epochs": {name: count * rate for name, count in steps.items()},
            }
        )
    return rows
