"""Binary shopping records brought to Paper L's shape: 10 classes by k-means, no row twice, rows held out."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int, UInt8

from ..data import Dataset, Examples

NUM_CLASSES = 10
NUM_TEST = 1_000
SEED = 0


def clustered(records: UInt8[np.ndarray, "N d"], groups: Int[np.ndarray, "N"]) -> dict[str, np.ndarray]:
    """Drops repeated rows, labels the rest and holds whole groups out; the arrays that the cache keeps.

    How the paper came to 10 classes is not stated; k-means is our choice. A row that stands twice would lie in D
    and outside it.

    Args:
        records: zeros and ones.
        groups: rows of one group (a household) are never on both sides of the split.
    """
    _, first = np.unique(np.packbits(records, axis=1), axis=0, return_index=True)
    records, groups = records[np.sort(first)], groups[np.sort(first)]
    labels, held_out = kmeans_labels(records), hold_out(groups)
    records = records.astype(bool)  # whole bytes would be read as intensities up to 255
    return {
        "train_inputs": records[~held_out],
        "train_labels": labels[~held_out],
        "test_inputs": records[held_out],
        "test_labels": labels[held_out],
    }


def kmeans_labels(records: UInt8[np.ndarray, "N d"]) -> Int[np.ndarray, "N"]:
    """The nearest of 10 centres, by scikit-learn's k-means with a fixed seed."""
    from sklearn.cluster import KMeans  # slow to import, and only this data needs it

    classes = min(NUM_CLASSES, len(records))
    return (
        KMeans(classes, n_init=1, random_state=SEED).fit_predict(records.astype(np.float32)).astype(np.int32)
    )


def hold_out(groups: Int[np.ndarray, "N"]) -> Bool[np.ndarray, "N"]:
    """Whole groups, drawn by a fixed seed, until 1,000 rows (at most a tenth of all) are held out.

    >>> int(hold_out(np.arange(30)).sum())
    3
    """
    names, sizes = np.unique(groups, return_counts=True)
    drawn = np.random.default_rng(SEED).permutation(len(names))
    wanted = min(NUM_TEST, len(groups) // 10)
    enough = int(np.searchsorted(np.cumsum(sizes[drawn]), wanted)) + 1
    return np.isin(groups, names[drawn[:enough]])


def shopping_dataset(name: str, arrays: dict[str, np.ndarray]) -> Dataset:
    """The data set whose arrays the cache gave back; inputs are booleans."""
    train, test = (
        Examples(arrays[f"{split}_inputs"], arrays[f"{split}_labels"]) for split in ("train", "test")
    )
    return Dataset(name, train, test, NUM_CLASSES)
