"""The tensorflow-datasets builder of Purchase; imported only when that data set is asked for.

It is registered with tensorflow-datasets on import, so `tfds.builder("purchase")` works from then on.
"""

from __future__ import annotations

import io
import pathlib
import tarfile
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import tensorflow_datasets as tfds

ARCHIVE = "dataset_purchase.tgz"
TABLE = "dataset_purchase"
SOURCE = f"https://github.com/privacytrustlab/datasets (file {ARCHIVE})"
NUM_ITEMS, NUM_SHOPPER_KINDS = 600, 100


class Purchase(tfds.core.GeneratorBasedBuilder):
    """Shopping histories prepared by Shokri et al. 2017: 600 binary columns and one of 100 kinds of shopper."""

    VERSION = tfds.core.Version("1.0.0")
    RELEASE_NOTES: ClassVar = {"1.0.0": "As published."}
    MANUAL_DOWNLOAD_INSTRUCTIONS = f"Put {ARCHIVE} from {SOURCE} into the manual folder."

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description="Whether a customer bought each of 600 products; 197,324 customers.",
            features=tfds.features.FeaturesDict(
                {
                    "items": tfds.features.Tensor(shape=(NUM_ITEMS,), dtype=np.uint8),
                    "shopper": tfds.features.ClassLabel(num_classes=NUM_SHOPPER_KINDS),
                }
            ),
            supervised_keys=("items", "shopper"),
            homepage=SOURCE.split()[0],
            citation="Shokri, Stronati, Song and Shmatikov 2017, arXiv 1610.05820",
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(pathlib.Path(dl_manager.manual_dir))}

    def _generate_examples(self, folder: pathlib.Path):
        for number, (items, shopper) in enumerate(rows_of(folder)):
            yield number, {"items": items, "shopper": shopper}


def has_source(folder: pathlib.Path) -> bool:
    """Whether a folder holds the archive or the table that was in it."""
    return any((folder / name).is_file() for name in (ARCHIVE, TABLE))


def rows_of(folder: pathlib.Path) -> Iterator[tuple[np.ndarray, int]]:
    """Each row of the published table: 600 uint8 of 0 and 1, and the kind of shopper from 0.

    Raises:
        ValueError: a row is not what was published.
    """
    if (folder / TABLE).is_file():
        with (folder / TABLE).open() as lines:
            yield from map(_row, lines)
        return
    with tarfile.open(folder / ARCHIVE) as archive:
        member = next(name for name in archive.getmembers() if pathlib.PurePath(name.name).name == TABLE)
        yield from map(_row, io.TextIOWrapper(archive.extractfile(member)))


def _row(line: str) -> tuple[np.ndarray, int]:
    values = np.array(line.split(","), np.int64)
    shopper, items = values[0], values[1:]
    if items.shape != (NUM_ITEMS,) or not np.isin(items, (0, 1)).all() or not 1 <= shopper <= 100:
        raise ValueError(
            f"{TABLE} must hold a class 1 to 100 and {NUM_ITEMS} zeros and ones a row, got {line[:40]}"
        )
    return items.astype(np.uint8), int(shopper) - 1
