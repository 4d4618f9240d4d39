"""Invented people, for tests and first steps: one hidden trait in two ties the attributes together."""

from __future__ import annotations

import numpy as np

from .people import PEOPLE
from .table import Table

TITLE = "invented people (numbers mean nothing)"
SIZE, _SEED = 4_000, 20_260_101


def toy(folder: str | None = None) -> Table:
    """The same 4,000 people every time; `folder` is not used."""
    rng = np.random.default_rng(_SEED)
    trait = rng.integers(2, size=SIZE)
    columns = []
    for attribute in PEOPLE:
        shares = rng.dirichlet(np.full(len(attribute.values), 2.0), size=2)
        limits = np.cumsum(shares, axis=1)[trait]
        columns.append((rng.random((SIZE, 1)) > limits[:, :-1]).sum(axis=1))
    return Table(TITLE, PEOPLE, np.stack(columns, axis=1))
