"""The best of several configurations, corrected for having looked at all of them."""

import dataclasses
from collections.abc import Callable, Mapping

from privacy_audit.estimate.result import Estimate


def best_of(
    worlds: Mapping[str, tuple], estimator: Callable[..., Estimate], *, confidence: float = 0.95, **arguments
) -> Estimate:
    """The largest bound over named pairs of scores, each made at confidence 1 − (1 − confidence)/k.

    The union over the k configurations then holds at `confidence`, however they depend on each other. It
    bounds the largest ε among them.

    Args:
        worlds: For each configuration (σ, statistic, adversary) the scores of D and of D'.
        estimator: Any estimator of this package.
        confidence: Coverage of the result.
        **arguments: Passed on, `delta` among them.

    Raises:
        ValueError: if there is no configuration.
    """
    if not worlds:
        raise ValueError("worlds must name at least one configuration, got none")
    each = 1 - (1 - confidence) / len(worlds)
    results = {name: estimator(*pair, confidence=each, **arguments) for name, pair in worlds.items()}
    best = max(results, key=lambda name: results[name].epsilon_lower)
    note = f"best of {len(worlds)} configurations ({best}), each at confidence {each:.6g} (Bonferroni)"
    found = results[best]
    return dataclasses.replace(found, confidence=confidence, assumptions=(*found.assumptions, note))
