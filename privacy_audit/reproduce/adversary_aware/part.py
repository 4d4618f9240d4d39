"""A part of the reproduction: how it is computed, drawn and written."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from etils import epath

Say = Callable[[str], None]


@dataclass(frozen=True)
class Part:
    """One entry of the registry of parts.

    Attributes:
        run: (settings, folder of its files, seed, say) -> results as strict JSON values; goes on where it was stopped.
        draw: (results, folder) -> caption of every PNG that it writes there, by file name.
        write: results -> Markdown without a heading of the first level.
        cost: settings -> one line.
        check: settings -> None, before any work; raises ValueError where the part cannot run, which ends the command,
            and ImportError where something is not installed, which leaves the part out.
        settings: of its scales, by their names; at others the part is passed over.
    """

    run: Callable[[Any, epath.Path, int, Say], dict[str, Any]]
    draw: Callable[[Mapping[str, Any], pathlib.Path], dict[str, str]]
    write: Callable[[Mapping[str, Any]], str]
    cost: Callable[[Any], str]
    settings: Mapping[str, Any]
    check: Callable[[Any], None] = lambda settings: None
