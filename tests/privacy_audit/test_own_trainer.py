"""Any training function: the same ledger and report, failures named, nothing lost."""

import json
import os

import numpy as np
import pytest

from privacy_audit.bounds.profiles import GaussianDP
from privacy_audit.own_trainer import TrialFailed, audit_trainer, trial_seed


def gaussian_trainer(world, seed):
    """A 'model' that is one noisy number: exactly Gaussian DP with μ = 2."""
    return 2.0 * world + np.random.default_rng(seed).standard_normal()


def score(model):
    return model


class FailsOnce:
    """Raises, or returns the wrong shape, for one trial while `broken`."""

    def __init__(self, seed, how):
        self.seed, self.how, self.broken, self.calls = seed, how, True, 0

    def __call__(self, world, seed):
        self.calls += 1
        if self.broken and seed == self.seed:
            if self.how == "raises":
                raise ZeroDivisionError("by the user")
            return np.zeros(3) if self.how == "shape" else float("nan")
        return gaussian_trainer(world, seed)


def quiet(line):
    """Says nothing."""


@pytest.mark.parametrize("processes", [0, 2])
def test_a_gaussian_trainer_is_audited_below_its_claim(tmp_path, processes):
    trials = 400 if processes == 0 else 40
    document = audit_trainer(
        gaussian_trainer,
        score,
        trials,
        out=tmp_path,
        delta=1e-5,
        profile=GaussianDP(2.0, adjacency="add_remove"),
        threshold="every",
        processes=processes,
        say=quiet,
    )
    entry = document["adversaries"]["own"]
    assert 0 < entry["epsilon_lower"] < entry["epsilon_proven"]
    assert document == json.loads((tmp_path / "report.json").read_text())
    with np.load(tmp_path / "w1-000000000000.npz") as stored:
        expected = [gaussian_trainer(1, trial_seed(0, 1, i)) for i in range(20)]
        np.testing.assert_array_equal(stored["own/score"][:20], expected)


@pytest.mark.parametrize("how", ["raises", "shape", "nan"])
def test_a_trial_that_fails_is_named_the_others_are_kept_and_a_resume_works(tmp_path, how):
    train = FailsOnce(trial_seed(0, 1, 17), how)
    with pytest.raises(TrialFailed, match="^trial 17 of world 1 failed: .*the other trials are kept"):
        audit_trainer(train, score, 30, out=tmp_path, delta=1e-5, say=quiet)
    assert not (tmp_path / "report.json").exists()
    train.broken, train.calls = False, 0
    said = []
    document = audit_trainer(train, score, 30, out=tmp_path, delta=1e-5, say=said.append)
    assert train.calls == 1
    assert any("resumed 59 of 60" in line for line in said)
    assert document["epsilon_proven"] is None
    assert document["adversaries"]["own"]["trials_per_world"] == 30


def test_named_statistics_are_corrected_for_their_number(tmp_path):
    document = audit_trainer(
        gaussian_trainer,
        lambda model: {"plain": model, "noise": np.cos(1e6 * model)},
        50,
        out=tmp_path,
        delta=1e-5,
        say=quiet,
    )
    estimates = [s["estimate"] for s in document["adversaries"]["own"]["statistics"].values()]
    assert [e["confidence"] for e in estimates] == pytest.approx([0.975, 0.975])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"trials": 1}, "trials must be a whole number >= 2, got 1"),
        ({"trials": 2.5}, "trials must be a whole number >= 2, got 2.5"),
        ({"seed": -1}, "seed must be a whole number >= 0, got -1"),
        ({"processes": -1}, "processes must be a whole number >= 0, got -1"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\), got 1.0"),
        ({"confidence": 0}, r"confidence must be in \(0, 1\), got 0"),
        ({"threshold": "evry"}, "threshold must be a finite number or one of held-out, every, same-sample"),
        ({"threshold": float("nan")}, "threshold must be a finite number"),
        ({"name": "a/b"}, "name must have letters, no slash"),
    ],
)
def test_bad_arguments_are_one_line(tmp_path, changes, says):
    arguments = {"trials": 10, "out": tmp_path / "new", "delta": 1e-5} | changes
    with pytest.raises(ValueError, match=says):
        audit_trainer(gaussian_trainer, score, **arguments)
    assert not (tmp_path / "new").exists()


def test_another_run_in_the_folder_is_refused(tmp_path):
    audit_trainer(gaussian_trainer, score, 4, out=tmp_path, delta=1e-5, say=quiet)
    with pytest.raises(ValueError, match="seed 0 there, 1 here"):
        audit_trainer(gaussian_trainer, score, 4, out=tmp_path, delta=1e-5, seed=1, say=quiet)


def dies(world, seed):
    """A worker that the system kills."""
    os._exit(9)


def test_a_worker_that_dies_is_one_line(tmp_path):
    with pytest.raises(TrialFailed, match="worker process died: of too little memory, or of a script"):
        audit_trainer(dies, score, 2, out=tmp_path, delta=1e-5, processes=1, say=quiet)


def test_trials_of_old_code_are_said_to_be_so(tmp_path):
    lines = []
    arguments = {"trials": 10, "out": tmp_path, "delta": 1e-5, "say": lines.append}
    assert not audit_trainer(gaussian_trainer, score, **arguments)["code_changed"]
    assert audit_trainer(gaussian_trainer, float, **arguments)["code_changed"]
    assert any(line.startswith("train or score has changed since") for line in lines)


def test_statistics_that_come_and_go_are_named(tmp_path):
    def fickle(model):
        return {"a": model} if model < 2.5 else {"b": model}

    with pytest.raises(TrialFailed, match=r"the same statistics in every trial \((a|b)\), got (a|b)"):
        audit_trainer(gaussian_trainer, fickle, 30, out=tmp_path, delta=1e-5, say=quiet)


def test_what_was_played_before_an_interruption_is_kept(tmp_path):
    def interrupted(world, seed):
        if seed == trial_seed(0, 0, 7):
            raise KeyboardInterrupt
        return gaussian_trainer(world, seed)

    with pytest.raises(KeyboardInterrupt):
        audit_trainer(interrupted, score, 20, out=tmp_path, delta=1e-5, say=quiet)
    with np.load(tmp_path / "w0-000000000000.npz") as stored:
        assert np.isfinite(stored["own/score"]).sum() == 7
