"""Runs that keep counts: the same trials as single scores, resumed where they stopped, refused where they cannot be."""

import dataclasses

import jax
import numpy as np
import pytest

from privacy_audit import counted
from privacy_audit.attacks import ADVERSARIES
from privacy_audit.attacks.dataset import reduced_score
from privacy_audit.explicit import best_threshold
from privacy_audit.game import trial_key
from privacy_audit.ledger import open_ledger

TRIALS = 5000


@pytest.fixture
def config(small_config, monkeypatch):
    monkeypatch.setattr(counted, "COUNTED_FROM", 1000)
    monkeypatch.setattr(counted, "TALLY", 2000)
    monkeypatch.setattr(counted, "AT_ONCE", 512)
    return small_config(adversaries=("dataset",), trials=TRIALS, threshold="explicit")


def test_counts_are_those_of_the_scores(config, tmp_path):
    counter, worlds = counted.play_counted(
        config, open_ledger(tmp_path, {"identity": "x"}), jax.devices()[:2]
    )
    for world in (0, 1):
        keys = jax.vmap(lambda i, world=world: trial_key(config.seed, world, i))(
            np.arange(TRIALS, dtype=np.uint32)
        )
        scores = np.asarray(jax.vmap(lambda key, world=world: reduced_score(key, world, config.plan))(keys))
        assert abs(worlds[world].above - (scores >= counter.threshold).sum()) <= 1  # a score within rounding
        assert worlds[world].histogram.sum() == TRIALS
    document = counted.counted_document(counter, worlds, config)
    assert document["estimate"]["valid"]
    assert not document["same_sample"]["valid"]
    assert document["same_sample"]["epsilon_lower"] >= document["epsilon_lower"] - 0.05


def test_a_stopped_run_counts_only_what_is_missing(config, tmp_path):
    ledger = open_ledger(tmp_path, {"identity": "x"})
    _, whole = counted.play_counted(config, ledger, jax.devices()[:1])
    kept = (tmp_path / "c0-000000000000.npz").stat().st_mtime_ns
    (tmp_path / "c1-000000002000.npz").unlink()
    (tmp_path / "c0-000000004000.npz").write_bytes(b"damaged")
    _, again = counted.play_counted(config, ledger, jax.devices()[:1])
    assert [world.above for world in again] == [world.above for world in whole]
    assert (tmp_path / "c0-000000000000.npz").stat().st_mtime_ns == kept


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"adversaries": ("gradient",)},
            "trials must be < 1000 for gradient, which trains its models, got 5000",
        ),
        ({"threshold": "held-out"}, "threshold must be explicit from 1000 trials on"),
    ],
)
def test_runs_too_large_for_their_scores_are_refused(config, changes, message):
    with pytest.raises(ValueError, match=message):
        counted.is_counted(dataclasses.replace(config, **changes))


def test_the_explicit_threshold_is_the_best_of_all(small_config):
    """Brute force over single thresholds, at expected counts."""
    config = small_config(trials=100_000)
    law = ADVERSARIES["dataset"].law(config.plan, ADVERSARIES["dataset"].options())

    def promised(threshold):
        errors = 1 - law.cdf(threshold, 0), law.cdf(threshold, 1)
        return float(counted.epsilon_from_counts(*(e * 100_000 for e in errors), 100_000, delta=1e-5))

    best = promised(best_threshold(law, 100_000, 1e-5, 0.95))
    assert best > 0
    assert best >= max(promised(t) for t in np.linspace(-3, 6, 400)) - 1e-3
