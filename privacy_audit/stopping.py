"""Stopping an audit as soon as it has shown enough, with bounds that hold at all times together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from privacy_audit.estimate import Estimate, anytime
from privacy_audit.ledger import TRAINING, Ledger
from privacy_audit.play import Schedule, complete, stored_parts
from privacy_audit.progress import Progress

PILOT = 64
"""Trials per world that fix the thresholds and are not counted."""

STEP = 32
"""Trials per world between two looks."""

Scores = Mapping[str, Float[np.ndarray, "trials"]]
Audits = Mapping[str, anytime.AnytimeAudit]
"""How far the anytime bound of each statistic has come."""


@dataclass(frozen=True)
class StopRule:
    """When to stop: some ε̂ exceeds `above`, or no interval is wider than `width`.

    Attributes:
        confidence: of all bounds together: k statistics are held to 1 − (1 − confidence)/k each.
    """

    above: float | None
    width: float | None
    delta: float
    confidence: float

    def start(self, d: Scores, d_prime: Scores) -> Audits:
        """Fixes every statistic's threshold on the pilot trials."""
        names = [name for name in d if not name.startswith(TRAINING)]
        share = 1 - (1 - self.confidence) / len(names)
        return {
            name: anytime.start(d[name], d_prime[name], delta=self.delta, confidence=share) for name in names
        }

    def met(self, audits: Audits) -> bool:
        """Whether to stop now."""
        shown = any(anytime.should_stop(audit, above=self.above) for audit in audits.values())
        return shown or all(anytime.should_stop(audit, width=self.width) for audit in audits.values())


def play_until(
    schedule: Schedule, trials: int, rule: StopRule, ledger: Ledger, say: Callable[[str], None]
) -> int:
    """Plays both worlds in steps until the rule is met, `trials` at the most; returns how many were played.

    The same command stops at the same trial again, playing nothing that the ledger holds.

    Raises:
        ValueError: there are no trials beyond the pilot.
    """
    check_beyond_pilot(trials)
    schedule = schedule._replace(chunk=min(schedule.chunk, STEP))
    progress = Progress(trials * (1 + schedule.contestants), "trainings")
    audits: Audits = {}
    try:
        for done in [PILOT, *range(PILOT + STEP, trials, STEP), trials]:
            complete(schedule, stored_parts(done, ledger, say), ledger, progress)
            d, d_prime = ledger.read_all(done)
            audits = _advanced(audits, rule, d, d_prime)
            if done > PILOT and rule.met(audits):
                say(f"stopped after {done} of {trials} trials per world: the rule is met")
                return done
    finally:
        progress.close()
    return trials


def sequential_estimate(d, d_prime, *, delta: float, confidence: float) -> Estimate:
    """The anytime bound after all these trials, with a look every `STEP`; valid whatever ended the run.

    Raises:
        ValueError: there are no trials beyond the pilot.
    """
    most = min(len(d), len(d_prime))
    check_beyond_pilot(most)
    audit = anytime.start(d[:PILOT], d_prime[:PILOT], delta=delta, confidence=confidence)
    for start in range(PILOT, most, STEP):
        audit = anytime.update(audit, d[start : start + STEP], d_prime[start : start + STEP])
    return anytime.estimate(audit)


def check_beyond_pilot(trials: int) -> None:
    """Raises ValueError unless there are trials beyond the pilot."""
    if trials <= PILOT:
        raise ValueError(
            f"trials must be > {PILOT} for a bound at all times (so many are its pilot), got {trials}"
        )


def _advanced(audits: Audits, rule: StopRule, d: Scores, d_prime: Scores) -> Audits:
    """The audits after the trials that they have not seen yet."""
    if not audits:
        return rule.start(d, d_prime)
    return {
        name: anytime.update(audit, d[name][_seen(audit) :], d_prime[name][_seen(audit) :])
        for name, audit in audits.items()
    }


def _seen(audit: anytime.AnytimeAudit) -> int:
    return audit.pilot_d + audit.trials_d
