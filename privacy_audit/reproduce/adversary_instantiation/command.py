"""Paper L as the command line knows it: cells → results.json → figures → document."""

from __future__ import annotations

import pathlib
import sys

from absl import flags
from etils import epath

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.command import Command
from privacy_audit.config import one_of, require
from privacy_audit.ledger import write_json
from privacy_audit.reproduce.adversary_instantiation.accuracy import train_cell
from privacy_audit.reproduce.adversary_instantiation.cells import Cell, all_cells, first_cells, ordered_cells
from privacy_audit.reproduce.adversary_instantiation.collect import collect
from privacy_audit.reproduce.adversary_instantiation.document import write_document
from privacy_audit.reproduce.adversary_instantiation.figures import draw_all
from privacy_audit.reproduce.adversary_instantiation.play import Session, outlook, play_cells
from privacy_audit.reproduce.adversary_instantiation.settings import PURCHASE, STAND_IN, scales
from privacy_audit.reproduce.paper import Paper

SUMMARY = (
    "Regenerates the figures and tables of a paper beside its printed values. Each cell (a data set at a target "
    "epsilon) is one audit in --out; the same command goes on where it was stopped, and partial results say what is "
    "missing. smoke: toy data, a minute or two; desk: small games on a desktop's cores; paper: the paper's sizes."
)
SHOPPING = {"complete_journey": STAND_IN, "purchase": PURCHASE}


def define(command: Command) -> None:
    """Flags of this paper alone."""
    add, what, run = command.define, "What", "Running"
    add(what, flags.DEFINE_list, "cells", "", "play and train only these, such as mnist-eps4; by default all")
    add(what, flags.DEFINE_list, "adversary", "all", f"all, or some of {', '.join(ADVERSARIES)}")
    add(what, flags.DEFINE_string, "shopping", "complete_journey", f"one of {', '.join(SHOPPING)}")
    add(what, flags.DEFINE_string, "data_dir", None, "where tensorflow-datasets keeps prepared data")
    add(run, flags.DEFINE_string, "out", None, "folder of the ledgers; by default runs/<scale>")
    add(run, flags.DEFINE_string, "docs", None, "folder of reproduction.md and its figures; by default --out")


def run(command: Command) -> None:
    """Plays, trains and reports."""
    values = command.values
    one_of("shopping", values.shopping, SHOPPING)
    out = epath.Path(values.out or f"runs/{values.scale}")
    for flag in ("cells", "adversary"):
        require(bool(values[flag].value) or not command.given(flag), flag, "one or more", "none")
    for name in values.adversary:
        one_of("adversary", name, ["all", *ADVERSARIES])
    players = tuple(name for name in ADVERSARIES if {name, "all"} & set(values.adversary))
    scale = scales(SHOPPING[values.shopping])[values.scale]
    session = Session(scale, out, values.data_dir, values.seed, players)
    if values.dry_run:
        _print_costs(
            session, _chosen(values.cells, ordered_cells(scale)) if values.cells else first_cells(scale)
        )
        return
    if "cells" in values.parts:
        play_cells(session, _chosen(values.cells, ordered_cells(session.scale)), values.minutes, _say)
    if "accuracy" in values.parts:
        _train_models(session, _chosen(values.cells, all_cells(session.scale)))
    if "report" in values.parts:
        _report(session, pathlib.Path(values.docs or out), _whole_command(command))


def _whole_command(command: Command) -> str:
    """What makes everything anew, on any machine: all parts, and the usual folder of data."""
    values = command.values
    given = [
        f"--{name}={','.join(values[name].value)}" for name in ("cells", "adversary") if command.given(name)
    ]
    docs = values.docs if values.docs and not pathlib.Path(values.docs).is_absolute() else "docs"
    out = [f"--out={values.out}"] if values.out and not pathlib.Path(values.out).is_absolute() else []
    shown = [
        f"--paper={values.paper} --scale={values.scale} --shopping={values.shopping} --seed={values.seed}",
        *given,
        f"--parts=cells,accuracy,report --docs={docs} --data_dir=$HOME/tensorflow_datasets",
        *out,
    ]
    return " ".join(["python -m privacy_audit.reproduce", *shown])


def _report(session: Session, folder: pathlib.Path, whole_command: str) -> None:
    results = {"command": whole_command, **collect(session)}
    captions = draw_all(results, folder / "reproduction")
    write_json(epath.Path(folder) / "reproduction" / "results.json", results)
    write_document(results, captions, folder)
    _say(f"reproduction.md is in {folder}; its figures and results.json are in {folder / 'reproduction'}")


def _print_costs(session: Session, cells: list[Cell]) -> None:
    for found in outlook(session, cells):
        print(found)
    print(
        f"{len(ordered_cells(session.scale))} cells in all; a cell's cost is in proportion to its steps and batch"
    )


def _chosen(names: list[str], cells: list[Cell]) -> list[Cell]:
    known = {cell.name: cell for cell in cells}
    for name in names:
        one_of("cells", name, known)
    return [known[name] for name in dict.fromkeys(names)] or cells


def _train_models(session: Session, cells: list[Cell]) -> None:
    folder = session.out / "accuracy"
    for cell in cells:
        result = train_cell(cell, session.scale, session.data_dir, session.seed, folder, _say)
        print(f"{cell.name}: {result['accuracy']:.2f}% at proven ε = {result['epsilon_proven']:.4g}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


ADVERSARY_INSTANTIATION = Paper(
    summary=SUMMARY,
    scales=tuple(scales(STAND_IN)),
    parts=("cells", "accuracy", "report"),
    usual=("cells", "report"),
    define=define,
    run=run,
)
