"""How many of n secrets an adversary can recover: bounds on Pr[L >= v] for every mechanism with a given profile."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import ArrayLike, Float, Int

from ._check import require, require_integer
from .certified import betas, log_closed_form, log_pure_tail
from .grid import Grid, Profile, points
from .optimal import solve
from .printed import log_printed
from .priors import Prior, Targets, as_targets
from .refined import refine

Priors = Sequence[Prior] | Prior | Float[ArrayLike, "n"]

_SCAN = 64
_REFINED = 19
_OPTIMAL = 25
_MOST_REFINED = 1000
# Where the solver's tolerances are no longer small beside the value.
_TOO_SMALL = 1e-7


def success_bound(
    v: Int[ArrayLike, "*v"],
    profile: Profile,
    priors: Priors,
    method: str = "certified",
    *,
    refine: bool = True,
    candidates: int | None = None,
    log: bool = False,
) -> Float[np.ndarray, "*v"]:
    """Bound on Pr[L >= v]: the chance that any attack on any mechanism with `profile` recovers v secrets or more.

    Args:
        v: whole numbers; 0 and less give 1, more than n gives 0.
        profile: the mechanism's privacy; its adjacency must be that of the priors' game.
        priors: one `Prior` per secret, or a vector of bare prior successes κ. If some were estimated from
        samples,
            the bound holds over samples and game together.
        method: "certified" (any priors, sound); "optimal" (one uniform prior shared by all, the best bound
        there is);
            "printed" (Paper U's formula as its summary prints it: not sound once δ > 0, for comparison only).
        refine: whether "certified" also optimises its weights for each v (n <= 1000; about a second for each
        v at
            n = 100 where that can help, and a fraction of it for a single (ε, δ)). False: the closed form
            only.
        candidates: m >= n, when the adversary may choose, after seeing the output, which n of m candidates
        to guess
            at (n fixed beforehand); for one uniform prior only.
        log: return natural logarithms, which do not underflow.

    Returns:
        Bounds in [0, 1] of the shape of `v`.

    Raises:
        ValueError: on counts that are not whole, an unknown method, a profile of the wrong adjacency, or
            "optimal" for priors that are not one uniform prior.

    >>> from privacy_audit.bounds.profiles import ApproximateDP
    >>> from privacy_audit.bounds.priors import uniform
    >>> profile = ApproximateDP(0.3, 0.1, adjacency="replace_one")
    >>> [round(float(success_bound(1, profile, [uniform(2)] * 3, m)), 4) for m in ("printed", "optimal")]
    [0.9461, 0.9913]
    """
    require_integer("v", v)
    targets = _checked(profile, priors, method, candidates)
    counts = np.asarray(v, np.float64)
    log_bounds = _log_bounds(method, refine)(counts.ravel(), profile, targets, candidates)
    log_bounds = log_bounds.reshape(counts.shape)
    if targets.failure > 0:
        log_bounds = np.where(
            counts > targets.count, -np.inf, np.logaddexp(log_bounds, math.log(targets.failure))
        )
    log_bounds = np.minimum(log_bounds, 0.0)
    return log_bounds if log else np.exp(log_bounds)


def max_successes(
    profile: Profile,
    priors: Priors,
    confidence: float = 0.95,
    method: str = "certified",
    *,
    refine: bool = True,
    candidates: int | None = None,
) -> int:
    """Largest number of successes that the bound leaves possible at `confidence`.

    That is the first v with bound <= 1 - confidence, less 1.

    Arguments otherwise as in `success_bound`.

    >>> from privacy_audit.bounds.profiles import ApproximateDP
    >>> max_successes(ApproximateDP(1.0, 1e-5, adjacency="replace_one"), [0.56] * 100)
    84
    """
    require("confidence", "in (0, 1)", confidence, lambda c: (c > 0) & (c < 1))
    targets = _checked(profile, priors, method, candidates)

    def excluded(v: int, fine: bool = refine) -> bool:
        bound = success_bound(v, profile, targets, method, refine=fine, candidates=candidates)
        return bool(bound <= 1 - confidence)

    high = _first(lambda v: excluded(v, False), 0, targets.count + 1)
    if method != "certified" or not refine:
        return high - 1
    # Refining gains a few counts at most: look close below the closed form first, then further and further.
    step = 1
    while high - step > 0 and excluded(high - step):
        high, step = high - step, 2 * step
    return _first(excluded, max(high - step, 0), high) - 1


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest v in (low, high] for which a monotone condition holds, given that it holds at `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _checked(profile: Profile, priors: Priors, method: str, candidates: int | None) -> Targets:
    targets = as_targets(priors)
    if method not in ("certified", "optimal", "printed"):
        raise ValueError(f"method must be 'certified', 'optimal' or 'printed', got {method!r}")
    if not hasattr(profile, "adjacency"):
        raise ValueError(f"profile must be a privacy profile with an adjacency, got {profile!r}")
    targets.require_adjacency(profile.adjacency)
    if method == "optimal" and targets.count and targets.uniform is None:
        kinds = ", ".join(f"κ = {prior.largest:g}" for prior in targets.kinds[:3])
        raise ValueError(
            f"priors must be one uniform prior for all secrets with method 'optimal', got {kinds}"
        )
    if candidates is not None:
        require_integer("candidates", candidates)
        require(
            "candidates",
            f">= {targets.count} (the number of priors)",
            candidates,
            lambda m: m >= targets.count,
        )
        if targets.uniform is None and profile.epsilon(0.0) == np.inf:
            raise ValueError(
                "priors must be one uniform prior for all secrets when candidates are passed over"
            )
    return targets


def _log_bounds(method: str, refine: bool) -> Callable:
    """The chosen method on counts of any size."""
    inner = {
        "certified": _certified if refine else _closed,
        "optimal": _optimal,
        "printed": _printed,
    }[method]

    def log_bounds(counts, profile, targets, candidates):
        inside = (counts >= 1) & (counts <= targets.count)
        result = np.where(counts >= 1, -np.inf, 0.0)
        if inside.any():
            whole, where = np.unique(counts[inside].astype(int), return_inverse=True)
            # Pr[L >= v] falls in v, so a bound at a smaller count holds at a larger one too.
            result[inside] = np.minimum.accumulate(inner(whole, profile, targets, candidates))[where]
        return result

    return log_bounds


def _grid(profile, size, smallest, targets, candidates) -> Grid:
    return points(profile, size, smallest).for_abstaining(candidates, targets.count)


def _printed(counts, profile, targets, candidates):
    grid = _grid(profile, _SCAN, 1e-12, targets, candidates)
    return log_printed(counts, grid, targets).min(axis=0)


def _closed(counts, profile, targets, candidates):
    grid = _grid(profile, _SCAN, 1e-12, targets, candidates)
    return log_closed_form(counts, grid, targets).min(axis=0)


def _certified(counts, profile, targets, candidates):
    closed = _closed(counts, profile, targets, candidates)
    if targets.count > _MOST_REFINED:
        return closed
    return np.array(
        [
            _refined(count, bound, profile, targets, candidates)
            for count, bound in zip(counts, closed, strict=True)
        ]
    )


def _refined(count: int, closed: float, profile, targets, candidates) -> float:
    grid = _fine_grid(_REFINED, closed, profile, targets, candidates)
    # No weights bring the bound below the pure one at any ε whose δ is 0, nor below the loosest of the tails.
    if grid.delta.max() == 0 or closed > -1e-12:
        return closed
    if (
        len(grid.epsilon) == 1
        and closed - log_pure_tail(np.array([count]), betas(grid, targets)[0])[0] < 1e-3
    ):
        return closed
    return min(closed, math.log(refine(int(count), grid, targets)))


def _optimal(counts, profile, targets, candidates):
    closed = _closed(counts, profile, targets, candidates)
    return np.array(
        [
            _optimum(count, bound, profile, targets, candidates)
            for count, bound in zip(counts, closed, strict=True)
        ]
    )


def _optimum(count: int, closed: float, profile, targets, candidates) -> float:
    prior = targets.uniform
    if prior.guesses == prior.symbols:
        return 0.0
    grid = _fine_grid(_OPTIMAL, closed, profile, targets, candidates)
    if grid.delta.max() == 0:
        return closed
    found = solve(int(count), targets.count, prior, grid)
    if found is not None and found.bound > _TOO_SMALL:
        return min(closed, math.log(found.bound))
    certified = (
        _refined(count, closed, profile, targets, candidates) if targets.count <= _MOST_REFINED else closed
    )
    return certified if found is None else min(certified, math.log(max(found.bound, np.finfo(float).tiny)))


def _fine_grid(size: int, closed: float, profile, targets, candidates) -> Grid:
    """Ends where n·δ is a small part of the bound that is already known."""
    smallest = 0.02 * math.exp(max(closed, math.log(1e-12))) / targets.count
    return _grid(profile, size, smallest, targets, candidates)
