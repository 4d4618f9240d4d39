"""The command from flags to report, and every wrong input as one line with exit code 2."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from privacy_audit import audit

SMALL = (
    "--model=fully_connected --num_examples=60 --batch_size=12 --steps=3 --noise_multiplier=1 "
    "--num_shadow_models=2 --seed=7"
).split()


def run(*flags):
    return audit.make_command().run(["audit", *flags], audit.body)


@pytest.mark.parametrize(
    ("flag", "says"),
    [
        ("--epsilon=0", "--epsilon must be > 0 and finite, got 0"),
        ("--epsilon=-1", "--epsilon must be > 0 and finite, got -1"),
        ("--epsilon=nan", "--epsilon must be > 0 and finite, got nan"),
        ("--delta=1", r"--delta must be in [0, 1), got 1"),
        ("--delta=-0.1", r"--delta must be in [0, 1), got -0.1"),
        ("--delta=0", "--delta must be in (0, 1) to calibrate"),
        ("--trials=1", "--trials must be >= 2 per world, got 1"),
        ("--trials=many", "flag --trials=many: invalid literal"),
        ("--adversary=nobody", "--adversary must be one of api_access, static_poison"),
        ("--dataset=imagenet", "--dataset must be one of mnist5k, mnist, cifar10"),
        ("--model=vit", "--model must be one of cnn, cnn_tanh, cnn_tanh_centred, fully_connected, got vit"),
        ("--batch_size=1001", "--batch_size must be <= num_examples (1000), got 1001"),
        ("--num_examples=5000", "--num_examples must be between 1 and 4998"),
        ("--num_examples=0", "--num_examples must be >= 1, got 0"),
        ("--clipping_norm=0", "--clipping_norm must be > 0 and finite, got 0"),
        ("--clipping_norm=inf", "--clipping_norm must be > 0 and finite, got inf"),
        ("--epsilon=1,1.0000001", "--epsilon must be numbers that differ in six digits, got 1,1.0000001"),
        ("--noise_multiplier=0", "--noise_multiplier must be > 0 and finite, got 0"),
        ("--learning_rate=nan", "--learning_rate must be >= 0 and finite, got nan"),
        ("--confidence=1", "--confidence must be in (0, 1), got 1"),
        ("--threshold=best", "or one of held-out, explicit, every, anytime, same-sample, got best"),
        ("--accountant=none", "--accountant must be one of pld, rdp, got none"),
        ("--steps=0", "--steps must be >= 1, got 0"),
        ("--watermark_pairs=100000", "--watermark_pairs must be between 1 and"),
        ("--no_such_flag=1", "Unknown command line flag 'no_such_flag'"),
        ("stray", "arguments must be flags (--name=value), got stray"),
        ("--out=/dev/null/x", "--out must be a folder that can be written"),
    ],
)
def test_bad_input_is_one_line_with_exit_code_2(flag, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = SMALL if flag.startswith(("--watermark", "--out")) else []
    assert run(*small, "--steps=2", flag) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert says in errors[-1]
    assert not [line for line in errors[:-1] if "Traceback" in line]
    assert not list(tmp_path.rglob("*.npz"))
    assert not list(tmp_path.rglob("report.json"))
    assert not list(tmp_path.rglob("run.json"))  # the corrected command may use the folder


def test_epsilon_and_noise_multiplier_exclude_each_other(capsys):
    assert run("--epsilon=1", "--noise_multiplier=2") == 2
    assert "--noise_multiplier must be left out where epsilon is given, got 2" in capsys.readouterr().err


def test_help_shows_our_flags_in_groups(capsys):
    assert run("--help") == 0
    shown = capsys.readouterr().out
    for group in ("Data and model:", "Training (DP-SGD):", "The game:", "Adversaries:", "Running:"):
        assert group in shown
    assert "--watermark_pairs" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_a_run_writes_report_figure_and_json(tmp_path, capsys):
    flags_file = tmp_path / "flags.txt"
    flags_file.write_text("\n".join([*SMALL, "--trials=40", f"--out={tmp_path / 'run'}"]))
    assert run(f"--flagfile={flags_file}", "--json") == 0
    printed = capsys.readouterr().out
    document = json.loads(printed.splitlines()[-1])
    assert document == json.loads((tmp_path / "run" / "report.json").read_text())
    assert (tmp_path / "run" / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert list(document["adversaries"]) == ["gradient", "api_access"]
    for entry in document["adversaries"].values():
        assert entry["valid"] is True
        assert entry["epsilon_lower"] <= entry["epsilon_proven"] == document["epsilon_proven"]
        assert (entry["confidence"], entry["trials_per_world"]) == (0.95, 40)
        assert entry["method"] == "clopper_pearson, held-out threshold"
        (statistic,) = entry["statistics"].values()
        assert statistic["same_sample"]["valid"] is False
    assert "not a valid bound" in printed
    assert run(f"--flagfile={flags_file}", "--seed=8") == 2  # the folder holds seed 7
    assert "seed 7 there, 8 here" in capsys.readouterr().err


def test_constant_scores_give_epsilon_zero(tmp_path, capsys):
    """Learning rate 0: every final model is the initial one, and its loss says nothing (report 19)."""
    flags = [
        *SMALL,
        "--learning_rate=0",
        "--adversary=api_access",
        "--trials=12",
        f"--out={tmp_path}",
        "--json",
    ]
    assert run(*flags) == 0
    entry = json.loads(capsys.readouterr().out.splitlines()[-1])["adversaries"]["api_access"]
    assert entry["epsilon_lower"] == 0.0
    assert entry["statistics"]["loss"]["auc"]["point"] == 0.5


def test_a_killed_run_resumes_to_the_very_same_scores(tmp_path):
    command = [sys.executable, "-m", "privacy_audit.audit", *SMALL, "--adversary=api_access"]
    command += ["--trials=600", "--chunk=64", "--cpu_devices=2"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    subprocess.run([*command, f"--out={whole}"], check=True, **quiet)
    process = subprocess.Popen([*command, f"--out={killed}"], **quiet)
    first = killed / "w0-000000000000.npz"
    while not first.exists() and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    files = sorted(path.name for path in whole.glob("*.npz"))
    assert 1 <= len(list(killed.glob("*.npz"))) < len(files)
    resumed = subprocess.run([*command, f"--out={killed}"], check=True, **quiet)
    assert "resumed" in resumed.stderr
    for name in files:
        with np.load(whole / name) as a, np.load(killed / name) as b:
            assert a.files == b.files
            for array in a.files:
                np.testing.assert_array_equal(a[array], b[array])


def test_a_dry_run_states_its_cost_and_writes_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*SMALL, "--trials=100", "--adversary=api_access", "--dry_run") == 0
    printed = capsys.readouterr().out
    for part in (
        "proven ε",
        "3 steps, N = 60, q = 0.2",
        "200 in all",
        "trials per chunk",
        "MiB a device",
        "ms a training",
    ):
        assert part in printed
    assert not list(tmp_path.iterdir())


def test_a_stop_rule_excludes_other_thresholds(capsys):
    assert run("--stop_when_above=1", "--threshold=every") == 2
    assert "--threshold must be anytime where a stop rule is given" in capsys.readouterr().err
    assert run("--stop_when_above=-1") == 2
    assert "--stop_when_above must be >= 0, got -1" in capsys.readouterr().err
