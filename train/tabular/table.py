"""A table of categorical records as whole numbers, with the names of what they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int


@dataclass(frozen=True)
class Attribute:
    """A column: its name and the values that it may have."""

    name: str
    values: tuple[str, ...]

    def encode(self, column: Sequence[str]) -> Int[np.ndarray, "N"]:
        """Places of the entries among `values`.

        Raises:
            ValueError: an entry is none of them.

        >>> Attribute("SEX", ("female", "male")).encode(["male", "female"])
        array([1, 0])
        """
        places = {value: place for place, value in enumerate(self.values)}
        for row, entry in enumerate(column):
            if entry not in places:
                known = ", ".join(self.values)
                raise ValueError(f"{self.name} must be one of {known}, got {entry!r} in record {row}")
        return np.array([places[entry] for entry in column], np.int64)


@dataclass(frozen=True)
class Table:
    """N records of K attributes.

    Attributes:
        title: what the data are, as shown wherever a number is made with them.
        codes: `codes[i, a]` is the place of record i's entry among the values of attribute a.
    """

    title: str
    attributes: tuple[Attribute, ...]
    codes: Int[np.ndarray, "N K"]

    def __post_init__(self):
        shape = np.shape(self.codes)
        if len(shape) != 2 or shape[1] != len(self.attributes):
            raise ValueError(f"codes must be [N, {len(self.attributes)}], got {list(shape)}")
        for attribute, column in zip(self.attributes, self.codes.T, strict=True):
            wrong = (column < 0) | (column >= len(attribute.values))
            if wrong.any():
                raise ValueError(
                    f"{attribute.name} must be in 0 … {len(attribute.values) - 1}, got {column[wrong][0]}"
                )

    @classmethod
    def of(cls, title: str, attributes: Sequence[Attribute], columns: Mapping[str, Sequence[str]]) -> Table:
        """From columns of words, one of every attribute's name.

        Raises:
            ValueError: a column is missing, or holds a value that its attribute does not have.
        """
        for attribute in attributes:
            if attribute.name not in columns:
                raise ValueError(f"columns must include {attribute.name}, got {', '.join(columns)}")
        encoded = [attribute.encode(columns[attribute.name]) for attribute in attributes]
        return cls(title, tuple(attributes), np.stack(encoded, axis=1))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of every attribute."""
        return tuple(len(attribute.values) for attribute in self.attributes)

    def take(self, rows) -> Table:
        """These records, in this order."""
        return Table(self.title, self.attributes, self.codes[rows])

    def places(self, names: Sequence[str]) -> tuple[int, ...]:
        """Columns of the attributes with these names.

        Raises:
            ValueError: there is none of that name.
        """
        known = [attribute.name for attribute in self.attributes]
        for name in names:
            if name not in known:
                raise ValueError(f"attribute must be one of {', '.join(known)}, got {name}")
        return tuple(known.index(name) for name in names)
