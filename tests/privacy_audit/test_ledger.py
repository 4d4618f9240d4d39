"""The ledger: whole files only, replay of what is missing, refusal of what is another run's."""

import errno
import json

import numpy as np
import pytest
from etils import epath

from privacy_audit.ledger import Block, CorruptBlock, blocks, open_ledger
from privacy_audit.play import Schedule, play_all

RUN = {"identity": "abc", "config": {"seed": 1, "trials": 300}}


@pytest.fixture
def ledger(tmp_path):
    return open_ledger(tmp_path / "run", RUN)


def scores_of(who, trials):
    """A game without training: each score says who joined and which trial it was."""
    trials = np.asarray(trials, np.float32)
    mine = {
        f"{name}/s": trials + 1000 * who if who in (0, j + 1) else trials * np.nan
        for j, name in enumerate("ab")
    }
    return mine | {"training/nonfinite": np.int32(trials * 0), "training/overflowed": trials < 0}


def play_into(ledger, trials=300, play=scores_of):
    said = []
    return play_all(Schedule(play, 2, 32), trials, ledger, said.append), said


def test_blocks_cover_every_trial_of_both_worlds_once():
    for trials in (2, 255, 256, 257, 1000):
        for world in (0, 1):
            mine = [block for block in blocks(trials) if block.world == world]
            numbers = [i for block in mine for i in range(block.first, block.first + block.count)]
            assert numbers == list(range(trials))
    assert Block(1, 256, 44).filename == "w1-000000000256.npz"


def test_scores_come_back_in_the_order_of_the_trials(ledger):
    play_into(ledger)
    world_0, world_1 = ledger.read_all(300)
    np.testing.assert_array_equal(world_0["a/s"], np.arange(300))
    np.testing.assert_array_equal(world_1["a/s"], np.arange(300) + 1000)
    np.testing.assert_array_equal(world_1["b/s"], np.arange(300) + 2000)


@pytest.mark.parametrize("damage", ["missing", "truncated", "garbage", "empty", "short"])
def test_a_damaged_block_is_played_again_and_said_so(ledger, damage):
    play_into(ledger)
    before = ledger.read_all(300)
    victim = ledger.folder / "w1-000000000000.npz"
    content = victim.read_bytes()
    if damage == "missing":
        victim.unlink()
    elif damage == "short":
        whole = ledger.read(Block(1, 0, 256))
        with victim.open("wb") as file:
            np.savez(file, **{name: values[:3] for name, values in whole.items()})
    else:
        victim.write_bytes({"truncated": content[:700], "garbage": b"x" * 99, "empty": b""}[damage])
    calls = []
    held, said = play_into(ledger, play=lambda who, trials: calls.append(who) or scores_of(who, trials))
    assert set(calls) == {1, 2}  # world 0 was whole and is kept
    assert held == 2 * 300 - 256 + (3 if damage == "short" else 0)
    assert any(f"resumed {held} of 600" in line for line in said)
    assert damage in ("missing", "short") or any(
        "w1-000000000000.npz" in line and "played again" in line for line in said
    )
    for old, new in zip(before, ledger.read_all(300), strict=True):
        for name in old:
            np.testing.assert_array_equal(old[name], new[name])


def test_another_configuration_is_refused_with_what_differs(ledger):
    other = {"identity": "xyz", "config": {"seed": 2, "trials": 300}}
    with pytest.raises(
        ValueError, match=r"^out must hold this configuration or be new, .*seed 1 there, 2 here"
    ):
        open_ledger(ledger.folder, other)


def test_scores_without_a_description_are_refused(tmp_path):
    (tmp_path / "w0-000000000000.npz").write_bytes(b"")
    with pytest.raises(ValueError, match="scores without run.json"):
        open_ledger(tmp_path, RUN)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}"])
def test_a_damaged_description_is_one_line(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ValueError, match="readable run.json"):
        open_ledger(tmp_path, RUN)


def test_a_full_disk_leaves_no_half_file(ledger, monkeypatch):
    def full(file, **arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        play_into(ledger)
    assert sorted(path.name for path in ledger.folder.iterdir()) == ["run.json"]


def test_an_overflowed_batch_stops_the_run_and_keeps_nothing_of_it(ledger):
    def overflowing(who, trials):
        return scores_of(who, trials) | {"training/overflowed": np.asarray(trials) == 5}

    with pytest.raises(RuntimeError, match="1 trials drew a batch larger than its capacity"):
        play_into(ledger, play=overflowing)
    with pytest.raises(CorruptBlock, match="lacks trials"):
        ledger.read_all(300)


def test_the_description_is_strict_json_with_a_schema_version(ledger):
    stored = json.loads(epath.Path(ledger.folder / "run.json").read_text())
    assert stored["schema_version"] == 1
    assert stored["identity"] == "abc"
