"""The two worked examples of auditing code that is not ours; skipped where the peer is not installed."""

import pathlib
import sys

import numpy as np
import pytest

from privacy_audit.own_trainer import audit_trainer, trial_seed

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(params=["opacus_trainer", "jax_privacy_trainer"])
def example(request, monkeypatch):
    """One example's module."""
    peer = request.param.removesuffix("_trainer")
    pytest.importorskip(peer, reason=f"{peer} is an optional extra: pip install 'privacy-audit[peers]'")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    sys.modules.pop(request.param, None)
    return __import__(request.param)


def test_a_trial_depends_on_its_seed_and_world_alone(example):
    def played(world, seed):
        return example.score(example.train(world, seed))

    assert played(1, 5) == pytest.approx(played(1, 5), abs=1e-6)
    assert played(1, 5) != pytest.approx(played(1, 6), abs=1e-6)


def test_the_audit_stays_below_the_claim_and_sees_the_canary(example, tmp_path):
    """A mislabelled canary moves the score by about two standard deviations: 20 trials see it (errs < 1e-4)."""
    document = audit_trainer(
        example.train,
        example.score,
        30,
        out=tmp_path,
        delta=1e-5,
        profile=example.PROFILE,
        say=lambda line: None,
    )
    entry = document["adversaries"]["own"]
    assert entry["epsilon_lower"] <= entry["epsilon_proven"]
    assert entry["statistics"]["score"]["auc"]["point"] > 0.55
    with np.load(tmp_path / "w0-000000000000.npz") as stored:
        again = example.score(example.train(0, trial_seed(0, 0, 3)))
        assert stored["own/score"][3] == pytest.approx(again, abs=1e-6)
