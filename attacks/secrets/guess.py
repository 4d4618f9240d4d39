"""From likelihood ratios and a prior to guesses."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

STRENGTHS = np.concatenate([[0.0], np.geomspace(0.05, 100.0, 250)])
NORMAL = 1.4826
"""Standard deviation of a normal variable over its median absolute deviation."""


def with_prior(
    ratios: Float[np.ndarray, "n m"], probabilities: Float[np.ndarray, "*n m"]
) -> Float[np.ndarray, "n m"]:
    """log posterior of each candidate, up to a constant, when the secret's ratio lies μ deviations above the others'.

    What training did to a candidate behind all prompts alike is no trace of one secret: each candidate's ratios are
    standardised over the targets, by medians, which the few true ones hardly move. Then each target's are standardised
    over its candidates. μ, the same for all targets, is what makes all the ratios likeliest under the prior; no secret
    is needed for that. Where training left no trace μ is 0, and the guess is the prior's.
    """
    standard = _by_target(_by_candidate(ratios))
    with np.errstate(divide="ignore"):
        log_prior = np.log(probabilities)
    evidence = [np.sum(logsumexp(log_prior + mu * standard - mu**2 / 2, axis=1)) for mu in STRENGTHS]
    return log_prior + STRENGTHS[int(np.argmax(evidence))] * standard


def _by_candidate(ratios: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    centred = ratios - np.median(ratios, axis=0)
    return centred / _positive(NORMAL * np.median(np.abs(centred), axis=0))


def _by_target(values: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    return (values - values.mean(axis=1, keepdims=True)) / _positive(values.std(axis=1, keepdims=True))


def _positive(deviation: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return np.where(deviation > 0, deviation, 1.0)


def best(scores: Float[np.ndarray, "n m"], guesses: int) -> Int[np.ndarray, "n guesses"]:
    """Numbers of the candidates with the largest scores, best first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :guesses]
