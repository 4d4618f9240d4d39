"""Scores from a file: columns `world` and `score` (and `trial`) of many trainings, or `included` and `score` of one."""

import csv
import pathlib
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

Columns = Mapping[str, Any]
"""Values as they were read, by name."""


def read_scores(path: str | pathlib.Path) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "m"]]:
    """Both worlds' scores from a .csv, .npz or .parquet file, in the order of `trial` where there is one.

    Args:
        path: A table with columns world (0: D, 1: D'), score and optionally trial. An .npz holds arrays of
            these names.

    Raises:
        ValueError: on another suffix, missing columns, worlds other than 0 and 1, values that are no numbers, or a
            trial that occurs twice in a world.
    """
    return worlds_of(read_columns(path))


def read_columns(path: str | pathlib.Path) -> Columns:
    """The columns of a .csv, .npz or .parquet file.

    Raises:
        ValueError: on another suffix, or a file that cannot be read.
    """
    path = pathlib.Path(path)
    readers = {".csv": _read_csv, ".npz": _read_npz, ".parquet": _read_parquet}
    if path.suffix not in readers:
        raise ValueError(f"scores must be a .csv, .npz or .parquet file, got {path.name}")
    if not path.is_file():
        raise ValueError(f"scores must be an existing file, got {path}")
    return readers[path.suffix](path)


def worlds_of(columns: Columns) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "m"]]:
    """As `read_scores`, from columns."""
    return _split(*_taken(columns, ("world", "score"), "trial"))


def canaries_of(columns: Columns) -> tuple[Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
    """Scores and inclusions (0 or 1) of the canaries of one training.

    Raises:
        ValueError: on missing columns, unequal lengths, or values that are no numbers.
    """
    included, scores = _taken(columns, ("included", "score"))
    if len(included) != len(scores):
        raise ValueError(f"columns must be equally long, got lengths {len(included)} and {len(scores)}")
    return scores, included


def _taken(columns: Columns, needed: tuple[str, ...], *more: str) -> list[np.ndarray]:
    missing = [name for name in needed if name not in columns]
    if missing:
        found = ", ".join(columns) or "none"
        raise ValueError(
            f"scores must have columns {' and '.join(needed)}, got {found} (missing: {', '.join(missing)})"
        )
    return [_numbers(name, columns[name]) for name in (*needed, *more) if name in columns]


def _split(world: np.ndarray, score: np.ndarray, trial: np.ndarray | None = None):
    sizes = {len(world), len(score)} | (set() if trial is None else {len(trial)})
    if len(sizes) > 1:
        raise ValueError(f"columns must be equally long, got lengths {sorted(sizes)}")
    odd = np.setdiff1d(world, (0, 1))
    if odd.size:
        raise ValueError(f"world must be 0 (D) or 1 (D'), got {odd[0]:g}")
    if not {0, 1} <= set(np.unique(world)):
        raise ValueError(
            f"world must hold both 0 (D) and 1 (D'), got {', '.join(f'{w:g}' for w in np.unique(world)) or 'no rows'}"
        )
    if trial is not None:
        _check_distinct(world, trial)
        order = np.argsort(trial, kind="stable")
        world, score = world[order], score[order]
    return score[world == 0], score[world == 1]


def _check_distinct(world: np.ndarray, trial: np.ndarray) -> None:
    """A trial that is counted twice would make the bounds invalid."""
    pairs, counts = np.unique(np.stack((world, trial)), axis=1, return_counts=True)
    twice = pairs[:, counts > 1]
    if twice.size:
        where, number = twice[:, 0]
        raise ValueError(f"trial must be distinct within a world, got {number:g} twice in world {where:g}")


def _numbers(name: str, values) -> np.ndarray:
    if np.iscomplexobj(values):
        raise ValueError(f"{name} must be real numbers, got complex ones")
    try:
        return np.asarray(values, np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, got {_first_odd(values)!r}") from error


def _first_odd(values):
    for value in values:
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return values


def _read_csv(path: pathlib.Path) -> dict[str, list[str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            names = [name.strip() for name in reader.fieldnames or ()]
            reader.fieldnames = names
            rows = list(reader)
    except csv.Error as error:
        raise ValueError(f"scores must be a readable .csv file, got {path.name}: {error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"scores must be a text file in UTF-8, got {path.name}") from None
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise ValueError(
                f"scores must have {len(names)} fields a row, got another number in line {number}"
            )
    return {name: [row[name] for row in rows] for name in names}


def _read_npz(path: pathlib.Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, EOFError, ValueError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"scores must be a readable .npz file of numbers, got {path.name}: {error}"
        ) from error


def _read_parquet(path: pathlib.Path) -> dict[str, np.ndarray]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError(f"reading {path.name} needs pyarrow, which is not installed") from error
    table = parquet.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}
