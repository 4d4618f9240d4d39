"""Bring your own: audits any Python training function, in processes, with the same ledger and report."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import multiprocessing
import numbers
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import numpy as np
from etils import epath

from privacy_audit.bounds.profiles import PrivacyProfile
from privacy_audit.estimate.clopper_pearson import check_threshold
from privacy_audit.estimate.scores import check_level
from privacy_audit.ledger import TRAINING, Block, CorruptBlock, Ledger, blocks, open_ledger
from privacy_audit.own_code import code_of, has_changed
from privacy_audit.progress import Progress
from privacy_audit.report import publish
from privacy_audit.verdict import conclude

SECONDS_BETWEEN_WRITES = 20.0

Train = Callable[[int, int], Any]
"""(world, seed) -> model. World 1 has the target, world 0 has not; the seed decides all randomness."""

Score = Callable[[Any], float | Mapping[str, float]]
"""model -> one score, or several by name; higher = more likely world 1."""


class TrialFailed(RuntimeError):
    """The training or the score of a trial raised or was not a finite number; the other trials are kept."""


@dataclass(frozen=True)
class OwnAudit:
    """What the scores of a run with its own trainer depend on, as far as we can know it."""

    name: str
    trials: int
    seed: int

    @property
    def identity(self) -> str:
        """Hash of the fields."""
        return hashlib.sha256(json.dumps(dataclasses.asdict(self)).encode()).hexdigest()


def audit_trainer(
    train: Train,
    score: Score,
    trials: int,
    *,
    out: str | epath.Path,
    delta: float,
    profile: PrivacyProfile | None = None,
    confidence: float = 0.95,
    threshold: str | float = "held-out",
    seed: int = 0,
    processes: int = 0,
    name: str = "own",
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Plays the game with your training code and returns the report, which is also written to `out`.

    Args:
        train: (world, seed) -> model; no JAX assumed. With `processes` it must be importable (no lambda).
        score: model -> a number, or a dict of named numbers; higher = more likely world 1.
        trials: per world, held-out trials included.
        out: folder of the ledger; a run that was stopped, or had trials that failed, goes on from there. Trials
            that are in it stay as they are, also when your code has changed since: use another folder then.
        delta: of the measured ε.
        profile: what you claim of the mechanism: the report sets it beside the measured ε.
        confidence: coverage of the bound.
        threshold: rule of the Clopper-Pearson estimator, or a number fixed beforehand.
        seed: trial i of world w is given its own seed, derived from this one.
        processes: how many worker processes; 0: everything in this one.
        name: of the adversary in the report.
        say: where to tell how the run goes.

    Raises:
        ValueError: on wrong arguments, or where `out` holds another run.
        TrialFailed: naming the trials that failed, after all others have been played and kept.
    """
    own = OwnAudit(name, trials, seed)
    _check(own, profile, processes)
    check_level(delta, confidence)
    check_threshold(threshold)
    began = time.monotonic()
    description = {"identity": own.identity, "config": dataclasses.asdict(own)}
    code = code_of(train, score)
    ledger = open_ledger(out, {**description, "code": code})
    if changed := has_changed(ledger.folder, code):
        say(
            f"train or score has changed since trials in {out} were played; for the new code alone use another out"
        )
    _play_all(_Player(train, score, own), ledger, processes, say)
    world_0, world_1 = (
        {f"{TRAINING}nonfinite": np.zeros(trials), **world} for world in _worlds(ledger, trials)
    )
    verdict = conclude(
        world_0,
        world_1,
        adversaries=(name,),
        epsilon_proven=float("inf") if profile is None else float(profile.epsilon(delta)),
        delta=delta,
        confidence=confidence,
        threshold=threshold,
    )
    facts = {**description, "seconds": round(time.monotonic() - began, 1), "code_changed": changed}
    facts["adjacency"] = None if profile is None else profile.adjacency
    return publish(ledger, verdict, facts, profile, say)


def _check(own: OwnAudit, profile: PrivacyProfile | None, processes: int) -> None:
    """Raises ValueError before anything is trained."""
    for name, least in (("trials", 2), ("seed", 0)):
        value = getattr(own, name)
        if not isinstance(value, numbers.Integral) or value < least:
            raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    if not own.name or "/" in own.name or f"{own.name}/" == TRAINING:
        raise ValueError(f"name must have letters, no slash, and not be {TRAINING[:-1]}, got {own.name!r}")
    if profile is not None and not isinstance(profile, PrivacyProfile):
        raise ValueError(f"profile must be a privacy profile of privacy_audit.bounds, got {profile!r}")
    if not isinstance(processes, numbers.Integral) or processes < 0:
        raise ValueError(f"processes must be a whole number >= 0, got {processes!r}")


def _worlds(ledger: Ledger, trials: int):
    """Both worlds' scores, by `name/statistic`."""
    try:
        return ledger.read_all(trials)
    except CorruptBlock as error:
        raise ValueError(f"score must name the same statistics in every trial, got {error}") from None


