"""Plays the cells one after the other, one file each; a run that is stopped goes on from there."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from etils import epath

from privacy_audit.report.document import hardware, versions
from privacy_audit.reproduce.adversary_aware.attributes.game import Cell, Halves, all_cells, play_cell
from privacy_audit.reproduce.adversary_aware.attributes.settings import OURS, Settings
from privacy_audit.reproduce.adversary_aware.stored import hash_of_arrays, identity_of, kept
from privacy_audit.train.tabular import SOURCES

WHAT = "cells of these settings and data"


def run(settings: Settings, out: epath.Path, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Plays what `out` does not hold yet.

    Returns:
        Every cell with the settings, versions and hardware, as strict JSON values.

    Raises:
        ValueError: the table cannot be read, or `out` holds cells of other settings or people; nothing is written
            then.
    """
    halves = Halves.split(SOURCES[settings.people](settings.folder), seed)
    makers = {
        cell.name: functools.partial(_played, cell, halves, settings, seed) for cell in all_cells(settings)
    }
    cells = kept(out, identity_of_cells(settings, halves, seed), WHAT, makers, say)
    return _document(settings, halves, seed, cells)


def check(settings: Settings) -> None:
    """Raises ValueError unless the table can be read."""
    SOURCES[settings.people](settings.folder)


def identity_of_cells(settings: Settings, halves: Halves, seed: int) -> str:
    """Hash of all that a cell's numbers depend on, but for which cells there are and where the files lie."""
    relevant = dataclasses.asdict(settings)
    for name in ("folder", "sets", "epsilons", "real_epsilons"):
        relevant.pop(name)
    named = [(a.name, list(a.values)) for a in halves.public.attributes]
    return identity_of(relevant, seed, named, hash_of_arrays([halves.public.codes, halves.private.codes]))


def _played(cell: Cell, halves: Halves, settings: Settings, seed: int) -> dict[str, Any]:
    """ε = ∞ as a word, since strict JSON has no such number."""
    return play_cell(cell, halves, settings, seed) | {"epsilon": f"{cell.epsilon:g}"}


def _document(settings: Settings, halves: Halves, seed: int, cells: dict[str, Any]) -> dict[str, Any]:
    return {
        "people": halves.public.title,
        "source": settings.people,
        "public": len(halves.public),
        "private": len(halves.private),
        "attributes": {a.name: list(a.values) for a in halves.public.attributes},
        "targets": settings.targets,
        "games": settings.games,
        "ways": settings.ways,
        "delta": settings.delta,
        "confidence": settings.confidence,
        "failure": settings.failure,
        "projection": dataclasses.asdict(settings.projection),
        "gibbs": dataclasses.asdict(settings.gibbs),
        "ours": OURS,
        "seed": seed,
        "cells": cells,
        "seconds": round(sum(cell["seconds"] for cell in cells.values()), 1),
        "versions": versions(),
        "hardware": hardware(),
    }


def cost(settings: Settings) -> str:
    """What a scale plays, in one line."""
    count = len(all_cells(settings))
    return (
        f"attributes: {count} cells of {settings.games} games with {settings.targets} targets; at desk scale 47 "
        "minutes on two cores that others used as well"
    )
