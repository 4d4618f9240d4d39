"""Data sets as arrays: decoded once, kept as memory-mapped files, split by a seed."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Examples:
    """Inputs `[N, ...]` (as stored: uint8 for images) and labels `[N]`."""

    inputs: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: np.ndarray) -> Examples:
        """The examples with these numbers, in this order."""
        return Examples(self.inputs[indices], self.labels[indices])

    def as_float(self) -> tuple[np.ndarray, np.ndarray]:
        """Inputs in [0, 1] as float32 and labels as int32."""
        scale = 255.0 if self.inputs.dtype == np.uint8 else 1.0
        return np.asarray(self.inputs, np.float32) / np.float32(scale), np.asarray(self.labels, np.int32)


@dataclass(frozen=True)
class Dataset:
    """A named data set; `test` is empty where the source has no test split."""

    name: str
    train: Examples
    test: Examples
    num_classes: int

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input."""
        return self.train.inputs.shape[1:]


@dataclass(frozen=True)
class Roles:
    """Disjoint parts of the training split: D itself, the adversary's shadow set, and fresh draws."""

    members: Examples
    shadow: Examples
    fresh: Examples


def split_roles(dataset: Dataset, num_examples: int, seed: int) -> Roles:
    """Deals the training split: `num_examples` to D, the rest in halves to shadow and fresh.

    Where the data repeat an input that D holds, shadow and fresh go without it.

    Raises:
        ValueError: the data set is too small to leave the adversary two examples.
    """
    total = len(dataset.train)
    if not 1 <= num_examples <= total - 2:
        raise ValueError(
            f"num_examples must be between 1 and {total - 2} ({dataset.name} has {total}, and the adversary "
            f"needs examples outside D), got {num_examples}"
        )
    order = np.random.default_rng(seed).permutation(total)
    middle = num_examples + (total - num_examples) // 2
    members, shadow, fresh = np.split(order, [num_examples, middle])
    parts = [dataset.train.take(part) for part in (members, shadow, fresh)]
    held = {row.tobytes() for row in parts[0].inputs}
    return Roles(parts[0], *(_without(part, held) for part in parts[1:]))


def _without(examples: Examples, held: set[bytes]) -> Examples:
    return examples.take(np.array([row.tobytes() not in held for row in examples.inputs], bool))


def cache_folder() -> pathlib.Path:
    """Where decoded data sets are kept: `$XDG_CACHE_HOME/privacy_audit` or `~/.cache/privacy_audit`."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "privacy_audit"


def cached(name: str, decode: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Memory-maps the arrays that `decode` makes, calling it only when the cache lacks them."""
    folder = cache_folder() / name
    if not folder.is_dir():
        _publish(folder, decode())
    return {path.stem: np.load(path, mmap_mode="r") for path in sorted(folder.glob("*.npy"))}


def _publish(folder: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes all arrays aside and renames the folder into place, so that no half-written cache is seen."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = pathlib.Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for stem, array in arrays.items():
            np.save(aside / f"{stem}.npy", array)
        aside.rename(folder)
    except OSError:
        if not folder.is_dir():  # otherwise another process was first, with the same arrays
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
