"""Runs of a million trials and more, in constant memory: counts at a threshold fixed beforehand, and a histogram.

Only adversaries whose trials need no training, and whose score has a known law, can play so many. A ledger holds one
file a world and `TALLY` trials, `c{world}-{first}.npz`; a resumed run counts what is missing.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from privacy_audit.attacks import ADVERSARIES, Law
from privacy_audit.config import AuditConfig, require
from privacy_audit.devices import over_devices
from privacy_audit.estimate import Estimate
from privacy_audit.estimate.clopper_pearson import (
    INDEPENDENT,
    epsilon_from_counts,
    epsilon_from_rates,
    rate_lower,
)
from privacy_audit.explicit import explicit_thresholds
from privacy_audit.game import trial_key
from privacy_audit.ledger import Ledger
from privacy_audit.progress import Progress

COUNTED_FROM = 1_000_000
TALLY = 2**22
AT_ONCE = 2**16
"""Trials that a device draws in one call."""
BINS = 8192
STATISTIC = "likelihood_ratio"


@dataclass(frozen=True)
class Tally:
    """Trials `first` … `first + count − 1` of one world."""

    world: int
    first: int
    count: int

    @property
    def filename(self) -> str:
        """`c{world}-{first}.npz`"""
        return f"c{self.world}-{self.first:012d}.npz"


class Counts(NamedTuple):
    """What is kept of one world.

    Attributes:
        above: trials whose score is at or above the threshold.
        histogram: `[BINS]` trials by score; the outer bins hold all beyond.
    """

    above: int
    histogram: Int[np.ndarray, "BINS"]


@dataclass(frozen=True, eq=False)
class Counter:
    """Draws trials of one adversary and counts them.

    Attributes:
        edges: `[BINS + 1]`, equally spaced, fixed by the law.
        chunk: trials in a call of `draw`.
    """

    draw: Callable[[int, np.ndarray], np.ndarray]
    threshold: float
    edges: Float[np.ndarray, "BINS+1"]
    chunk: int

    def count(self, tally: Tally, progress: Progress) -> Counts:
        """Plays a tally's trials."""
        above, histogram = 0, np.zeros(BINS, np.int64)
        low, width = self.edges[0], self.edges[1] - self.edges[0]
        for start in range(tally.first, tally.first + tally.count, self.chunk):
            kept = min(self.chunk, tally.first + tally.count - start)
            trials = np.arange(start, start + self.chunk, dtype=np.uint32)
            scores = np.asarray(self.draw(tally.world, trials))[:kept].astype(np.float64)
            above += int(np.count_nonzero(scores >= self.threshold))
            bins = np.clip((scores - low) / width, 0, BINS - 1).astype(np.int64)
            histogram += np.bincount(bins, minlength=BINS)
            progress.advance(kept)
        return Counts(above, histogram)


def is_counted(config: AuditConfig) -> bool:
    """Whether a run keeps counts instead of scores.

    Raises:
        ValueError: it has so many trials that it must, and cannot.
    """
    if config.trials < COUNTED_FROM:
        return False
    for name in config.adversaries:
        known = _law(config, name) is not None and _drawn(config, name)
        require(known, "trials", f"< {COUNTED_FROM} for {name}, which trains its models", config.trials)
    require(
        config.threshold == "explicit",
        "threshold",
        f"explicit from {COUNTED_FROM} trials on, whose scores are not kept",
        config.threshold,
    )
    require(len(config.adversaries) == 1, "adversary", "one alone in so large a run", config.adversaries)
    return True


def play_counted(
    config: AuditConfig, ledger: Ledger, devices: Sequence[jax.Device]
) -> tuple[Counter, list[Counts]]:
    """Counts every tally that the ledger lacks; returns what counted and both worlds' counts."""
    (name,) = config.adversaries
    counter = make_counter(config, name, devices)
    starts = range(0, config.trials, TALLY)
    tallies = [Tally(w, first, min(TALLY, config.trials - first)) for first in starts for w in (0, 1)]
    worlds = [Counts(0, np.zeros(BINS, np.int64)), Counts(0, np.zeros(BINS, np.int64))]
    progress = Progress(2 * config.trials, "trials")
    for tally in tallies:
        counts = _read(ledger, tally)
        if counts is None:
            counts = counter.count(tally, progress)
            ledger.write(tally, counts._asdict())
        before = worlds[tally.world]
        worlds[tally.world] = Counts(before.above + counts.above, before.histogram + counts.histogram)
    progress.close()
    return counter, worlds


