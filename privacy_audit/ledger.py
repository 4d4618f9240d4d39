"""The ledger: a folder with `run.json` and one file of scores per 256 trials and world.

Every file is written to a temporary name and renamed, so a killed run leaves complete files only. A resumed run
replays what is missing or corrupt, and refuses a folder that holds another configuration.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from etils import epath

SCHEMA_VERSION = 1
BLOCK = 256
TRAINING = "training/"
"""Prefix of the arrays that are about the training, not an adversary's scores."""


@dataclass(frozen=True)
class Block:
    """Trials `first` … `first + count − 1` of one world, the unit that is written and replayed."""

    world: int
    first: int
    count: int

    @property
    def filename(self) -> str:
        """`w{world}-{first}.npz`"""
        return f"w{self.world}-{self.first:012d}.npz"


def blocks(trials: int) -> list[Block]:
    """All blocks of a run, the two worlds in turn."""
    starts = range(0, trials, BLOCK)
    return [Block(world, first, min(BLOCK, trials - first)) for first in starts for world in (0, 1)]


@dataclass(frozen=True)
class Ledger:
    """Scores on disk or in a bucket (`epath` hides which)."""

    folder: epath.Path

    def write(self, block: Block, arrays: Mapping[str, np.ndarray]) -> None:
        """Writes one block, whole or not at all."""
        temporary = self.folder / f".{block.filename}.{os.getpid()}.tmp"
        try:
            with temporary.open("wb") as file:
                np.savez(file, **arrays)
            temporary.replace(self.folder / block.filename)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def withdraw(self) -> None:
        """Takes back a run that never began: its folder with `run.json`, where nothing else is in it."""
        if [path.name for path in self.folder.iterdir()] == ["run.json"]:
            (self.folder / "run.json").unlink()
            self.folder.rmdir()

    def read(self, block: Block) -> dict[str, np.ndarray] | None:
        """The trials of a block that are stored, its first ones if not all; None where the file is missing.

        Raises:
            CorruptBlock: the file is there but cannot be read whole.
        """
        path = self.folder / block.filename
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise CorruptBlock(f"{block.filename} cannot be read ({type(error).__name__})") from error
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) != 1:
            raise CorruptBlock(f"{block.filename} holds arrays of {sorted(lengths)} trials")
        return {name: array[: block.count] for name, array in arrays.items()}

    def read_all(self, trials: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """All scores of world 0 and of world 1, in the order of the trials."""
        worlds: tuple[list, list] = ([], [])
        for block in blocks(trials):
            arrays = self.read(block)
            if arrays is None or any(len(array) < block.count for array in arrays.values()):
                raise CorruptBlock(f"{block.filename} lacks trials: the run has not ended")
            worlds[block.world].append(arrays)
        if len({frozenset(part) for parts in worlds for part in parts}) > 1:
            raise CorruptBlock("blocks hold different statistics")
        joined = [
            {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} for parts in worlds
        ]
        return joined[0], joined[1]


class CorruptBlock(Exception):
    """A block that must be replayed."""


def open_ledger(folder: str | epath.Path, run: Mapping[str, Any]) -> Ledger:
    """Opens a folder for a run, creating it with its `run.json` where it is new.

    Args:
        run: what `run.json` holds; `run["identity"]` is the hash of the configuration.

    Raises:
        ValueError: the folder holds another configuration, or files that are not a ledger's.
        OSError: the folder cannot be written.
    """
    path = epath.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    description = path / "run.json"
    if description.exists():
        _check_same(path, description, run)
    elif any(path.glob("w[01]-*.npz")):
        raise ValueError(
            f"out must be a new folder or this run's own, got {folder} (scores without run.json)"
        )
    else:
        write_json(description, {"schema_version": SCHEMA_VERSION, **run})
    return Ledger(path)


def write_json(path: epath.Path, content: Mapping[str, Any]) -> None:
    """Writes a JSON file, whole or not at all."""
    temporary = path.parent / f".{path.name}.{os.getpid()}.tmp"
    try:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _check_same(path: epath.Path, description: epath.Path, run: Mapping[str, Any]) -> None:
    try:
        stored = json.loads(description.read_text())
        version, identity = stored["schema_version"], stored["identity"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"out must hold a readable run.json, got a damaged one in {path}") from None
    if version != SCHEMA_VERSION:
        raise ValueError(f"out must be of ledger schema {SCHEMA_VERSION}, got schema {version} in {path}")
    if identity != run["identity"]:
        changed = _differences(stored.get("config", {}), run["config"])
        raise ValueError(f"out must hold this configuration or be new, got another in {path} ({changed})")


def _differences(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    wanted = json.loads(json.dumps(wanted))
    names = [name for name in wanted if stored.get(name) != wanted[name]]
    return (
        ", ".join(f"{name} {stored.get(name)} there, {wanted[name]} here" for name in names)
        or "another version"
    )
