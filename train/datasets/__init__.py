"""Data sets by name; a new one is one file and one line here."""

from collections.abc import Callable

from ..data import Dataset
from .mnist5k import mnist5k
from .tfds import cifar10, mnist

DATASETS: dict[str, Callable[[str | None], Dataset]] = {
    "mnist5k": mnist5k,
    "mnist": mnist,
    "cifar10": cifar10,
}
"""name -> data_dir (None: the source's own default) -> Dataset"""

__all__ = ["DATASETS"]
