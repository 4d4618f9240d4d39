"""k-ary randomized response against the pure bound: equal at a uniform prior, a gap at a skewed one.

The prior is one heavy symbol and k - 1 equal ones. Naming the released symbol succeeds with the bound β of that very
symbol; the bound on any attack is β at the heavy one, so the mean over outputs falls below it as the prior is skewed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privacy_audit.bounds import flip_probability
from privacy_audit.bounds.tight import best_response_success, posterior

SYMBOLS = 10
EPSILONS = (0.5, 1.0, 2.0, 4.0)


def response_rows(points: int) -> list[dict[str, float]]:
    """Best attack, bound, and success on the output that names the heavy symbol, along its probability."""
    rows = []
    for epsilon in EPSILONS:
        for heavy in np.linspace(1 / SYMBOLS, 0.95, points):
            prior = one_heavy(float(heavy))
            rows.append(
                {
                    "epsilon": epsilon,
                    "largest": float(heavy),
                    "attack": best_response_success(epsilon, prior),
                    "bound": float(flip_probability(epsilon, heavy)),
                    "on_heavy_output": float(posterior(epsilon, prior)[0]),
                }
            )
    return rows


def one_heavy(largest: float) -> np.ndarray:
    """A distribution over `SYMBOLS` of which one has probability `largest`."""
    rest = np.full(SYMBOLS - 1, (1 - largest) / (SYMBOLS - 1))
    return np.concatenate([[largest], rest])


def last_near_uniform(epsilon: float) -> float:
    """The largest probability at which naming the released symbol is still the best guess: max p = e^ε·min p."""
    ratio = math.exp(epsilon)
    return ratio / (ratio + SYMBOLS - 1)


def widest_gaps(rows: list[dict[str, float]]) -> list[dict[str, Any]]:
    """For every ε the gap at the uniform prior and the widest one."""
    found = []
    for epsilon in EPSILONS:
        mine = [row for row in rows if row["epsilon"] == epsilon]
        widest = max(mine, key=lambda row: row["bound"] - row["attack"])
        found.append(
            {
                "epsilon": epsilon,
                "gap_uniform": mine[0]["bound"] - mine[0]["attack"],
                "gap_widest": widest["bound"] - widest["attack"],
                "at": widest["largest"],
                "last_near_uniform": last_near_uniform(epsilon),
            }
        )
    return found
