"""The reproduction at toy scale: every figure and table is made anew, and what is missing is said."""

import dataclasses
import json
import math

import numpy as np
import pytest
from etils import epath
from matplotlib.image import imread

from privacy_audit.bounds.profiles import DPSGD
from privacy_audit.reproduce import __main__ as command
from privacy_audit.reproduce.adversary_instantiation import accountants, accuracy, compare, printed
from privacy_audit.reproduce.adversary_instantiation.cells import (
    Cell,
    all_cells,
    audit_config,
    most_steps,
    ordered_cells,
)
from privacy_audit.reproduce.adversary_instantiation.checkpoint import Checkpoint
from privacy_audit.reproduce.adversary_instantiation.collect import collect
from privacy_audit.reproduce.adversary_instantiation.figures import CAPTIONS
from privacy_audit.reproduce.adversary_instantiation.play import Session
from privacy_audit.reproduce.adversary_instantiation.settings import (
    DELTA,
    EPSILONS,
    NOISE_MULTIPLIERS,
    STAND_IN,
    scales,
)
from privacy_audit.reproduce.adversary_instantiation.stored import report_of
from privacy_audit.reproduce.papers import PAPERS

SCALES = scales(STAND_IN)


def run(*flags):
    return command.run(["reproduce", "--cpu_devices=4", *flags])


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    out = tmp_path_factory.mktemp("toy")
    assert run("--scale=smoke", f"--out={out}", "--parts=accuracy", "--cells=mnist-eps4") == 0
    assert run("--scale=smoke", f"--out={out}") == 0
    return out


def test_every_figure_is_drawn(toy):
    sandwiches = [f"sandwich-{cell.name}" for cell in ordered_cells(SCALES["smoke"])]
    for name in [*CAPTIONS, *sandwiches]:
        picture = imread(toy / "reproduction" / f"{name}.png")
        assert min(picture.shape[:2]) > 300
        assert picture[..., :3].std() > 0.02  # not blank
    assert set(CAPTIONS) >= {f"figure_{number}" for number in (1, 3, 4, 5, 6, 7, 8, 9)}


def test_the_document_shows_printed_values_ours_and_what_is_missing(toy):
    text, results = (
        (toy / "reproduction.md").read_text(),
        json.loads((toy / "reproduction" / "results.json").read_text()),
    )
    for claim in printed.CLAIMS:
        assert f"| {claim.value:.2f} |" in text
    assert "5.60 | 5.601" in text
    assert "0.31 | 0.320" in text
    assert "not verifiable" in text
    played = {cell.name for cell in ordered_cells(SCALES["smoke"])}
    assert set(results["cells"]) == played
    assert set(results["missing"]) == {cell.name for cell in all_cells(SCALES["smoke"])} - played
    assert "**Partial.** Not played yet: mnist-eps1, " in text
    for line in text.splitlines():
        if line.startswith("!["):
            assert (toy / line.split("](")[1].rstrip(")")).is_file()


def test_two_adversaries_alone_leave_the_others_open(tmp_path):
    flags = ("--scale=smoke", f"--out={tmp_path}", "--cells=purchase-eps2", "--adversary=api_access,dataset")
    assert run(*flags) == 0
    results = json.loads((tmp_path / "reproduction" / "results.json").read_text())
    cell = results["cells"]["purchase-eps2"]
    assert list(cell["adversaries"]) == ["api_access", "dataset"]
    assert [(pair["stronger"], pair["weaker"]) for pair in cell["order"]] == [("dataset", "api_access")]
    assert (
        "adaptive_poison, Purchase (toy digits instead), ε = 2 | 0.37 | –"
        in (tmp_path / "reproduction.md").read_text()
    )


def test_results_hold_what_an_auditor_asks_for(toy):
    results = json.loads((toy / "reproduction" / "results.json").read_text())
    assert {"seed", "versions", "hardware", "seconds", "ours", "scale"} <= set(results)
    cell = results["cells"]["mnist-eps2"]
    assert cell["epsilon_proven"] <= 2
    assert len(cell["adversaries"]) == 6
    assert [pair["ours"] for pair in cell["order"]] == [False] * 5 + [True] * 3
    assert {pair["found"] for pair in cell["order"]} <= {"stronger", "weaker", "not separated"}
    assert cell["counted"]["trials_per_world"] == 1_000_000
    assert 0 < cell["counted"]["lower"] < cell["epsilon_proven"]
    model = results["accuracy"]["mnist-eps4"]
    assert 0 <= model["accuracy"] <= 100
    assert model["tested_on"] == 1_000


