"""The risk command: answers, files, and one-line refusals that leave nothing behind."""

import csv
import json

import numpy as np
import pytest

from privacy_audit.risk import paper, tables
from privacy_audit.risk.__main__ import run


def risk(*flags: str) -> int:
    return run(["risk", *flags])


def test_success_prints_the_paper_s_example(capsys):
    assert (
        risk(
            "success", "--epsilon=1", "--delta=1e-5", "--prior=0.56", "--secrets=100", "--norefine", "--json"
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["at most recovered"] == 84
    assert answer["rows"][-1]["Pr[L >= v] at most"] < 0.05


def test_success_reads_priors_from_files_and_writes_what_was_asked(tmp_path, capsys):
    np.save(tmp_path / "priors.npy", np.full(20, 0.5))
    (tmp_path / "priors.csv").write_text("prior\n" + "0.5\n" * 20)
    common = ["success", "--profile=pure", "--epsilon=1", "--v=15,18"]
    for source, out in (("priors.npy", "a.csv"), ("priors.csv", "b.csv")):
        assert risk(*common, f"--prior={tmp_path / source}", f"--out={tmp_path / out}") == 0
    first, second = ((tmp_path / name).read_text() for name in ("a.csv", "b.csv"))
    assert first == second
    assert [row["v"] for row in csv.DictReader(first.splitlines())] == ["15", "18"]
    plot = tmp_path / "c.png"
    assert risk(*common, "--prior=0.5", "--secrets=20", f"--plot={plot}", f"--out={tmp_path / 'c.json'}") == 0
    assert plot.stat().st_size > 5000
    assert len(json.loads((tmp_path / "c.json").read_text())["rows"]) == 2
    assert "at most recovered" in capsys.readouterr().out


@pytest.mark.parametrize(
    "flags",
    [
        ["--profile=gaussian_dp", "--mu=1", "--prior=uniform", "--symbols=10"],
        ["--profile=zcdp", "--rho=0.1", "--prior=zipf", "--symbols=50"],
        ["--profile=laplace", "--noise_multiplier=2"],
        ["--profile=gaussian", "--noise_multiplier=2", "--steps=2"],
        ["--profile=dpsgd", "--noise_multiplier=2", "--sampling_rate=0.1", "--steps=5", "--accountant=rdp"],
        ["--profile=randomized_response", "--epsilon=1", "--symbols=4", "--prior=uniform"],
    ],
)
def test_every_profile_can_be_asked(flags, capsys):
    assert risk("success", *flags, "--secrets=20", "--norefine", "--json") == 0
    assert 0 <= json.loads(capsys.readouterr().out)["at most recovered"] <= 20


def test_a_categorical_prior_comes_from_a_file(tmp_path, capsys):
    (tmp_path / "p.csv").write_text("0.5,0.3,0.2\n")
    flags = ["--prior=categorical", f"--distribution={tmp_path / 'p.csv'}", "--profile=pure", "--epsilon=0.5"]
    assert risk("success", *flags, "--secrets=20", "--json") == 0
    assert json.loads(capsys.readouterr().out)["largest prior"] == 0.5


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [0.5, 0.4],
            "--distribution must hold probabilities, got {file} (sum of p must be 1 within 1e-9, got 0.9)",
        ),
        (np.full((2, 2), 0.25), "--distribution must be one column or one row, got {file} of shape (2, 2)"),
    ],
)
def test_a_file_that_is_no_distribution_is_named(values, message, tmp_path, capsys):
    file = tmp_path / "p.npy"
    np.save(file, np.array(values))
    assert risk("success", "--epsilon=1", "--prior=categorical", f"--distribution={file}") == 2
    assert message.format(file=file) in capsys.readouterr().err


def test_a_table_is_no_vector(tmp_path, capsys):
    file = tmp_path / "priors.csv"
    file.write_text("0.1,0.2\n0.3,0.4\n")
    assert risk("success", "--epsilon=1", f"--prior={file}") == 2
    assert "--prior must be a file of numbers" in capsys.readouterr().err


@pytest.mark.parametrize("sigma", ["1e-6", "0.02", "1e300"])
def test_any_noise_is_answered(sigma, capsys):
    flags = [f"--noise_multiplier={sigma}", "--sampling_rate=0.01", "--steps=10", "--norefine"]
    assert risk("success", "--profile=dpsgd", *flags) == 0
    assert "at most recovered" in capsys.readouterr().out


