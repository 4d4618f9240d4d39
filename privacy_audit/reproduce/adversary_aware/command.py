"""Paper U as the command line knows it: parts → one JSON each → figures → document."""

from __future__ import annotations

import json
import pathlib
import sys
import time
from collections.abc import Mapping

from absl import flags
from etils import epath

from privacy_audit.command import Command
from privacy_audit.config import one_of, require
from privacy_audit.ledger import write_json
from privacy_audit.reproduce.adversary_aware.document import write_document
from privacy_audit.reproduce.adversary_aware.part import Part
from privacy_audit.reproduce.adversary_aware.parts import NAMES, parts
from privacy_audit.reproduce.paper import Paper

SUMMARY = (
    "Regenerates the tables and figures of A Unified Framework for Adversary-Aware DP Bounds beside its "
    "printed values. Each part writes one JSON into --out; attributes, canaries and larger go on where they were "
    "stopped. report makes the document from those JSONs of the scale that are there, whatever their seeds, and "
    "says what is missing. smoke: toy data; desk: a desktop's cores; paper: 100 games of attributes a cell, and "
    "canaries in the published GPT-2."
)
PEOPLE = ("adult", "acs", "toy")


def define(command: Command) -> None:
    """Flags of this paper alone."""
    add, what, run = command.define, "What", "Running"
    add(
        what,
        flags.DEFINE_string,
        "people",
        "adult",
        f"whose attributes: one of {', '.join(PEOPLE)}; smoke has toy",
    )
    add(
        what,
        flags.DEFINE_string,
        "adult_dir",
        None,
        "folder with adult.data and adult.test, for --people=adult",
    )
    add(what, flags.DEFINE_string, "acs_dir", None, "where folktables keeps ACS, for --people=acs")
    add(
        run,
        flags.DEFINE_string,
        "out",
        None,
        "folder of the results; by default runs/adversary_aware/<scale>",
    )
    add(run, flags.DEFINE_string, "docs", None, "folder of reproduction_adversary_aware.md; by default --out")


def run(command: Command) -> None:
    """Runs what is asked for."""
    values = command.values
    one_of("people", values.people, PEOPLE)
    require(values.seed >= 0, "seed", ">= 0", values.seed)
    known = parts(values.people, {"adult": values.adult_dir, "acs": values.acs_dir}.get(values.people))
    asked = {name: part for name, part in known.items() if name in values.parts}
    chosen = {name: part for name, part in asked.items() if values.scale in part.settings}
    if values.dry_run:
        for part in chosen.values():
            print(part.cost(part.settings[values.scale]))
        return
    chosen = _able(chosen, values.scale)
    for name in asked:
        if values.scale not in asked[name].settings:
            _say(f"{name} is left out: it has no scale {values.scale}")
    out = epath.Path(values.out or f"runs/adversary_aware/{values.scale}")
    _refuse_others(chosen, values.scale, out, values.seed)
    _run_parts(chosen, values.scale, out, values.seed, values.minutes)
    if "report" in values.parts:
        folder = pathlib.Path(values.docs or out)
        write_document(known, _results(known, out, values.scale), values.scale, folder)
        _say(f"reproduction_adversary_aware.md is in {folder}")


def _able(chosen: Mapping[str, Part], scale: str) -> dict[str, Part]:
    """Those that have what they need."""
    able = {}
    for name, part in chosen.items():
        try:
            part.check(part.settings[scale])
        except ImportError as error:
            _say(f"{name} is left out: {error}")
        else:
            able[name] = part
    return able


def _refuse_others(chosen: Mapping[str, Part], scale: str, out: epath.Path, seed: int) -> None:
    """Raises ValueError where a part would replace its results of another scale or seed, before any part is run."""
    for name in chosen:
        stored = _read(out / f"{name}.json") or {}
        for key, value in (("scale", scale), ("seed", seed)):
            if stored.get(key, value) != value:
                raise ValueError(
                    f"out must hold {name}.json of {key} {value} or none, got {key} {stored[key]}"
                )


def _read(path: epath.Path) -> dict | None:
    """Results of a part; None where they are missing or cut off."""
    try:
        return json.loads(path.read_text()) if path.exists() else None
    except json.JSONDecodeError:
        return None


def _run_parts(chosen: Mapping[str, Part], scale: str, out: epath.Path, seed: int, minutes: float) -> None:
    began = time.monotonic()
    for name, part in chosen.items():
        if time.monotonic() - began > 60 * minutes:
            _say(f"{minutes:g} minutes are over; the same command goes on with {name}")
            return
        results = part.run(part.settings[scale], out / name, seed, _say)
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / f"{name}.json", {"scale": scale, "seed": seed, **results})


def _results(known: Mapping[str, Part], out: epath.Path, scale: str) -> dict[str, dict]:
    """Of the parts that have been run at this scale."""
    files = {name: out / f"{name}.json" for name in known}
    stored = {name: json.loads(path.read_text()) for name, path in files.items() if path.exists()}
    for name, results in stored.items():
        if results["scale"] != scale:
            _say(f"{name}.json is passed over: it is of scale {results['scale']}")
    return {name: results for name, results in stored.items() if results["scale"] == scale}


def _say(line: str) -> None:
    print(line, file=sys.stderr)


ADVERSARY_AWARE = Paper(
    summary=SUMMARY,
    scales=("smoke", "desk", "paper"),
    parts=(*NAMES, "report"),
    usual=(*NAMES, "report"),
    define=define,
    run=run,
)
