"""AUC, TPR at FPR, trials needed, stopping, files: each against an independent value."""

import functools
import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import norm

from privacy_audit.estimate import __main__ as estimate_command
from privacy_audit.estimate import (
    anytime,
    auc,
    auc_difference,
    ceiling,
    one_run_audit,
    tpr_at_fpr,
    trials_needed,
)
from privacy_audit.estimate.tables import read_scores


def test_auc_is_the_share_of_ordered_pairs():
    rng = np.random.default_rng(0)
    d, d_prime = rng.integers(0, 5, 40), rng.integers(1, 6, 30)
    pairs = (d_prime[:, None] > d) + 0.5 * (d_prime[:, None] == d)
    assert auc(d, d_prime).point == pytest.approx(pairs.mean())


def test_auc_intervals_cover():
    """400 repeats: an interval of true coverage 95% fails with probability 1e-4 (limit 4 standard errors)."""
    rng, truth, missed, apart = np.random.default_rng(1), norm.cdf(1 / np.sqrt(2)), 0, 0
    for _ in range(400):
        d, d_prime = rng.normal(size=80), rng.normal(1, 1, size=80)
        found = auc(d, d_prime)
        missed += not found.lower <= truth <= found.upper
        noise = rng.normal(size=(4, 80))
        other = auc_difference(
            d + noise[0], d_prime + noise[1], d + noise[2], d_prime + noise[3], paired=True
        )
        apart += not other.lower <= 0 <= other.upper
    assert max(missed, apart) <= 400 * 0.05 + 4 * np.sqrt(400 * 0.05 * 0.95)


def test_paired_adversaries_give_a_narrower_interval():
    rng = np.random.default_rng(2)
    d, d_prime = rng.normal(size=300), rng.normal(1, 1, size=300)
    arguments = d, d_prime, d + 0.1 * rng.normal(size=300), d_prime
    paired, loose = (auc_difference(*arguments, paired=paired) for paired in (True, False))
    assert paired.upper - paired.lower < 0.5 * (loose.upper - loose.lower)
    with pytest.raises(ValueError, match="paired adversaries must have the same trials"):
        auc_difference(d, d_prime, d[1:], d_prime, paired=True)


def test_separated_worlds_still_have_an_interval():
    found = auc(np.zeros(1000), np.ones(1000))
    assert (found.point, found.upper) == (1.0, 1.0)
    assert 0.95 < found.lower < 1


def test_tpr_at_fpr_covers_the_truth():
    """300 repeats of an exact interval at 95%: more than 30 misses have probability below 1e-4."""
    rng, truth, missed = np.random.default_rng(3), norm.sf(norm.isf(0.05) - 1), 0
    for _ in range(300):
        found = tpr_at_fpr(rng.normal(size=300), rng.normal(1, 1, size=300), 0.05)
        missed += not found.lower <= truth <= found.upper
    assert missed <= 30


def test_ceiling_and_its_inverse():
    assert ceiling(1000) == pytest.approx(5.600587531298923, abs=1e-9)
    assert trials_needed(5.6) == 1000
    assert ceiling(trials_needed(3.0, delta=1e-5), delta=1e-5) > 3.0 > ceiling(trials_needed(3.0) - 1)
    with pytest.raises(ValueError, match="what the rates are worth"):
        trials_needed(5.0, false_positive_rate=0.05, false_negative_rate=0.7)
    for delta in (0.0, 1e-5):
        with pytest.raises(
            ValueError, match=r"epsilon must be what 1e\+09 trials can show with power 0.9, got 50"
        ):
            trials_needed(50, delta=delta)


def test_trials_needed_have_the_power():
    """20,000 draws: standard error 0.002."""
    from privacy_audit.estimate import epsilon_from_counts

    trials = trials_needed(1.0, false_positive_rate=0.05, false_negative_rate=0.7)
    rng = np.random.default_rng(4)
    shown = epsilon_from_counts(
        rng.binomial(trials, 0.05, 20_000), rng.binomial(trials, 0.7, 20_000), trials, delta=0.0
    )
    assert np.mean(shown > 1.0) == pytest.approx(0.9, abs=0.015)


def test_stopping_under_peeking_is_rarely_false():
    """60 runs of randomized response with ε = 1: at 5% more than 10 false stops have probability 1e-4."""
    rng, wrong, stops = np.random.default_rng(5), 1 / (1 + np.e), 0
    for _ in range(60):
        d, d_prime = rng.random(400) < wrong, rng.random(400) >= wrong
        audit, seen = anytime.start(d[:50], d_prime[:50], delta=0.0), 50
        while seen < 400 and not anytime.should_stop(audit, above=1.0):
            audit = anytime.update(audit, d[seen : seen + 10], d_prime[seen : seen + 10])
            seen += 10
        stops += anytime.should_stop(audit, above=1.0)
    assert stops <= 10


