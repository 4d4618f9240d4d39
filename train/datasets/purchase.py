"""Purchase: the shopping records on which Paper L trains its fully connected network."""

from __future__ import annotations

import pathlib

import numpy as np

from ..data import Dataset, cached
from .clustered import clustered, shopping_dataset
from .tfds import fingerprint

DEFAULT_FOLDER = "~/tensorflow_datasets"


def purchase(data_dir: str | None = None) -> Dataset:
    """600 binary columns, 10 classes by k-means, 1,000 rows held out; D is dealt from the others.

    Args:
        data_dir: where `dataset_purchase.tgz` lies (there or in `downloads/manual`) and its prepared form is kept.

    Raises:
        ValueError: the file or tensorflow-datasets is missing; the message says what to run.
    """
    arrays = cached(f"purchase-{fingerprint(data_dir)}", lambda: _decode(data_dir))
    return shopping_dataset("purchase", arrays)


def _decode(data_dir: str | None) -> dict[str, np.ndarray]:
    rows = _open(pathlib.Path(data_dir or DEFAULT_FOLDER).expanduser())
    records = np.stack([row["items"] for row in rows])
    return clustered(records, np.arange(len(records)))


def _open(folder: pathlib.Path):
    """The prepared rows, prepared now where that has not been done."""
    try:
        from .purchase_builder import SOURCE, Purchase, has_source
    except ImportError:
        raise ValueError(
            "dataset purchase needs tensorflow-datasets (`pip install 'privacy-audit[data]'`), got none"
        ) from None
    builder = Purchase(data_dir=str(folder), file_format="array_record")
    if not builder.is_prepared():
        import tensorflow_datasets as tfds

        places = [place for place in (folder, folder / "downloads" / "manual") if has_source(place)]
        if not places:
            raise ValueError(
                f"dataset purchase must be downloaded by hand from {SOURCE} "
                f"(`mkdir -p {folder} && mv dataset_purchase.tgz {folder}/`), got nothing in {folder}; "
                "its stand-in is complete_journey"
            )
        builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=str(places[0])))
    return builder.as_data_source("train")
