"""Thresholds that theory gives before any trial."""

from __future__ import annotations

import numpy as np

from privacy_audit.attacks import ADVERSARIES, Law
from privacy_audit.config import AuditConfig
from privacy_audit.estimate.clopper_pearson import epsilon_from_counts

CANDIDATES = 20_001


def explicit_thresholds(config: AuditConfig, confidence: float) -> dict[str, float]:
    """By `adversary/statistic`, for those adversaries whose score has a known law."""
    thresholds = {}
    for name in config.adversaries:
        entry = ADVERSARIES[name]
        law = entry.law(config.plan, config.options.get(name, entry.options()))
        if law is not None:
            best = best_threshold(law, config.trials, config.delta, confidence)
            thresholds[f"{name}/likelihood_ratio"] = best
    return thresholds


def best_threshold(law: Law, trials: int, delta: float, confidence: float) -> float:
    """The threshold whose expected error counts, of so many trials a world, give the largest bound on ε.

    >>> from privacy_audit.attacks.mixture_law import mixture_law
    >>> law = mixture_law(2.0, 1.0, 4, "add_remove")  # at q = 1 a threshold and its mirror image are equally good
    >>> round(abs(best_threshold(law, 1_000_000, 1e-5, 0.95)), 2)
    3.55
    """
    values = np.linspace(law.values[0], law.values[-1], CANDIDATES)
    errors = np.clip([1 - law.cdf(values, 0), law.cdf(values, 1)], 0.0, 1.0) * trials
    promised = epsilon_from_counts(*errors, trials, delta=delta, confidence=confidence)
    if promised.max() <= 0:  # nothing promised: the split of the largest advantage
        promised = -errors.sum(0)
    return float(values[np.argmax(promised)])