def test_stopping_shows_what_is_there_and_narrows():
    rng = np.random.default_rng(6)
    audit = anytime.start(rng.normal(size=50), rng.normal(2, 1, size=50), delta=1e-5)
    assert not anytime.should_stop(audit, above=0.5, width=1.0)
    for _ in range(60):
        audit = anytime.update(audit, rng.normal(size=50), rng.normal(2, 1, size=50))
    assert anytime.should_stop(audit, above=1.0)
    assert anytime.should_stop(audit, width=1.5)
    found = anytime.estimate(audit)
    assert 1.0 < found.epsilon_lower < found.epsilon_upper < 5.0
    assert found.trials_d == 3000


def test_files_of_all_kinds_agree(tmp_path):
    world, score, trial = np.array([0, 1, 1, 0]), np.array([0.5, 2.0, 3.0, 1.5]), np.array([1, 1, 0, 0])
    np.savez(tmp_path / "s.npz", world=world, score=score, trial=trial)
    rows = "\n".join(f"{w},{s},{t}" for w, s, t in zip(world, score, trial, strict=True))
    (tmp_path / "s.csv").write_text(f"world,score,trial\n{rows}\n")
    found = [read_scores(tmp_path / name) for name in ("s.npz", "s.csv")]
    for d, d_prime in found:
        assert d.tolist() == [1.5, 0.5]
        assert d_prime.tolist() == [3.0, 2.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,score\n0,1\n", "missing: world"),
        ("world,score\n0,x\n", "score must be numbers, got 'x'"),
        ("world,score\n2,1\n", "world must be 0"),
        ("", "missing: world, score"),
        ("world,score,trial\n0,1,3\n1,2,3\n1,2,4\n1,5,4\n", "got 4 twice in world 1"),
    ],
)
def test_bad_files_are_one_line(tmp_path, text, message):
    path = tmp_path / "s.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_scores(path)


def test_canaries_of_one_training_have_a_command_too(tmp_path, capsys):
    """94 of 100 guesses right: Steinke's bound, as `one_run_audit` gives it."""
    path = tmp_path / "canaries.csv"
    rows = [(int(i < 50), (1 if i < 50 else -1) * (1 if i % 50 > 2 else -1) * (i + 1)) for i in range(100)]
    path.write_text("included,score\n" + "".join(f"{i},{s}\n" for i, s in rows))
    command = estimate_command.make_command()
    run = functools.partial(command.run, body=estimate_command.body)
    assert run(["estimate", str(path), "--methods=steinke", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["estimates"].values()
    included, scores = zip(*rows, strict=True)
    expected = one_run_audit(scores, included, delta=1e-5, method="steinke")
    assert found["epsilon_lower"] == pytest.approx(expected.epsilon_lower)
    assert expected.epsilon_lower > 1
    assert estimate_command.make_command().run(["estimate", str(path)], estimate_command.body) == 0
    assert "100 canaries, 100 guesses, 94 of them right" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--threshold=1", "threshold must be left out for one training with many canaries, got 1.0"),
        (
            "--methods=every",
            "methods must be among optimal, optimal_gaussian, steinke, mahloujifar, got every",
        ),
        ("--guesses=9", "guesses must be between 1 and the number of canaries, got 9"),
    ],
)
def test_flags_that_do_not_fit_one_training_are_refused(tmp_path, capsys, flag, message):
    (tmp_path / "c.csv").write_text("included,score\n0,1\n1,2\n")
    found = estimate_command.make_command().run(
        ["estimate", str(tmp_path / "c.csv"), flag], estimate_command.body
    )
    assert found == 2
    assert message in capsys.readouterr().err


def test_an_array_that_calls_itself_an_archive_is_refused(tmp_path):
    np.save(tmp_path / "s.npy", np.arange(3))
    (tmp_path / "s.npy").rename(tmp_path / "s.npz")
    with pytest.raises(ValueError, match=r"must be a readable \.npz file"):
        read_scores(tmp_path / "s.npz")


def test_command_reports_and_refuses(tmp_path):
    path = tmp_path / "s.csv"
    rows = "".join(f"0,{i % 7}\n1,{i % 7 + 3}\n" for i in range(200))
    path.write_text("world,score\n" + rows)
    command = [sys.executable, "-m", "privacy_audit.estimate"]
    good = subprocess.run([*command, str(path), "--json"], capture_output=True, text=True, check=True)
    assert json.loads(good.stdout)["estimates"]["held-out"]["epsilon_lower"] > 0
    bad = subprocess.run([*command, str(tmp_path / "no.csv")], capture_output=True, text=True, check=False)
    assert bad.returncode == 2
    assert bad.stderr.startswith("privacy_audit.estimate: scores must be an existing file")
    assert bad.stderr.count("\n") == 1
