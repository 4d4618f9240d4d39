"""`python -m privacy_audit.reproduce --paper=adversary_instantiation --scale=smoke|desk|paper`."""

from __future__ import annotations

import os
import pathlib
import sys

from absl import flags
from etils import epath

from privacy_audit.command import Command, main
from privacy_audit.config import one_of, require
from privacy_audit.devices import start_jax
from privacy_audit.ledger import write_json
from privacy_audit.reproduce.accuracy import train_cell
from privacy_audit.reproduce.cells import Cell, all_cells, ordered_cells
from privacy_audit.reproduce.collect import collect
from privacy_audit.reproduce.document import write_document
from privacy_audit.reproduce.figures import draw_all
from privacy_audit.reproduce.play import Session, outlook, play_cells
from privacy_audit.reproduce.settings import PURCHASE, STAND_IN, scales

SUMMARY = (
    "Regenerates the figures and tables of a paper beside its printed values. Each cell (a data set at a target "
    "epsilon) is one audit in --out; the same command goes on where it was stopped, and partial results say what is "
    "missing. smoke: toy data, a minute or two; desk: small games on a desktop's cores; paper: the paper's sizes."
)
PAPERS = ("adversary_instantiation",)
PARTS = ("cells", "accuracy", "report")
SHOPPING = {"complete_journey": STAND_IN, "purchase": PURCHASE}


def make_command() -> Command:
    """The command with its flags, set to their defaults."""
    command = Command("privacy_audit.reproduce", SUMMARY)
    add, what, run = command.define, "What", "Running"
    add(what, flags.DEFINE_string, "paper", PAPERS[0], f"one of {', '.join(PAPERS)}")
    add(what, flags.DEFINE_string, "scale", "desk", "smoke, desk or paper")
    add(what, flags.DEFINE_list, "parts", "cells,report", f"some of {', '.join(PARTS)}")
    add(what, flags.DEFINE_list, "cells", "", "play and train only these, such as mnist-eps4; by default all")
    add(what, flags.DEFINE_string, "shopping", "complete_journey", f"one of {', '.join(SHOPPING)}")
    add(what, flags.DEFINE_string, "data_dir", None, "where tensorflow-datasets keeps prepared data")
    add(what, flags.DEFINE_integer, "seed", 0, "of all randomness")
    add(run, flags.DEFINE_string, "out", None, "folder of the ledgers; by default runs/<scale>")
    add(run, flags.DEFINE_string, "docs", None, "folder of reproduction.md and its figures; by default --out")
    add(run, flags.DEFINE_float, "minutes", float("inf"), "begin no further cell after so many minutes")
    add(
        run, flags.DEFINE_integer, "cpu_devices", os.cpu_count() or 1, "devices that a CPU host is split into"
    )
    add(
        run, flags.DEFINE_bool, "dry_run", False, "print what each data set's first cell costs; write nothing"
    )
    return command


def body(command: Command) -> None:
    """The command: cells → results.json → figures → document."""
    values = command.values
    one_of("paper", values.paper, PAPERS)
    one_of("shopping", values.shopping, SHOPPING)
    known = scales(SHOPPING[values.shopping])
    one_of("scale", values.scale, known)
    for part in values.parts:
        one_of("parts", part, PARTS)
    require(values.minutes >= 0, "minutes", ">= 0", values.minutes)
    require(values.cpu_devices >= 1, "cpu_devices", ">= 1", values.cpu_devices)
    start_jax(values.cpu_devices)
    out = epath.Path(values.out or f"runs/{values.scale}")
    session = Session(known[values.scale], out, values.data_dir, values.seed)
    if values.dry_run:
        _print_costs(session)
        return
    if "cells" in values.parts:
        play_cells(session, _chosen(values.cells, ordered_cells(session.scale)), values.minutes, _say)
    if "accuracy" in values.parts:
        _train_models(session, _chosen(values.cells, all_cells(session.scale)))
    if "report" in values.parts:
        results = collect(session)
        folder = pathlib.Path(values.docs or out)
        captions = draw_all(results, folder / "reproduction")
        write_json(epath.Path(folder) / "reproduction" / "results.json", results)
        write_document(results, captions, folder)
        _say(f"reproduction.md is in {folder}; its figures and results.json are in {folder / 'reproduction'}")


def _print_costs(session: Session) -> None:
    for found in outlook(session):
        print(found)
    print(
        f"{len(ordered_cells(session.scale))} cells in all; a cell's cost is in proportion to its steps and batch"
    )


def _chosen(names: list[str], cells: list[Cell]) -> list[Cell]:
    known = {cell.name: cell for cell in cells}
    for name in names:
        one_of("cells", name, known)
    return [known[name] for name in names] or cells


def _train_models(session: Session, cells: list[Cell]) -> None:
    folder = session.out / "accuracy"
    for cell in cells:
        result = train_cell(cell, session.scale, session.data_dir, session.seed, folder, _say)
        print(f"{cell.name}: {result['accuracy']:.2f}% at proven ε = {result['epsilon_proven']:.4g}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    main(make_command(), body)