def trial_seed(seed: int, world: int, trial: int) -> int:
    """The seed of one trial, 63 bits; worlds and trials never share one.

    >>> trial_seed(0, 0, 0) != trial_seed(0, 1, 0)
    True
    """
    return int(np.random.SeedSequence([seed, world, trial]).generate_state(1, np.uint64)[0] >> 1)


@dataclass(frozen=True)
class _Player:
    """Plays one trial; picklable where `train` and `score` are."""

    train: Train
    score: Score
    own: OwnAudit

    def __call__(self, world: int, trial: int) -> dict[str, float]:
        """Scores by `name/statistic`."""
        scores = self.score(self.train(world, trial_seed(self.own.seed, world, trial)))
        if not isinstance(scores, Mapping):
            scores = {"score": scores}
        if not scores or any("/" in str(key) for key in scores):
            raise ValueError(
                f"score must be a number, or numbers by names without a slash, got {dict(scores)}"
            )
        return {f"{self.own.name}/{key}": _number(value) for key, value in scores.items()}


def _number(value: Any) -> float:
    if not isinstance(value, numbers.Real) and np.shape(value) != ():
        raise ValueError(f"score must be one number, got shape {np.shape(value)}")
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"score must be finite, got {number}")
    return number


def _play_all(player: _Player, ledger: Ledger, processes: int, say) -> None:
    wanted = blocks(player.own.trials)
    found = {block: _kept(ledger, block, say) for block in wanted}
    done = sum(block.count - len(_missing(found[block], block)) for block in wanted)
    if done:
        say(f"resumed {done} of {2 * player.own.trials} trials from {ledger.folder}")
    progress = Progress(2 * player.own.trials, "trials", done=done)
    failures: list[str] = []
    try:
        for block in wanted:
            failures += _play_block(player, ledger, block, found[block], processes, progress)
    finally:
        progress.close()
    if failures:
        more = "" if len(failures) == 1 else f" (and {len(failures) - 1} more)"
        raise TrialFailed(
            f"{failures[0]}{more}; the other trials are kept, and the same call plays these again"
        )


def _kept(ledger: Ledger, block: Block, say) -> dict[str, np.ndarray]:
    """What is on disk of a block; trials that are missing in it are NaN."""
    try:
        return ledger.read(block) or {}
    except CorruptBlock as error:
        say(f"{error}: its trials are played again")
        return {}


def _missing(arrays: Mapping[str, np.ndarray], block: Block) -> list[int]:
    if not arrays:
        return list(range(block.count))
    return np.flatnonzero(np.any([np.isnan(values) for values in arrays.values()], axis=0)).tolist()


def _play_block(
    player, ledger: Ledger, block: Block, arrays, processes: int, progress: Progress
) -> list[str]:
    """Plays what a block lacks, writing it every now and then; returns what failed."""
    arrays = {name: values.copy() for name, values in arrays.items()}
    failures, written = [], time.monotonic()
    missing = _missing(arrays, block)
    try:
        for position, result in _results(player, block, missing, processes):
            problem = _problem(result, arrays)
            if problem:
                failures.append(f"trial {block.first + position} of world {block.world} failed: {problem}")
            else:
                for name, value in result.items():
                    arrays.setdefault(name, np.full(block.count, np.nan))[position] = value
            progress.advance(1)
            if arrays and time.monotonic() - written > SECONDS_BETWEEN_WRITES:
                ledger.write(block, arrays)
                written = time.monotonic()
    finally:
        if missing and arrays:
            ledger.write(block, arrays)
    return failures


def _problem(result: dict[str, float] | Exception, arrays: Mapping[str, np.ndarray]) -> str:
    """What is wrong with a trial's result, in words; empty if nothing is."""
    if isinstance(result, BrokenProcessPool):
        return (
            "its worker process died: of too little memory, or of a script that starts the audit outside of "
            '`if __name__ == "__main__":`'
        )
    if isinstance(result, Exception):
        return f"{type(result).__name__}: {result}"
    if arrays and set(result) != set(arrays):
        names = [", ".join(sorted(name.split("/")[1] for name in each)) for each in (arrays, result)]
        return f"score must name the same statistics in every trial ({names[0]}), got {names[1]}"
    return ""


def _results(player, block: Block, positions: list[int], processes: int) -> Iterator[tuple[int, Any]]:
    """(position in the block, scores or the exception) of each trial, as they come."""
    if processes == 0:
        for position in positions:
            yield position, _attempt(player, block.world, block.first + position)
        return
    if not positions:
        return
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = {pool.submit(_attempt, player, block.world, block.first + p): p for p in positions}
        for future in concurrent.futures.as_completed(waiting):
            yield waiting[future], _result(future)


def _result(future: concurrent.futures.Future) -> dict[str, float] | Exception:
    try:
        return future.result()
    except BrokenProcessPool as error:  # a worker that died takes all that wait with it
        return error


def _attempt(player: _Player, world: int, trial: int) -> dict[str, float] | Exception:
    try:
        return player(world, trial)
    except Exception as error:  # whatever the user's code raises is reported with its trial
        return error


if __name__ == "__main__":
    raise SystemExit("privacy_audit.own_trainer is a Python API: see README, or help(audit_trainer)")