def test_a_finished_run_is_not_played_again(toy, capsys):
    before = {path: path.stat().st_mtime_ns for path in (toy / "cells").rglob("*.npz")}
    assert run("--scale=smoke", f"--out={toy}", "--parts=cells") == 0
    assert {path: path.stat().st_mtime_ns for path in (toy / "cells").rglob("*.npz")} == before


def test_audits_of_other_settings_are_neither_reported_nor_gone_on_with(toy, capsys):
    before = (toy / "reproduction.md").read_text()
    for part in ("cells", "report"):
        assert run("--scale=smoke", f"--out={toy}", "--seed=5", f"--parts={part}") == 2
        assert (
            "out must hold audits of these settings or none, got another seed in" in capsys.readouterr().err
        )
    assert (toy / "reproduction.md").read_text() == before


def test_a_damaged_report_is_named(tmp_path):
    (tmp_path / "report.json").write_text('{"config')
    with pytest.raises(ValueError, match=r"got a damaged .*report\.json; remove it to conclude anew"):
        report_of(epath.Path(tmp_path), dict)


def test_some_adversaries_alone_have_a_cell_of_their_own(toy):
    session = Session(SCALES["smoke"], epath.Path(toy), None, 0, ("api_access", "dataset"))
    cell = Cell("mnist", 2.0)
    assert session.folder(cell).name == "mnist-eps2-only-api_access+dataset"
    assert collect(session)["missing"] == [other.name for other in all_cells(SCALES["smoke"])]


def test_what_is_the_same_on_several_data_sets_stands_in_one_row():
    nothing = {"sources": {key: {"title": key} for key in ("a", "b")}, "cells": {}}
    results = {
        **nothing,
        "ceilings": {"paper_trials": 5.6, "counted": 4.0},
        "printed_rates": {"epsilon": 0.31},
    }
    results["sources"] |= {"cifar10": {"title": "c"}, "purchase": {"title": "p"}}
    rows = compare.claim_rows(results)
    assert [row.what for row in rows if row.where == "§4.6"] == ["dataset, a / b / c / p, ε = 4"]
    found = {"lower": 1.0, "same_sample": 3.7, "upper": 5.0, "trials_per_world": 10, "point": 3.0}
    cell = {"adversaries": {"dataset": {}}, "counted": found}
    results["cells"] = {"a-eps4": cell}
    mine, rest = (row for row in compare.claim_rows(results) if row.where == "§4.6")
    assert mine.verdict == "reached as L counts (same-sample); not by the valid bound"
    assert rest.verdict == "not played yet"


def test_dry_run_prints_the_cost_of_the_cells_and_writes_nothing(tmp_path, capsys):
    flags = ("--scale=smoke", "--dry_run", "--adversary=api_access", f"--out={tmp_path / 'out'}")
    assert run(*flags, "--cells=purchase-eps2") == 0
    cost, count = capsys.readouterr().out.splitlines()
    assert cost.startswith("purchase-eps2       2 steps, N = 100, q = 0.1, σ = 1: 40 trainings, ")
    assert count.startswith("2 cells in all")
    assert not (tmp_path / "out").exists()


def test_a_run_whose_folder_was_deleted_comes_out_the_same(toy, tmp_path):
    assert run("--scale=smoke", f"--out={tmp_path}", "--parts=cells,accuracy", "--cells=mnist-eps2") == 0
    assert run("--scale=smoke", f"--out={toy}", "--parts=accuracy", "--cells=mnist-eps2") == 0
    for name, key in (("cells/mnist-eps2/report", "adversaries"), ("accuracy/mnist-eps2", "accuracy")):
        first, again = (json.loads((folder / f"{name}.json").read_text())[key] for folder in (toy, tmp_path))
        assert first == again


