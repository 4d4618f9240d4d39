"""Runs that differ in σ alone: one compiled program, and the same scores as alone."""

import json

import jax
import numpy as np
import pytest

from privacy_audit.audit import body, make_command
from privacy_audit.ledger import open_ledger
from privacy_audit.run import run_audit, run_audits

NAME = "gradient/likelihood_ratio"


def scores(folder, config):
    ledger = open_ledger(folder, {"identity": config.identity, "config": config.to_json()})
    return [world[NAME] for world in ledger.read_all(config.trials)]


def test_one_program_for_many_chunks_several_epsilons_and_both_worlds(small_config, tmp_path, caplog):
    configs = [small_config(adversaries=("gradient",), noise_multiplier=s, seed=31) for s in (0.7, 1.1)]
    folders = [tmp_path / "a", tmp_path / "b"]
    with jax.log_compiles(True):
        run_audits(configs, folders, chunk=4)
    programs = [m for m in caplog.messages if m.startswith("Compiling") and "play_trials" in m]
    assert len(programs) == 1, programs
    run_audit(configs[1], tmp_path / "alone", chunk=4)
    for together, alone in zip(
        scores(folders[1], configs[1]), scores(tmp_path / "alone", configs[1]), strict=True
    ):
        np.testing.assert_allclose(together, alone, atol=1e-5)
    assert not np.allclose(scores(folders[0], configs[0])[0], scores(folders[1], configs[1])[0], atol=1e-2)


def test_runs_that_differ_in_more_are_refused(small_config, tmp_path):
    configs = [small_config(), small_config(steps=5)]
    with pytest.raises(ValueError, match=r"^steps must be the same in all runs \(4\), got 5$"):
        run_audits(configs, [tmp_path / "a", tmp_path / "b"])
    assert not list(tmp_path.iterdir())


def command(*arguments):
    return make_command().run(["audit", *arguments], body)


def test_two_epsilons_from_the_command_line(tmp_path, capsys):
    few = ["--adversary=dataset", "--num_examples=60", "--batch_size=12", "--steps=3", "--trials=40"]
    assert command(*few, "--model=fully_connected", "--epsilon=1,2", f"--out={tmp_path}", "--json") == 0
    reports = [json.loads((tmp_path / f"epsilon-{e}" / "report.json").read_text()) for e in (1, 2)]
    assert [0.97 * e <= r["epsilon_proven"] <= e for e, r in zip((1, 2), reports, strict=True)] == [
        True,
        True,
    ]
    assert sum(line.startswith('{"schema_version"') for line in capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--epsilon=1,x", "--epsilon must be a number or several, got 1,x"),
        ("--epsilon=", "--epsilon must be a number or several, got none"),
        (
            "--noise_multiplier=1,1.0",
            "--noise_multiplier must be numbers that differ in six digits, got 1,1.0",
        ),
        ("--epsilon=1,-2", "--epsilon must be > 0 and finite, got -2.0"),
    ],
)
def test_bad_lists_are_one_line_errors(flag, message, capsys, tmp_path):
    assert command(flag, f"--out={tmp_path / 'run'}") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
