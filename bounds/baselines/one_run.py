"""Bounds made for audits with one run: many membership bits, guessed at once."""

import numpy as np

from .._check import require
from ..alpha import alphas
from ..flip import flip_probability
from ..grid import Profile, points
from ..poisson_binomial import sf
from ..priors import Targets
from .base import ATTRIBUTE, EXACT, MANY, MEMBERSHIP, ONE, RECONSTRUCTION, SKEWED, UNIFORM, Baseline

_GRID = 64
_LEVELS = 60


def _steinke(v: int, profile: Profile, targets: Targets) -> float:
    """τ(v) + 2·m·δ·α(v), the least over ε: the factor 2 is the price of both signs of the bad event."""
    grid = points(profile, _GRID, 1e-12)
    least = 1.0
    for epsilon, delta in zip(*grid, strict=True):
        beta = np.asarray(flip_probability(epsilon, targets.largest))
        tail = float(sf(v - 1, beta))
        least = min(least, tail + 2 * targets.count * delta * float(alphas(beta)[v]))
    return least


STEINKE = Baseline(
    "Steinke 2023",
    "Steinke, Nasr and Jagielski 2023, arXiv 2305.08846, theorem 5.2",
    frozenset({UNIFORM, SKEWED, MEMBERSHIP, ONE, MANY, EXACT}),
    "any",
    _steinke,
)


def mahloujifar_bound(
    v: int, profile: Profile, secrets: int, symbols: int = 2, guesses: int | None = None
) -> float:
    """Bound on Pr[v or more of the guesses are right] for uniform secrets, from the trade-off curve f.

    The p-value p is feasible if the recursion h[i] = max(h[i+1], (k-1)·f(1 - r[i+1])),
    r[i] = r[i+1] + i/(c-i)·(h[i] - h[i+1]), from r[v] = p·v/m, h[v] = p·(c-v)/m, ends with r[0] + h[0] <= c/m;
    the bound is the largest feasible p.

    Args:
        v: number of right guesses, 0..guesses.
        profile: f-DP, used through `trade_off`.
        secrets: m.
        symbols: k, values that a secret can take.
        guesses: c <= m; the rest are abstained from.
    """
    guesses = secrets if guesses is None else guesses
    require("v", f"in [0, {guesses}]", v, lambda x: (x >= 0) & (x <= guesses))
    low, high = 0.0, 1.0
    while high - low > 1e-9 * high and high > 1e-300:
        # Many p at once, evenly or, while nothing is known to be feasible, over many decades.
        tries = np.linspace(low, high, _LEVELS) if low else np.geomspace(high * 1e-20, high, _LEVELS)
        feasible = _feasible(tries, v, profile, secrets, symbols, guesses)
        if feasible.all():
            return float(high)
        last = int(np.argmin(feasible))
        low, high = (tries[last - 1], tries[last]) if last else (0.0, tries[0])
    return float(high)


def _feasible(
    p: np.ndarray, v: int, profile: Profile, secrets: int, symbols: int, guesses: int
) -> np.ndarray:
    right, wrong = p * v / secrets, p * (guesses - v) / secrets
    for i in range(v - 1, -1, -1):
        reached = (symbols - 1) * profile.trade_off(1 - np.clip(right, 0.0, 1.0))
        after = np.maximum(wrong, reached)
        right, wrong = right + i / (guesses - i) * (after - wrong), after
    return right + wrong <= guesses / secrets


def _mahloujifar(v: int, profile: Profile, targets: Targets) -> float:
    return mahloujifar_bound(v, profile, targets.count, targets.kinds[0].symbols)


MAHLOUJIFAR = Baseline(
    "Mahloujifar 2024",
    "Mahloujifar, Melis and Chaudhuri 2024, arXiv 2410.22235, algorithm 3",
    frozenset({UNIFORM, MEMBERSHIP, ATTRIBUTE, RECONSTRUCTION, ONE, MANY, EXACT}),
    "any, through its trade-off curve",
    _mahloujifar,
)
