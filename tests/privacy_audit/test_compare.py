"""Two runs side by side: equal runs do not differ, unlike ones do."""

import json
import pathlib

import numpy as np
import pytest

from privacy_audit import compare
from privacy_audit.own_trainer import audit_trainer


def trainer(shift):
    def train(world, seed):
        return shift * world + np.random.default_rng(seed).standard_normal()

    return train


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one trainer with different seeds, and one of a trainer that leaks more."""
    folders = []
    for shift, seed in ((0.5, 1), (0.5, 2), (2.0, 3)):
        folder = tmp_path_factory.mktemp("run")
        audit_trainer(trainer(shift), float, 300, out=folder, delta=1e-5, seed=seed, say=lambda line: None)
        folders.append(str(folder))
    return folders


def run(*arguments):
    return compare.make_command().run(["compare", *arguments], compare.body)


def test_runs_of_one_trainer_do_not_differ_and_another_trainer_does(runs, capsys):
    """The first p-value is valid: below 0.01 in at most 1% of seeds."""
    one, same, other = (compare.read_run(where) for where in runs)
    assert compare.compare(one, same)[0].p_value > 0.01
    (row,) = compare.compare(one, other)
    assert row.p_value < 1e-6
    assert row.area.upper < 0
    assert run(runs[0], runs[2], "--json") == 0
    printed = capsys.readouterr().out
    assert "seed: 1 | 3" in printed
    assert json.loads(printed.splitlines()[-1])[0]["statistic"] == "score"


def test_reports_alone_are_compared_without_a_test(runs, capsys):
    assert run(f"{runs[0]}/report.json", runs[1]) == 0
    assert "no scores" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "arguments must be RUN1 RUN2"),
        (("one",), "arguments must be RUN1 RUN2"),
        (("/nowhere", "/nowhere"), "run must be a finished audit's folder or report.json, got /nowhere"),
    ],
)
def test_bad_input_is_one_line_with_exit_code_2(arguments, says, capsys):
    assert run(*arguments) == 2
    assert says in capsys.readouterr().err


def test_what_only_one_run_has_is_named(runs):
    """Two statistics in place of the one."""
    one = compare.read_run(runs[0])
    report = json.loads(json.dumps(one.report).replace('"score"', '"other"'))
    other = compare.Run("other", report, None)
    assert compare.only_in_one(one, other) == ["only in 1: own/score", "only in 2: own/other"]
    assert compare.only_in_one(one, one) == []


def test_runs_whose_trials_were_only_counted_are_compared(tmp_path, capsys):
    """A million trials leave counts, not scores; options that differ are named one by one."""
    estimate = {"epsilon_lower": 1.5}
    for name, pairs in (("a", 50), ("b", 5)):
        report = {
            "schema_version": compare.SCHEMA_VERSION,
            "epsilon_proven": 2.0,
            "config": {"seed": 1, "options": {"dataset": {"watermark_pairs": pairs}}},
            "adversaries": {"dataset": {"statistic": "likelihood_ratio", "estimate": estimate}},
        }
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps(report))
    assert run(str(tmp_path / "a"), str(tmp_path / "b")) == 0
    printed = capsys.readouterr().out
    assert "dataset/likelihood_ratio               1.500   1.500   no scores" in printed
    assert "dataset.watermark_pairs: 50 | 5" in printed
    assert "both runs have seed 1" in printed


def test_another_schema_is_refused(runs, tmp_path):
    report = json.loads(pathlib.Path(runs[0], "report.json").read_text())
    (tmp_path / "report.json").write_text(json.dumps({**report, "schema_version": 99}))
    with pytest.raises(ValueError, match="report schema 1, got schema 99"):
        compare.read_run(str(tmp_path))
