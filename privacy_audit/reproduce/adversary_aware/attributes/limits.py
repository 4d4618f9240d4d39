"""Bounds on the number of targets that any attack reconstructs, for the two games.

`drawn`: the priors are known exactly and differ by target, which is Paper U's own setting: `success_bound` as it is.

`real`: only the mean prior success κ over the population is bounded from samples. Given the known attributes C the
bound τ_C(v) + n·δ(ε) holds (the certified one with every jump at its largest, 1). Over independent targets C_i the mean
of τ_C is the tail of n coins of probability E β(ε, κ(C_i)), at most β(ε, E κ(C_i)) because β is concave in κ. So

    Pr[L >= v] <= min over ε of Pr[Binomial(n, β(ε, κ)) >= v] + n·δ(ε) + failure,

with κ the Clopper-Pearson upper end, wrong with probability `failure`, of the success of the best rule from known to
unknown attributes, at the number of hits on the public half that no rule exceeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privacy_audit.bounds import expected_successes, max_successes, success_bound
from privacy_audit.bounds.priors import Prior, categorical
from privacy_audit.bounds.profiles import ApproximateDP, GaussianDP, PureDP
from privacy_audit.estimate.clopper_pearson import rate_upper
from privacy_audit.reproduce.adversary_aware.attributes.settings import Settings
from privacy_audit.train.tabular import NoisyMarginals

ADJACENCY = "replace_one"


def drawn_limits(
    epsilon: float,
    mechanism: NoisyMarginals,
    unknown: Sequence[int],
    prior: np.ndarray,
    settings: Settings,
) -> dict[str, Any]:
    """Most reconstructed at the confidence, by what is used of the mechanism and by formula; and the mean at most."""
    priors = [categorical(row / row.sum()) for row in prior]
    promised = ApproximateDP(epsilon, settings.delta, adjacency=ADJACENCY)
    whole, varied = mechanism.profile(), mechanism.profile(unknown)
    confidence = settings.confidence

    def most(profile, method: str = "certified", refine: bool = False) -> int:
        return max_successes(profile, priors, confidence, method, refine=refine)

    return {
        "certified": most(whole, refine=settings.refine),
        "printed": most(whole, "printed"),
        "certified_epsilon_delta": most(promised),
        "printed_epsilon_delta": most(promised, "printed"),
        "certified_unknown_only": most(varied),
        "expected": expected_successes(whole, priors),
        "expected_unknown_only": expected_successes(varied, priors),
    }


def real_limits(mechanism: NoisyMarginals, hits: int, samples: int, settings: Settings) -> dict[str, Any]:
    """The same for real secrets, by the mean prior alone."""
    kappa = float(rate_upper(hits, samples, settings.failure))
    profile = mechanism.profile()
    printed = Prior(kappa, 0.0, failure=settings.failure)
    return {
        "kappa": hits / samples,
        "kappa_upper": kappa,
        "certified": _most_by_mean(profile, kappa, settings),
        "printed": max_successes(profile, [printed] * settings.targets, settings.confidence, "printed"),
    }


def _most_by_mean(profile: GaussianDP, kappa: float, settings: Settings) -> int:
    """The largest count that the bound of the module's head leaves possible."""
    counts = np.arange(1, settings.targets + 1)
    bound = mean_prior_bound(counts, profile, kappa, settings.targets) + settings.failure
    excluded = np.flatnonzero(bound <= 1 - settings.confidence)
    return int(counts[excluded[0]]) - 1 if excluded.size else settings.targets


def mean_prior_bound(counts: np.ndarray, profile: GaussianDP, kappa: float, targets: int) -> np.ndarray:
    """min over ε of Pr[Binomial(n, β(ε, κ)) >= v] + n·δ(ε)."""
    least = np.ones(len(counts))
    for delta in np.geomspace(1e-7, 1e-3, 13):
        epsilon = float(profile.epsilon(delta))
        pure = success_bound(counts, PureDP(epsilon, adjacency=ADJACENCY), np.full(targets, kappa))
        least = np.minimum(least, pure + targets * delta)
    return least
