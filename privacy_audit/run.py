"""A whole audit: configuration → data → crafter → trials → ledger → verdict → report."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
from etils import epath

from privacy_audit.attacks import Task
from privacy_audit.config import AuditConfig, require
from privacy_audit.counted import counted_document, is_counted, play_counted
from privacy_audit.devices import Hosts
from privacy_audit.estimate.result import finite_or_none
from privacy_audit.explicit import explicit_thresholds
from privacy_audit.ledger import BLOCK, Ledger, open_ledger, write_json
from privacy_audit.match import Match, compile_match
from privacy_audit.play import ALONE, Schedule, play_all, wait_for_others
from privacy_audit.prepare import craft_all, prepare_task
from privacy_audit.report import publish
from privacy_audit.report.document import SCHEMA_VERSION, hardware, versions
from privacy_audit.stopping import StopRule, play_until
from privacy_audit.train.backend import most_trials_at_once
from privacy_audit.verdict import Verdict, conclude

SMALLEST_SHARE = 16
"""Trials that a device gets at least in one call, so that calls cost nothing beside training."""


@dataclass(frozen=True)
class Means:
    """By what a run is played: nothing of it changes a score.

    Attributes:
        hosts: the processes that share the run; the first waits for all and writes the report.
        chunk: trials per call of the compiled program, rounded up to whole shares; 0: what suits the devices.
        devices: where trials are trained.
        say: where to tell how the run goes.
    """

    hosts: Hosts
    chunk: int
    devices: Sequence[jax.Device]
    say: Callable[[str], None]


class Stage(NamedTuple):
    """What runs at several σ share: the ground, and the compiled programs."""

    task: Task
    programs: tuple[Callable, ...]


def run_audit(config: AuditConfig, folder: str | epath.Path, **how) -> dict[str, Any]:
    """Plays (or resumes) a run in `folder`, and writes and returns its report (the first process does).

    Args and errors: those of `run_audits`.
    """
    return run_audits([config], [folder], **how)[0]


def run_audits(
    configs: Sequence[AuditConfig],
    folders: Sequence[str | epath.Path],
    *,
    stop: StopRule | None = None,
    hosts: Hosts = ALONE,
    chunk: int = 0,
    devices: Sequence[jax.Device] | None = None,
    say: Callable[[str], None] = print,
) -> list[dict[str, Any]]:
    """Plays (or resumes) runs that differ in σ alone, one after the other, with one compiled program.

    Args:
        folders: a ledger each.
        stop: ends a run before `config.trials` once it is met; the bounds are then `anytime` ones.
        hosts, chunk, say: see `Means`.
        devices: where trials are trained; all local devices by default.

    Raises:
        ValueError: the configurations differ in more, a folder holds another one, or the data cannot serve them.
        OSError: a folder cannot be written.
    """
    _check_alike(configs)
    means = Means(hosts, chunk, list(devices or jax.local_devices()), say)
    stage, documents = None, []
    for config, folder in zip(configs, folders, strict=True):
        document, stage = _run(config, folder, stop, means, stage)
        documents.append(document)
    return documents


def _check_alike(configs: Sequence[AuditConfig]) -> None:
    for config in configs[1:]:
        same = dataclasses.replace(config, noise_multiplier=configs[0].noise_multiplier)
        for field in dataclasses.fields(config):
            theirs, first = getattr(same, field.name), getattr(configs[0], field.name)
            require(theirs == first, field.name, f"the same in all runs ({first})", theirs)


def _run(
    config: AuditConfig, folder, stop: StopRule | None, means: Means, stage: Stage | None
) -> tuple[dict[str, Any], Stage | None]:
    """One run; returns its report, and what the next may use again."""
    began, say = time.monotonic(), means.say
    is_new = not (epath.Path(folder) / "run.json").exists()
    ledger = open_ledger(folder, {"identity": config.identity, "config": config.to_json()})
    try:
        say(f"proven ε = {_proven(config):.4g} at δ = {config.delta:g}, σ = {config.noise_multiplier:.4g}")
        if is_counted(config):
            return _run_counted(config, ledger, means.devices, began, say), None
        match, stage = _prepared(config, means, stage)
    except (ValueError, ArithmeticError):
        if is_new:
            ledger.withdraw()
        raise
    played, resumed = _play(config, match, ledger, stop, means)
    if means.hosts.index:
        return {}, stage
    wait_for_others(played, ledger, say)
    facts = {
        "adjacency": config.profile.adjacency,
        "accountant": config.accountant,
        "config": config.to_json(),
        "identity": config.identity,
        "seconds": round(time.monotonic() - began, 1),
        "resumed_trials": resumed,
    }
    return publish(ledger, _conclude(config, ledger, played), facts, config.profile, say), stage


def _prepared(config: AuditConfig, means: Means, stage: Stage | None) -> tuple[Match, Stage]:
    task = prepare_task(config) if stage is None else stage.task.with_noise(config.noise_multiplier)
    contestants = craft_all(config, task, means.say)
    match = compile_match(task, contestants, config.seed, means.devices, stage and stage.programs)
    return match, Stage(task, match.programs)


def _play(
    config: AuditConfig, match: Match, ledger: Ledger, stop: StopRule | None, means: Means
) -> tuple[int, int]:
    """Plays the trials; returns how many per world, and how many the ledger held before."""
    means.say(match.sharing(config.trials))
    chunk = chunk_size(means.chunk, config.trials, len(means.devices))
    schedule = Schedule(match, match.joiners, chunk)
    if stop is None:
        return config.trials, play_all(schedule, config.trials, ledger, means.say, means.hosts)
    return play_until(schedule, config.trials, stop, ledger, means.say), 0


def chunk_size(wanted: int, trials: int, devices: int) -> int:
    """Trials per call: a whole number of equal shares, no more than a block or the run needs.

    >>> chunk_size(0, trials=250, devices=2), chunk_size(3, trials=250, devices=2)
    (32, 4)
    """
    share = max(SMALLEST_SHARE, most_trials_at_once())
    chunk = wanted or min(share * devices, trials, BLOCK)
    return -(-chunk // devices) * devices


def _run_counted(config: AuditConfig, ledger: Ledger, devices, began: float, say) -> dict[str, Any]:
    """A run too large to keep its scores: its report has no figure and no table."""
    (name,) = config.adversaries
    entry = counted_document(*play_counted(config, ledger, devices), config)
    document = {
        "schema_version": SCHEMA_VERSION,
        "epsilon_proven": _proven(config),
        "delta": config.delta,
        "adjacency": config.adjacency,
        "accountant": config.accountant,
        "adversaries": {name: entry},
        "config": config.to_json(),
        "identity": config.identity,
        "versions": versions(),
        "hardware": hardware(),
        "seconds": round(time.monotonic() - began, 1),
    }
    write_json(ledger.folder / "report.json", finite_or_none(document))
    print(f"{name}: ε̂ = {entry['epsilon_lower']:.4g}, explicit threshold, {config.trials} trials per world")
    say(f"report.json is in {ledger.folder} ({document['seconds']} s)")
    return document


def _proven(config: AuditConfig) -> float:
    return float(config.profile.epsilon(config.delta))


def _conclude(config: AuditConfig, ledger: Ledger, trials: int) -> Verdict:
    return conclude(
        *ledger.read_all(trials),
        adversaries=config.adversaries,
        epsilon_proven=_proven(config),
        delta=config.delta,
        confidence=config.confidence,
        threshold=config.threshold,
        explicit=explicit_thresholds(config, config.confidence) if config.threshold == "explicit" else None,
    )
