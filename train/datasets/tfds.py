"""MNIST and CIFAR-10 through tensorflow-datasets' `data_source`: no TensorFlow once prepared."""

from __future__ import annotations

import hashlib
import pathlib

import numpy as np

from ..data import Dataset, Examples, cached


def mnist(data_dir: str | None = None) -> Dataset:
    """60,000 + 10,000 images, 28 × 28 × 1."""
    return _images("mnist", data_dir)


def cifar10(data_dir: str | None = None) -> Dataset:
    """50,000 + 10,000 images, 32 × 32 × 3."""
    return _images("cifar10", data_dir)


def _images(name: str, data_dir: str | None) -> Dataset:
    source = f"{name}-{fingerprint(data_dir)}"
    arrays = cached(source, lambda: _decode(name, data_dir))
    train, test = (
        Examples(arrays[f"{split}_inputs"], arrays[f"{split}_labels"]) for split in ("train", "test")
    )
    return Dataset(name, train, test, num_classes=10)


def fingerprint(data_dir: str | None) -> str:
    """Two folders may hold different copies under one name, so each gets its own cache."""
    where = "default" if data_dir is None else str(pathlib.Path(data_dir).expanduser().resolve())
    return hashlib.sha256(where.encode()).hexdigest()[:12]


def _decode(name: str, data_dir: str | None) -> dict[str, np.ndarray]:
    arrays = {}
    for split, source in _open(name, data_dir).items():
        rows = [(row["image"], row["label"]) for row in source]
        arrays[f"{split}_inputs"] = np.stack([image for image, _ in rows])
        arrays[f"{split}_labels"] = np.array([label for _, label in rows], np.int32)
    return arrays


def _open(name: str, data_dir: str | None):
    where = "" if data_dir is None else f" --data_dir={data_dir}"
    command = (
        f"pip install tensorflow tensorflow-datasets && tfds build {name} --file_format=array_record{where}"
    )
    try:
        import tensorflow_datasets as tfds
    except ImportError:
        raise ValueError(
            f"dataset {name} needs tensorflow-datasets (`pip install 'privacy-audit[data]'`), got none"
        ) from None
    try:
        splits = tfds.data_source(name, split=None, data_dir=data_dir, download=False)
        return {split: splits[split] for split in ("train", "test")}
    except (
        Exception
    ) as error:  # tfds raises many kinds for a data set that is not prepared, or knows no splits
        raise ValueError(
            f"dataset {name} must be prepared first (`{command}`), "
            f"got nothing in {data_dir or '~/tensorflow_datasets'} ({type(error).__name__})"
        ) from None
