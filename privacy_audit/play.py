"""Plays all trials of a run into its ledger, resuming where an earlier process stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from privacy_audit.ledger import Block, CorruptBlock, Ledger, blocks
from privacy_audit.progress import Progress

Play = Callable[[int, np.ndarray], dict[str, np.ndarray]]
"""(who joins, trial numbers `[chunk]`) -> scores by `adversary/statistic`"""


class Resumed(NamedTuple):
    """What a run found in its ledger when it began."""

    trials: int
    complaints: tuple[str, ...]


def play_all(
    play: Play, contestants: int, trials: int, chunk: int, ledger: Ledger, say: Callable[[str], None]
) -> Resumed:
    """Plays every block that the ledger lacks; the two worlds in turn.

    Args:
        play: the compiled game, called with exactly `chunk` trials each time.
        contestants: their number; world 1 is played once for each.
        say: where to tell what was resumed.

    Raises:
        RuntimeError: a Poisson batch overflowed its capacity (probability below 1e-9 a run).
        OSError: the ledger cannot be written.
    """
    missing, resumed = _inspect(ledger, trials)
    for complaint in resumed.complaints:
        say(f"{complaint}: its trials are played again")
    if resumed.trials:
        say(f"resumed {resumed.trials} of {2 * trials} trials from {ledger.folder}")
    trainings = [_trainings(block, contestants) for block in blocks(trials)]
    left = sum(_trainings(block, contestants) for block in missing)
    progress = Progress(sum(trainings), "trainings", done=sum(trainings) - left)
    try:
        for block in missing:
            ledger.write(block, _play_block(play, block, contestants, chunk, progress))
    finally:
        progress.close()
    return resumed


def _inspect(ledger: Ledger, trials: int) -> tuple[list[Block], Resumed]:
    """The blocks to play, and what is already there."""
    missing, kept, complaints = [], 0, []
    for block in blocks(trials):
        try:
            arrays = ledger.read(block)
        except CorruptBlock as error:
            complaints.append(str(error))
            arrays = None
        if arrays is None:
            missing.append(block)
        else:
            kept += block.count
    return missing, Resumed(kept, tuple(complaints))


def _trainings(block: Block, contestants: int) -> int:
    return block.count * (contestants if block.world else 1)


def _play_block(play: Play, block: Block, contestants: int, chunk: int, progress: Progress):
    joiners = range(1, contestants + 1) if block.world else [0]
    parts = [_play_trials(play, who, block, chunk, progress) for who in joiners]
    overflowed = sum(int(part.pop("training/overflowed").sum()) for part in parts)
    if overflowed:
        raise RuntimeError(f"{overflowed} trials drew a batch larger than its capacity; use another seed")
    nonfinite = np.sum([part.pop("training/nonfinite") for part in parts], axis=0)
    return {"training/nonfinite": nonfinite, **_overlaid(parts)}


def _play_trials(play: Play, who: int, block: Block, chunk: int, progress: Progress):
    """All trials of a block for one joiner, in chunks of one size; what pads the last chunk is dropped."""
    pieces = []
    for start in range(block.first, block.first + block.count, chunk):
        scores = play(who, jnp.arange(start, start + chunk, dtype=jnp.int32))
        kept = min(chunk, block.first + block.count - start)
        pieces.append({name: np.asarray(values)[:kept] for name, values in scores.items()})
        progress.advance(kept)
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def _overlaid(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Each score from the training in which its adversary took part: elsewhere it is NaN or lacks."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: np.nanmax([part[name] for part in parts if name in part], axis=0) for name in names}
