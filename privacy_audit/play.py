"""Plays all trials of a run into its ledger, resuming where an earlier process stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from privacy_audit.devices import Hosts
from privacy_audit.ledger import Block, CorruptBlock, Ledger, blocks
from privacy_audit.progress import Progress

ALONE = Hosts()

SECONDS_BETWEEN_LOOKS = 1.0

Play = Callable[[int, np.ndarray], dict[str, np.ndarray]]
"""(who joins, trial numbers `[chunk]`) -> scores by `adversary/statistic`"""


class Schedule(NamedTuple):
    """How a run is played.

    Attributes:
        play: the compiled game, called with exactly `chunk` trials each time.
        contestants: their number; world 1 is played once for each.
        chunk: trials in one call.
    """

    play: Play
    contestants: int
    chunk: int

    def trainings_of(self, world: int) -> int:
        """Trainings that one trial of a world takes."""
        return self.contestants if world else 1


class Part(NamedTuple):
    """A block and what the ledger holds of it: its first trials, or nothing."""

    block: Block
    stored: dict[str, np.ndarray]

    @property
    def kept(self) -> int:
        """Trials that need not be played again."""
        return len(next(iter(self.stored.values()))) if self.stored else 0


def play_all(
    schedule: Schedule, trials: int, ledger: Ledger, say: Callable[[str], None], hosts: Hosts = ALONE
) -> int:
    """Plays whatever the ledger lacks of so many trials per world; returns how many it held.

    With several hosts each plays every `hosts.count`-th block; none waits for another.

    Args:
        say: where to tell what was resumed.

    Raises:
        RuntimeError: a Poisson batch overflowed its capacity (probability below 1e-9 a run).
        OSError: the ledger cannot be written.
    """
    parts = hosts.mine(stored_parts(trials, ledger, say))
    wanted = sum(part.block.count for part in parts)
    held = sum(part.kept for part in parts)
    if held:
        say(f"resumed {held} of {wanted} trials from {ledger.folder}")
    trained = sum(schedule.trainings_of(part.block.world) * part.kept for part in parts)
    total = sum(schedule.trainings_of(part.block.world) * part.block.count for part in parts)
    progress = Progress(total, "trainings", done=trained)
    try:
        complete(schedule, parts, ledger, progress)
    finally:
        progress.close()
    return held


def complete(schedule: Schedule, parts: list[Part], ledger: Ledger, progress: Progress) -> None:
    """Plays the missing trials of these blocks and writes them."""
    for part in parts:
        if part.kept < part.block.count:
            ledger.write(part.block, _completed(schedule, part, progress))


def stored_parts(trials: int, ledger: Ledger, say: Callable[[str], None]) -> list[Part]:
    """Every block of so many trials with what the ledger holds of it."""
    return [_stored_part(ledger, block, say) for block in blocks(trials)]


def wait_for_others(trials: int, ledger: Ledger, say: Callable[[str], None]) -> None:
    """Returns when the ledger is complete, whoever completes it; says what it waits for."""
    told = None
    while lacking := [
        part.block for part in stored_parts(trials, ledger, say) if part.kept < part.block.count
    ]:
        if len(lacking) != told:
            told = len(lacking)
            say(f"waiting for {told} blocks of other processes (first: {lacking[0].filename})")
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _stored_part(ledger: Ledger, block: Block, say: Callable[[str], None]) -> Part:
    try:
        return Part(block, ledger.read(block) or {})
    except CorruptBlock as error:
        say(f"{error}: its trials are played again")
        return Part(block, {})


def _completed(schedule: Schedule, part: Part, progress: Progress) -> dict[str, np.ndarray]:
    block, kept = part.block, part.kept
    fresh = _play_block(schedule, Block(block.world, block.first + kept, block.count - kept), progress)
    if not kept:
        return fresh
    return {name: np.concatenate([part.stored[name], fresh[name]]) for name in fresh}


def _play_block(schedule: Schedule, block: Block, progress: Progress) -> dict[str, np.ndarray]:
    joiners = range(1, schedule.contestants + 1) if block.world else [0]
    played = [_play_trials(schedule, who, block, progress) for who in joiners]
    overflowed = sum(int(scores.pop("training/overflowed").sum()) for scores in played)
    if overflowed:
        raise RuntimeError(f"{overflowed} trials drew a batch larger than its capacity; use another seed")
    nonfinite = np.sum([scores.pop("training/nonfinite") for scores in played], axis=0)
    return {"training/nonfinite": nonfinite, **_overlaid(played)}


def _play_trials(schedule: Schedule, who: int, block: Block, progress: Progress) -> dict[str, np.ndarray]:
    """All trials of a block for one joiner, in chunks of one size; what pads the last chunk is dropped."""
    pieces, end = [], block.first + block.count
    for start in range(block.first, end, schedule.chunk):
        scores = schedule.play(who, jnp.arange(start, start + schedule.chunk, dtype=jnp.int32))
        kept = min(schedule.chunk, end - start)
        pieces.append({name: np.asarray(values)[:kept] for name, values in scores.items()})
        progress.advance(kept)
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def _overlaid(played: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Each score from the training in which its adversary took part: elsewhere it is NaN or lacks."""
    names = dict.fromkeys(name for scores in played for name in scores)
    return {name: np.nanmax([scores[name] for scores in played if name in scores], axis=0) for name in names}
