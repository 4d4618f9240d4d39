"""Data sets: real images, disjoint roles, a cache that is whole or absent."""

import pathlib

import numpy as np
import pytest

from privacy_audit.train import data
from privacy_audit.train.datasets import DATASETS

PREPARED = pathlib.Path(__file__).resolve().parents[3] / "shared" / "tfds"


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "privacy_audit"


def test_mnist5k_holds_500_images_of_each_digit(empty_cache):
    dataset = DATASETS["mnist5k"](None)
    assert dataset.input_shape == (28, 28, 1)
    assert np.bincount(dataset.train.labels).tolist() == [500] * 10
    assert 30 < dataset.train.inputs.mean() < 36  # MNIST's mean intensity is 33.3
    again = DATASETS["mnist5k"](None)
    assert isinstance(again.train.inputs, np.memmap)
    np.testing.assert_array_equal(again.train.inputs, dataset.train.inputs)


def test_roles_are_disjoint_and_decided_by_the_seed():
    inputs = np.arange(100)[:, None]
    everything = data.Dataset("numbers", data.Examples(inputs, inputs[:, 0]), None, 10)
    roles = data.split_roles(everything, 60, seed=5)
    dealt = np.concatenate([roles.members.labels, roles.shadow.labels, roles.fresh.labels])
    assert sorted(dealt) == list(range(100))
    assert (len(roles.members), len(roles.shadow), len(roles.fresh)) == (60, 20, 20)
    same, other = data.split_roles(everything, 60, seed=5), data.split_roles(everything, 60, seed=6)
    np.testing.assert_array_equal(same.members.labels, roles.members.labels)
    assert (other.members.labels != roles.members.labels).any()


def test_inputs_that_the_data_repeat_are_not_in_d_and_outside_it():
    rows = np.repeat(np.arange(50, dtype=np.uint8), 4)[:, None]
    examples = data.Examples(rows, np.zeros(200, int))
    roles = data.split_roles(data.Dataset("twice", examples, examples, 2), 60, seed=0)
    held = set(roles.members.inputs.ravel())
    assert len(roles.members) == 60
    assert not held & set(roles.shadow.inputs.ravel())
    assert not held & set(roles.fresh.inputs.ravel())


@pytest.mark.parametrize("wrong", [0, 99, 1000])
def test_an_impossible_size_of_d_is_one_line(wrong):
    inputs = np.arange(100)[:, None]
    everything = data.Dataset("numbers", data.Examples(inputs, inputs[:, 0]), None, 10)
    with pytest.raises(ValueError, match=f"num_examples must be between 1 and 98 .* got {wrong}$"):
        data.split_roles(everything, wrong, seed=0)


def test_a_decoding_that_fails_leaves_no_cache(empty_cache):
    def decode():
        raise RuntimeError("the source broke off")

    with pytest.raises(RuntimeError):
        data.cached("broken", decode)
    assert data.cached("broken", lambda: {"x": np.ones(2)})["x"].sum() == 2
    assert [path.name for path in empty_cache.iterdir()] == ["broken"]


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_a_data_set_that_is_not_prepared_names_the_command(name, empty_cache, tmp_path):
    pytest.importorskip("tensorflow_datasets", reason="optional extra: pip install 'privacy-audit[data]'")
    with pytest.raises(ValueError, match=f"tfds build {name} .*--data_dir={tmp_path}"):
        DATASETS[name](str(tmp_path))


@pytest.mark.skipif(not PREPARED.is_dir(), reason="needs prepared tensorflow-datasets beside the checkout")
@pytest.mark.parametrize(
    ("name", "sizes", "mean"), [("mnist", (60_000, 10_000), 33.3), ("cifar10", (50_000, 10_000), 120.7)]
)
def test_prepared_data_sets_are_read_without_tensorflow(name, sizes, mean):
    pytest.importorskip("tensorflow_datasets", reason="optional extra: pip install 'privacy-audit[data]'")
    dataset = DATASETS[name](str(PREPARED))
    assert (len(dataset.train), len(dataset.test)) == sizes
    assert abs(dataset.train.inputs.mean() - mean) < 1.0
    assert isinstance(dataset.train.inputs, np.memmap)