def make_counter(config: AuditConfig, name: str, devices: Sequence[jax.Device]) -> Counter:
    """The compiled draw, the threshold and the histogram's edges, all before any trial."""
    entry = ADVERSARIES[name]
    adversary = _adversary(config, name)

    def share(world, trials):
        def score(trial):
            return adversary.reduced(None, trial_key(config.seed, world, trial), world)[STATISTIC]

        return jax.vmap(score)(trials)

    program = jax.jit(over_devices(share, devices, mapped=1))
    law = entry.law(config.plan, _options(config, name))
    threshold = explicit_thresholds(config, config.confidence)[f"{name}/{STATISTIC}"]
    edges = np.linspace(law.values[0], law.values[-1], BINS + 1)
    return Counter(
        lambda world, trials: program(jnp.int32(world), trials), threshold, edges, AT_ONCE * len(devices)
    )


def counted_document(counter: Counter, worlds: Sequence[Counts], config: AuditConfig) -> dict[str, Any]:
    """The report's entry of the adversary: the valid bound, the papers' convention beside it, the histogram."""
    n, level = config.trials, config.confidence
    d, d_prime = worlds
    assumed = (INDEPENDENT, "the threshold was fixed by the score's exact law before any trial")
    estimate = _estimate(d.above, n - d_prime.above, counter.threshold, config, "explicit", assumed, True)
    false_positives = n - np.cumsum(d.histogram)[:-1]
    false_negatives = np.cumsum(d_prime.histogram)[:-1]
    shown = epsilon_from_counts(false_positives, false_negatives, n, delta=config.delta, confidence=level)
    best = int(np.argmax(shown))
    chosen = int(false_positives[best]), int(false_negatives[best]), float(counter.edges[best + 1])
    warning = (INDEPENDENT, "not a valid bound: the trials that are counted chose the threshold")
    same_sample = _estimate(*chosen, config, "same-sample", warning, False)
    area = float(
        (d_prime.histogram / n)
        @ (np.cumsum(d.histogram) - d.histogram / 2)
        / n  # ties within a bin count half
    )
    return {
        "epsilon_lower": estimate.epsilon_lower,
        "confidence": level,
        "trials_per_world": n,
        "statistic": STATISTIC,
        "estimate": estimate.to_json(),
        "same_sample": same_sample.to_json(),
        "auc": area,
    }


def _estimate(false_positives, false_negatives, threshold, config, rule, assumptions, valid) -> Estimate:
    n, delta, confidence = config.trials, config.delta, config.confidence
    lower_rates = [rate_lower(k, n, (1 - confidence) / 2) for k in (false_positives, false_negatives)]
    return Estimate(
        method=f"clopper_pearson, {rule} threshold",
        epsilon_lower=float(
            epsilon_from_counts(false_positives, false_negatives, n, delta=delta, confidence=confidence)
        ),
        epsilon_point=float(epsilon_from_rates(false_positives / n, false_negatives / n, delta)),
        epsilon_upper=float(epsilon_from_rates(*lower_rates, delta)) if valid else None,
        delta=delta,
        confidence=confidence,
        valid=valid,
        assumptions=assumptions,
        threshold=threshold,
        false_positives=false_positives,
        false_negatives=false_negatives,
        trials_d=n,
        trials_d_prime=n,
    )


def _read(ledger: Ledger, tally: Tally) -> Counts | None:
    path = ledger.folder / tally.filename
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            counts = Counts(int(stored["above"]), stored["histogram"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    whole = counts.histogram.shape == (BINS,) and counts.histogram.sum() == tally.count
    return counts if whole else None


def _options(config: AuditConfig, name: str):
    return config.options.get(name, ADVERSARIES[name].options())


def _law(config: AuditConfig, name: str) -> Law | None:
    return ADVERSARIES[name].law(config.plan, _options(config, name))


def _drawn(config: AuditConfig, name: str) -> bool:
    return _adversary(config, name).reduced is not None


def _adversary(config: AuditConfig, name: str):
    return ADVERSARIES[name].make(_Settings(config.plan), _options(config, name))


class _Settings(NamedTuple):
    """The part of a trainer that an adversary reads whose trials need no training."""

    plan: Any
