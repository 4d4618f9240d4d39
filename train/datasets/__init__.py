"""Data sets by name; a new one is one file and one line here."""

from collections.abc import Callable

from ..data import Dataset
from .complete_journey import complete_journey
from .mnist5k import mnist5k
from .purchase import purchase
from .tfds import cifar10, mnist

DATASETS: dict[str, Callable[[str | None], Dataset]] = {
    "mnist5k": mnist5k,
    "mnist": mnist,
    "cifar10": cifar10,
    "purchase": purchase,
    "complete_journey": complete_journey,
}
"""name -> data_dir (None: the source's own default) -> Dataset"""

VECTORS = frozenset({"purchase", "complete_journey"})
"""Data sets of vectors, which suit a dense network; the others hold images."""

__all__ = ["DATASETS", "VECTORS"]