def test_when_the_time_is_over_no_cell_is_begun(tmp_path, capsys):
    assert run("--scale=smoke", f"--out={tmp_path}", "--minutes=0", "--parts=cells") == 0
    assert "the same command goes on with mnist-eps2" in capsys.readouterr().err
    assert not (tmp_path / "cells").exists()


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--paper=unknown", f"--paper must be one of {', '.join(PAPERS)}, got unknown"),
        ("--scale=huge", "--scale must be one of smoke, desk, paper, got huge"),
        ("--parts=cells,tables", "--parts must be one of cells, accuracy, report, got tables"),
        ("--cells=mnist-eps3", "got mnist-eps3"),
        ("--cells=", "--cells must be one or more, got none"),
        ("--adversary=", "--adversary must be one or more, got none"),
        ("--parts=", "--parts must be some of cells, accuracy, report, got none"),
        ("--minutes=-1", "--minutes must be >= 0, got -1.0"),
    ],
)
def test_wrong_flags_are_one_line(flag, message, capsys):
    assert run(flag) == 2
    assert capsys.readouterr().err.strip().endswith(message)


@pytest.mark.parametrize("accountant", ["pld", "rdp"])
def test_the_number_of_steps_is_the_largest_within_the_target(accountant):
    rate = 0.05
    steps = most_steps(2.0, 1.0, rate, accountant)
    spent = [float(DPSGD(1.0, rate, t, accountant=accountant).epsilon(DELTA)) for t in (steps, steps + 1)]
    assert spent[0] <= 2.0 < spent[1]
    assert most_steps(1.0, 0.5, 0.5) == 0


@pytest.mark.parametrize("name", ["desk", "paper"])
def test_the_settings_are_the_papers_wherever_it_states_them(name):
    scale = SCALES[name]
    for cell in all_cells(scale):
        sigma, _ = scale.budgets[cell.dataset][cell.epsilon]
        assert sigma in NOISE_MULTIPLIERS
    rates = {"mnist": (0.15, 1.0), "cifar10": (0.15, 1.0), "purchase": (1.1, 0.05)}
    for key, stated in rates.items():
        assert (scale.sources[key].learning_rate, scale.sources[key].clipping_norm) == stated
    assert ordered_cells(scale)[0] == Cell("mnist", 4.0)
    assert len(ordered_cells(scale)) == 3 * len(EPSILONS)
    config = audit_config(Cell("mnist", 4.0), scale, None, seed=0)
    assert 3.5 < float(config.profile.epsilon(DELTA)) <= 4.0
    assert config.trials == {"desk": 250, "paper": 1_000}[name]


def test_renyi_lies_above_privacy_loss_distributions_and_the_limit_near_them():
    for row in accountants.compare():
        assert row["pld"] < row["rdp"] < 1.25 * row["pld"]
        assert 0.85 * row["pld"] < row["clt"] < 1.1 * row["pld"]
    assert math.ceil(60 * 60_000 / 256) == accountants.STEPS


def test_a_model_whose_training_was_stopped_ends_as_one_that_was_not(tmp_path, monkeypatch):
    scale = dataclasses.replace(SCALES["smoke"], most_steps=4)
    arguments = (Cell("mnist", 4.0), scale, None, 3)
    whole = accuracy.train_cell(*arguments, epath.Path(tmp_path / "whole"), print)
    real = Checkpoint.save

    def save_and_stop(checkpoint, params, step, seconds):
        real(checkpoint, params, step, seconds)
        if step == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        accuracy.train_cell(*arguments, epath.Path(tmp_path / "stopped"), print)
    monkeypatch.setattr(Checkpoint, "save", real)
    other = dataclasses.replace(scale, most_steps=3)
    with pytest.raises(ValueError, match=r"mnist-eps4\.npz must be of steps 3, got 4; move it away"):
        accuracy.train_cell(arguments[0], other, *arguments[2:], epath.Path(tmp_path / "stopped"), print)
    resumed = accuracy.train_cell(*arguments, epath.Path(tmp_path / "stopped"), print)
    np.testing.assert_allclose(resumed["accuracy"], whole["accuracy"], atol=1e-9)
    assert not list((tmp_path / "stopped").glob("*.npz"))
    with pytest.raises(ValueError, match=r"mnist-eps4\.json must be of steps 3, got 4; move it away"):
        accuracy.train_cell(arguments[0], other, *arguments[2:], epath.Path(tmp_path / "stopped"), print)
