"""Priors estimated from samples: how often a guess is close enough, with a confidence that is accounted for."""

from collections.abc import Callable

import numpy as np
import scipy.special
from jaxtyping import ArrayLike, Float

from .._check import require
from .base import Prior

FAILURE = 1e-3


def within_l2(
    samples: Float[ArrayLike, "N d"],
    guesses: Float[ArrayLike, "G d"],
    radius: float,
    failure: float = FAILURE,
) -> Prior:
    """Success means a guess within Euclidean distance `radius` of the secret.

    κ of each guess lies in its Clopper-Pearson interval; all intervals hold at once except with probability
    `failure`, which success bounds add to what they return.

    Args:
        samples: independent draws of the secret; a vector is N scalars.
        guesses: every guess that the adversary may make, chosen without looking at `samples`. A third axis in
            the middle, [G, K, d], lets one attempt name K points.
        radius: in the units of the samples, >= 0.
        failure: in (0, 1).

    Raises:
        ValueError: on wrong shapes, a negative radius, or a failure probability outside (0, 1).
    """
    return _within(samples, guesses, radius, failure, lambda gap: np.sqrt(np.sum(gap**2, axis=-1)))


def within_l1(
    samples: Float[ArrayLike, "N d"],
    guesses: Float[ArrayLike, "G d"],
    radius: float,
    failure: float = FAILURE,
) -> Prior:
    """Success means a guess within L1 distance `radius` of the secret; arguments as in `within_l2`."""
    return _within(samples, guesses, radius, failure, lambda gap: np.sum(np.abs(gap), axis=-1))


def _within(samples, guesses, radius: float, failure: float, length: Callable) -> Prior:
    require("radius", ">= 0", radius, lambda r: r >= 0)
    require("failure", "in (0, 1)", failure, lambda f: (f > 0) & (f < 1))
    samples, guesses = _points(samples, guesses)
    hits = np.array([_hits(samples, attempt, radius, length) for attempt in guesses])
    low, high = _clopper_pearson(hits, len(samples), failure / len(guesses))
    return Prior(float(high.max()), float(low.min()), guesses=guesses.shape[1], failure=float(failure))


def _points(samples, guesses) -> tuple[np.ndarray, np.ndarray]:
    """Samples as [N, d] and guesses as [G, K, d]."""
    samples, guesses = np.asarray(samples, np.float64), np.asarray(guesses, np.float64)
    for name, array in (("samples", samples), ("guesses", guesses)):
        require(name, "finite", array, np.isfinite)
    samples = samples[:, None] if samples.ndim == 1 else samples
    guesses = guesses[:, None] if guesses.ndim == 1 else guesses
    guesses = guesses[:, None] if guesses.ndim == 2 else guesses
    fits = samples.ndim == 2 and guesses.ndim == 3 and samples.shape[1] == guesses.shape[2]
    if not fits or 0 in samples.shape + guesses.shape:
        raise ValueError(
            "samples and guesses must be non-empty [N, d] and [G, d] or [G, K, d], "
            f"got {samples.shape} and {guesses.shape}"
        )
    return samples, guesses


def _hits(samples: np.ndarray, attempt: np.ndarray, radius: float, length: Callable) -> int:
    near = np.zeros(len(samples), bool)
    for point in attempt:
        near |= length(samples - point) <= radius
    return int(near.sum())


def _clopper_pearson(hits: np.ndarray, trials: int, failure: float) -> tuple[np.ndarray, np.ndarray]:
    """Both ends, each wrong with probability at most failure/2."""
    inverse, upper_inverse = scipy.special.betaincinv, scipy.special.betainccinv
    low = np.where(hits > 0, inverse(np.maximum(hits, 1), trials - hits + 1, failure / 2), 0.0)
    high = np.where(hits < trials, upper_inverse(hits + 1, np.maximum(trials - hits, 1), failure / 2), 1.0)
    return low, high