def test_an_advantage_that_no_noise_exceeds_is_answered(capsys):
    """A record that is in at most 10 % of the trainings shows in no more of them, however little the noise."""
    flags = ["--max_advantage=0.9999999", "--sampling_rate=0.01", "--steps=10", "--json"]
    assert risk("calibrate", *flags) == 0
    assert json.loads(capsys.readouterr().out)["noise multiplier"] <= 0.02


def test_the_mean_is_below_the_maximum_for_a_bare_prior(capsys):
    flags = ["--epsilon=1", "--prior=0.1", "--secrets=100000", "--norefine", "--json"]
    assert risk("success", *flags) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["expected at most"] == pytest.approx(1e5 * np.e / (np.e + 9), rel=1e-9)
    assert answer["expected at most"] < answer["at most recovered"]


def test_calibrate_answers_both_limits(capsys):
    assert risk("calibrate", "--max_advantage=0.05", "--prior=1e-9", "--json") == 0
    assert json.loads(capsys.readouterr().out)["pure epsilon"] == pytest.approx(17.8, abs=0.05)
    flags = ["--prior=uniform", "--symbols=10", "--secrets=20", "--sampling_rate=0.05", "--steps=50"]
    assert risk("calibrate", "--max_rate=0.5", *flags, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert 0 < answer["noise multiplier"] < answer["noise multiplier by way of epsilon"]


def test_sweep_writes_the_whole_grid_and_shows_its_head(tmp_path, capsys):
    grid = ["--epsilons=0.5:2:4", "--deltas=0,1e-5", "--kappas=0.1:0.4:3:log", "--secrets=20", "--show=2"]
    assert risk("sweep", *grid, f"--out={tmp_path / 'grid.csv'}", f"--plot={tmp_path / 'grid.png'}") == 0
    rows = list(csv.DictReader((tmp_path / "grid.csv").read_text().splitlines()))
    assert len(rows) == 24
    assert "22 more rows" in capsys.readouterr().out
    assert int(rows[0]["at most recovered"]) <= int(rows[-1]["at most recovered"])


def test_sweep_writes_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "grid.parquet"
    assert (
        risk("sweep", "--epsilons=0.5:2:4", "--deltas=0", "--kappas=0.1", "--secrets=20", f"--out={out}") == 0
    )
    assert parquet.read_table(out).num_rows == 4


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "subcommand must be one of success, calibrate, sweep, tables, got ''"),
        (["success"], "--epsilon must be given for --profile=approximate, got nothing"),
        (["success", "--epsilon=-1"], "--epsilon must be >= 0, got -1.0"),
        (["success", "--epsilon=x"], "--epsilon"),
        (["success", "--profile=magic"], "--profile must be one of pure, "),
        (["success", "--epsilon=1", "--prior=1.5"], "--prior must lie in [0, 1], got 1.5"),
        (["success", "--epsilon=1", "--prior=nan"], "--prior must lie in [0, 1], got nan"),
        (
            ["success", "--epsilon=1", "--prior=oops"],
            "--prior must be numbers, a .csv or .npy file, or one of",
        ),
        (["success", "--epsilon=1", "--prior=no.csv"], "--prior must be a file that exists, got no.csv"),
        (
            ["success", "--epsilon=1", "--prior=uniform"],
            "--symbols must be given for --prior=uniform, got nothing",
        ),
        (["success", "--epsilon=1", "--secrets=0"], "--secrets must be >= 1, got 0"),
        (
            ["success", "--epsilon=1", "--prior=0.1,0.2", "--secrets=3"],
            "--secrets must be 2, as many as --prior lists",
        ),
        (
            ["success", "--epsilon=1", "--method=best"],
            "--method must be one of certified, optimal, printed",
        ),
        (["success", "--epsilon=1", "--v=2.5"], "--v must be whole numbers, got 2.5"),
        (["success", "--epsilon=1", "--confidence=1"], "--confidence must be in (0, 1), got 1"),
        (
            ["success", "--epsilon=1", "--prior=0.5", "--adjacency=add_remove"],
            "must have adjacency 'replace_one'",
        ),
        (
            ["success", "--epsilon=1", "--out=x.txt"],
            "--out must end in one of .json, .csv, .parquet, got x.txt",
        ),
        (["success", "--epsilon=1", "--v="], "--v must lie in [0, 100], got nothing"),
        (["success", "--epsilon=1", "--v=3,11", "--secrets=10"], "--v must lie in [0, 10], got 11"),
        (["success", "--epsilon=1", "--v=-1", "--secrets=10"], "--v must lie in [0, 10], got -1"),
        (
            ["success", "--profile=pure", "--epsilon=1", "--delta=0.1"],
            "--delta must be left out for --profile=pure, got 0.1",
        ),
        (["success", "--epsilon=1", "--mu=1"], "--mu must be left out for --profile=approximate, got 1.0"),
        (
            ["success", "--epsilon=1", "--prior=0.5", "--symbols=10"],
            "--symbols must be left out for --prior=0.5, got 10",
        ),
        (
            ["calibrate", "--max_rate=0.9", "--symbols=10"],
            "--symbols must be left out for --prior=membership, got 10",
        ),
        (
            ["success", "--epsilon=1", "--prior=uniform", "--symbols=3", "--exponent=2"],
            "--exponent must be left out for --prior=uniform, got 2.0",
        ),
        (
            [
                "success",
                "--profile=dpsgd",
                "--noise_multiplier=1",
                "--sampling_rate=0.1",
                "--steps=1000000000",
            ],
            "--steps must be <= 100000000, got 1000000000",
        ),
        (["calibrate", "--max_advantage=-0.1"], "--max_advantage must lie in [0, 1], got -0.1"),
        (
            ["calibrate", "--max_advantage=1", "--sampling_rate=0.1", "--steps=5"],
            "--max_advantage must lie in (0, 1), got 1.0",
        ),
        (
            ["tables", "--only="],
            "--only must be some of coverage, protection, sex, counterexamples, gaussian, got",
        ),
        (["calibrate"], "--max_rate or max_advantage must be given, one of them, got None and None"),
        (["calibrate", "--max_rate=0.3", "--steps=5"], "--sampling_rate and steps must be given together"),
        (["sweep", "--epsilons=a:b"], "--epsilons must be numbers with commas, first:last:count"),
        (
            ["sweep", "--epsilons=1:2:1000000", "--deltas=0:1:9"],
            "--epsilons times deltas times kappas must be <=",
        ),
        (["tables", "--only=3"], "--only must be some of coverage, protection"),
    ],
)
def test_bad_input_is_one_line_that_names_the_flag(flags, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert risk(*flags) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out
    assert not list(tmp_path.iterdir())


def test_nothing_is_half_written_when_a_later_flag_is_wrong(tmp_path):
    out = tmp_path / "rows.csv"
    out.write_text("before")
    assert (
        risk(
            "success", "--epsilon=1", "--prior=0.5", "--secrets=5", f"--out={out}", f"--plot={tmp_path}/x.bmp"
        )
        == 2
    )
    assert out.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize("name", ["success", "calibrate", "sweep", "tables"])
def test_help_shows_the_flags_and_an_example(name, capsys):
    assert risk(name, "--help") == 0
    text = capsys.readouterr().out
    assert f"python -m privacy_audit.risk {name}" in text
    assert max(map(len, text.splitlines())) <= 100


def test_table_1_is_the_paper_s_but_for_k_ary_one_run_audits():
    rows = {row.pop("bound"): row for row in tables.coverage_table()}
    differing = {
        (name, setting) for name, row in rows.items() for setting, mark in row.items() if "U" in mark
    }
    assert differing == {("Mahloujifar 2024", "attribute"), ("Mahloujifar 2024", "reconstruction")}
    assert set(rows["ours"].values()) == {"✓"}


def test_table_2_matches_the_printed_figures():
    rows = tables.protection_table()
    assert [round(row["ε for Adv ≤ 0.05"], 2) for row in rows] == [17.78, 2.37, 0.71, 0.25]
    assert [round(row["Adv at ε = 1"], 2) for row in rows] == [0.0, 0.01, 0.08, 0.24]
    assert len(rows) == len(paper.TABLE_2)


def test_the_printed_formula_is_exceeded_in_the_smallest_counterexample(monkeypatch):
    monkeypatch.setattr(paper, "COUNTEREXAMPLES", paper.COUNTEREXAMPLES[:1])
    (row,) = tables.counterexample_table()
    assert row["τ"] < row["printed"] < row["optimum"] <= row["certified"]
    assert row["optimum"] == pytest.approx(0.99130, abs=1e-5)
    assert row["printed"] == pytest.approx(0.94605, abs=1e-5)
    assert row["τ"] == pytest.approx(0.92293, abs=1e-5)
