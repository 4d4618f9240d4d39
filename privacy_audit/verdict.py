"""From a ledger's scores to what is concluded of each adversary."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from privacy_audit.estimate import Estimate, clopper_pearson
from privacy_audit.estimate.auc import Interval, auc, auc_difference
from privacy_audit.ledger import TRAINING
from privacy_audit.stopping import sequential_estimate

Scores = Mapping[str, Float[np.ndarray, "trials"]]


@dataclass(frozen=True)
class Finding:
    """What one statistic of one adversary shows.

    Attributes:
        estimate: by the rule that was asked for; its confidence is corrected for the number of statistics.
        among_all: the same, corrected for all statistics of all adversaries: the largest of them is a valid bound.
        same_sample: as the papers do it, beside it; not a valid bound.
    """

    adversary: str
    statistic: str
    estimate: Estimate
    among_all: Estimate
    same_sample: Estimate
    area: Interval
    scores_d: Float[np.ndarray, "trials"]
    scores_d_prime: Float[np.ndarray, "trials"]


@dataclass(frozen=True)
class Verdict:
    """All findings of a run, what was proven, and what went wrong in training.

    Attributes:
        epsilon_proven: upper bound on ε at `delta`; infinite where nothing is proven.
        nonfinite: per-example gradients that were not finite, in all trials.
    """

    findings: tuple[Finding, ...]
    epsilon_proven: float
    delta: float
    confidence: float
    trials: int
    nonfinite: int

    def best(self, adversary: str) -> Finding:
        """The statistic with the largest bound: valid, since each is corrected for their number."""
        mine = [finding for finding in self.findings if finding.adversary == adversary]
        return max(mine, key=lambda finding: finding.estimate.epsilon_lower)

    @property
    def headline(self) -> str:
        """What was played against what is proven."""
        proven = (
            f"proven ε = {self.epsilon_proven:.4g}" if math.isfinite(self.epsilon_proven) else "no ε proven"
        )
        return f"{proven} at δ = {self.delta:g}; {self.trials} trials per world"

    @property
    def best_of_all(self) -> Finding:
        """The largest bound of all adversaries, each held to 1 − (1 − confidence)/k for k statistics in all."""
        return max(self.findings, key=lambda finding: finding.among_all.epsilon_lower)

    @property
    def valid(self) -> bool:
        """Whether ε̂ is a bound at the stated confidence: not if the counted trials chose the threshold."""
        return all(finding.estimate.valid for finding in self.findings)

    @property
    def adversaries(self) -> tuple[str, ...]:
        """In the order in which they were asked for."""
        return tuple(dict.fromkeys(finding.adversary for finding in self.findings))


def conclude(
    scores_d: Scores,
    scores_d_prime: Scores,
    *,
    adversaries: Sequence[str],
    epsilon_proven: float,
    delta: float,
    confidence: float,
    threshold: str | float,
    explicit: Mapping[str, float] | None = None,
) -> Verdict:
    """Estimates ε from every statistic of every adversary.

    Args:
        scores_d, scores_d_prime: by `adversary/statistic`, as the ledger keeps them.
        adversaries: in the order in which they are reported.
        confidence: of each adversary's largest bound; with k statistics each is held to 1 − (1 − confidence)/k.
        threshold: rule or number. `anytime`: valid whatever stopped the run; `explicit`: the number in
            `explicit` where there is one, held-out elsewhere.
        explicit: thresholds fixed before the trials, by `adversary/statistic`.
    """
    explicit = explicit or {}
    names = [name for mine in adversaries for name in scores_d if name.startswith(f"{mine}/")]
    findings = []
    for name in names:
        siblings = sum(other.split("/")[0] == name.split("/")[0] for other in names)
        rule = explicit.get(name, "held-out") if threshold == "explicit" else threshold
        worlds = scores_d[name], scores_d_prime[name]
        findings.append(_finding(name, worlds, rule, (siblings, len(names)), delta, confidence))
    counts = [world[f"{TRAINING}nonfinite"] for world in (scores_d, scores_d_prime)]
    return Verdict(
        tuple(findings),
        epsilon_proven,
        delta,
        confidence,
        trials=len(counts[0]),
        nonfinite=int(sum(count.sum() for count in counts)),
    )


def _finding(name: str, worlds, rule: str | float, shares: tuple[int, int], delta, confidence) -> Finding:
    """One statistic by `rule`; `shares`: how many statistics its adversary has, and all adversaries have."""

    def bound(rule, statistics: int) -> Estimate:
        shared = 1 - (1 - confidence) / statistics
        if rule == "anytime":
            return sequential_estimate(*worlds, delta=delta, confidence=shared)
        return clopper_pearson(*worlds, threshold=rule, delta=delta, confidence=shared)

    siblings, every = shares
    return Finding(
        *name.split("/"),
        bound(rule, siblings),
        bound(rule, every),
        bound("same-sample", siblings),
        auc(*worlds, confidence=confidence),
        *worlds,
    )


@dataclass(frozen=True)
class Difference:
    """AUC of one adversary minus that of the next."""

    first: str
    second: str
    interval: Interval


def compare_pairs(verdict: Verdict) -> list[Difference]:
    """Each adversary against the next one asked for, paired: trial i has the same draws in both."""
    ordered = [verdict.best(name) for name in verdict.adversaries]
    return [
        Difference(
            a.adversary,
            b.adversary,
            auc_difference(
                a.scores_d,
                a.scores_d_prime,
                b.scores_d,
                b.scores_d_prime,
                paired=True,
                confidence=verdict.confidence,
            ),
        )
        for a, b in itertools.pairwise(ordered)
    ]
