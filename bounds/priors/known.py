"""Priors that are known: over symbols, named exactly or by several guesses."""

import numpy as np
from jaxtyping import ArrayLike, Float

from .._check import require, require_integer, require_probability
from .base import MEMBERSHIP, Prior

_MOST_SYMBOLS = 10**7
_SEPARATE_LEVELS = 1000
_MERGED_LEVELS = 200


def uniform(symbols: int, guesses: int = 1) -> Prior:
    """All of `symbols` equally likely; an attempt names `guesses` of them.

    Raises:
        ValueError: unless 1 <= guesses <= symbols, both whole.

    >>> uniform(10).largest
    0.1
    """
    require_integer("symbols", symbols)
    require_integer("guesses", guesses)
    require("symbols", ">= 1", symbols, lambda m: m >= 1)
    require("guesses", f"in [1, {symbols}]", guesses, lambda g: (g >= 1) & (g <= symbols))
    symbols, guesses = int(symbols), int(guesses)
    kappa = guesses / symbols
    exact = guesses == 1
    levels = ((kappa, 1.0),) if exact else ()
    return Prior(kappa, kappa, exact, levels, symbols=symbols, guesses=guesses)


def categorical(p: Float[ArrayLike, "m"]) -> Prior:
    """Symbols with probabilities `p`, to be named exactly.

    Args:
        p: non-negative, summing to 1 within 1e-9.

    Raises:
        ValueError: if `p` is not a distribution.
    """
    p = _distribution(p)
    if np.ptp(p) == 0:
        return uniform(p.size)
    return Prior(float(p.max()), float(p.min()), True, _levels(p))


def top_guesses(p: Float[ArrayLike, "m"], k: int) -> Prior:
    """Symbols with probabilities `p`; an attempt names any `k` of them and succeeds if the secret is among them.

    Raises:
        ValueError: if `p` is not a distribution, or `k` is not in 1..m.

    >>> round(top_guesses([0.5, 0.3, 0.2], 2).largest, 3)
    0.8
    """
    p = _distribution(p)
    require_integer("k", k)
    require("k", f"in [1, {p.size}]", k, lambda k: (k >= 1) & (k <= p.size))
    if k == 1:
        return categorical(p)
    if np.ptp(p) == 0:
        return uniform(p.size, k)
    ordered = np.sort(p)
    return Prior(min(float(ordered[-k:].sum()), 1.0), float(ordered[:k].sum()), guesses=int(k))


def zipf(symbols: int, exponent: float) -> Prior:
    """Symbol of rank r has probability proportional to r^-exponent; to be named exactly.

    Args:
        symbols: m, up to 10⁷.
        exponent: s >= 0; 0 is the uniform prior.

    >>> round(zipf(1000, 1.0).largest, 4)
    0.1336
    """
    require_integer("symbols", symbols)
    require("symbols", f"in [1, {_MOST_SYMBOLS}]", symbols, lambda m: (m >= 1) & (m <= _MOST_SYMBOLS))
    require("exponent", ">= 0 and finite", exponent, lambda s: (s >= 0) & np.isfinite(s))
    weights = np.arange(1, int(symbols) + 1, dtype=np.float64) ** -float(exponent)
    return categorical(weights / weights.sum())


def membership(probability: float = 0.5) -> Prior:
    """One record that is in the data with this probability; the adversary guesses whether it is.

    Its profile must be add/remove, because the neighbours differ by the record's presence.

    Raises:
        ValueError: if it is not a probability.
    """
    require_probability("probability", probability)
    best = max(float(probability), 1 - float(probability))
    if best == 0.5:
        return Prior(0.5, 0.5, True, ((0.5, 1.0),), symbols=2, game=MEMBERSHIP)
    levels = ((best, best), (1 - best, 1 - best))
    return Prior(best, 1 - best, True, levels, game=MEMBERSHIP)


def _distribution(p) -> np.ndarray:
    require_probability("p", p)
    p = np.asarray(p, np.float64)
    if p.ndim != 1 or p.size == 0:
        raise ValueError(f"p must be a vector with at least one entry, got shape {p.shape}")
    require("sum of p", "1 within 1e-9", p.sum(), lambda total: abs(total - 1) <= 1e-9)
    return p


def _levels(p: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Equal symbols together; of very many different ones the rare ones in bands named by their rarest member."""
    values, counts = np.unique(p, return_counts=True)
    mass = values * counts
    if values.size <= _SEPARATE_LEVELS:
        return tuple(zip(values.tolist(), mass.tolist(), strict=True))
    rare = values.size - _SEPARATE_LEVELS
    starts = np.unique(np.linspace(0, rare, _MERGED_LEVELS, endpoint=False).astype(int))
    banded = np.add.reduceat(mass[:rare], starts)
    kappa = np.concatenate([values[starts], values[rare:]])
    mass = np.concatenate([banded, mass[rare:]])
    return tuple(zip(kappa.tolist(), mass.tolist(), strict=True))
