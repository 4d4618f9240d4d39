"""k-way marginals of a table, released with Gaussian noise.

A marginal counts the records in each cell of k attributes. A record lies in one cell of each of the W marginals, so
replacing it by another lowers one count by 1 and raises one by 1 in every marginal in which the two differ:

    L2 sensitivity of all marginals together: √(2·W) under replace-one,  √W under add/remove.

√(2·W) is reached by two records that differ in enough attributes. Where all but some attributes of the record are
fixed, only the marginals that contain one of these can change, and W is their number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ...bounds.profiles import GaussianDP

REPLACE_ONE = "replace_one"


@dataclass(frozen=True)
class Marginals:
    """Which marginals are counted; cells of all of them lie in one vector, marginal after marginal.

    Attributes:
        sizes: number of values of each attribute.
        sets: the attributes of every marginal.
    """

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]

    def __post_init__(self):
        if not self.sets:
            raise ValueError("sets must be one or more marginals, got none")
        for chosen in self.sets:
            inside = all(0 <= place < len(self.sizes) for place in chosen)
            if not inside or len(set(chosen)) != len(chosen) or not chosen:
                raise ValueError(
                    f"sets must be different attributes in 0 … {len(self.sizes) - 1}, got {chosen}"
                )

    @classmethod
    def all_ways(cls, sizes: Sequence[int], ways: int) -> Marginals:
        """Every marginal of `ways` attributes.

        Raises:
            ValueError: the marginal is wider than the table.

        >>> Marginals.all_ways((2, 3, 3, 4), 3).sets
        ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
        """
        if not 1 <= ways <= len(sizes):
            raise ValueError(f"ways must be in 1 … {len(sizes)} (the table's attributes), got {ways}")
        return cls(tuple(sizes), tuple(itertools.combinations(range(len(sizes)), ways)))

    @property
    def cells(self) -> int:
        """Number of counts in all."""
        return sum(self._lengths)

    @property
    def _lengths(self) -> list[int]:
        return [math.prod(self.sizes[place] for place in chosen) for chosen in self.sets]

    def cells_of(self, codes: Int[np.ndarray, "*n K"]) -> Int[np.ndarray, "*n W"]:
        """The cell of every record in every marginal, as places in the vector of counts."""
        starts = np.cumsum([0, *self._lengths[:-1]])
        places = [
            np.ravel_multi_index(
                tuple(np.moveaxis(codes[..., list(chosen)], -1, 0)), [self.sizes[place] for place in chosen]
            )
            for chosen in self.sets
        ]
        return np.stack(places, axis=-1) + starts

    def counts(self, codes: Int[np.ndarray, "n K"]) -> Float[np.ndarray, "cells"]:
        """The marginals themselves."""
        return np.bincount(self.cells_of(codes).ravel(), minlength=self.cells).astype(np.float64)

    def values_of_cells(self) -> Int[np.ndarray, "cells ways"]:
        """For every cell the attributes' values, as places in the one-hot vectors of all attributes side by side.

        Raises:
            ValueError: the marginals are not all of one width.
        """
        if len({len(chosen) for chosen in self.sets}) > 1:
            raise ValueError(
                f"sets must be of one width, got {sorted({len(chosen) for chosen in self.sets})}"
            )
        first = np.cumsum([0, *self.sizes[:-1]])
        blocks = []
        for chosen in self.sets:
            grid = np.indices([self.sizes[place] for place in chosen]).reshape(len(chosen), -1).T
            blocks.append(grid + first[list(chosen)])
        return np.concatenate(blocks)

    def touching(self, attributes: Sequence[int]) -> int:
        """Number of marginals that contain any of these attributes."""
        return sum(bool(set(chosen) & set(attributes)) for chosen in self.sets)

    def l2_sensitivity(self, varied: Sequence[int] | None = None) -> float:
        """Of the whole vector, when a record is replaced by one that differs in `varied` (None: anywhere) only.

        >>> round(Marginals.all_ways((2, 3, 3, 4), 3).l2_sensitivity() ** 2)
        8
        """
        count = len(self.sets) if varied is None else self.touching(varied)
        return math.sqrt(2 * count)


@dataclass(frozen=True)
class NoisyMarginals:
    """The mechanism: every count of `marginals` plus noise N(0, `noise`²), the same table's noise drawn once.

    Attributes:
        noise: standard deviation on each count; 0 releases the counts themselves.
    """

    marginals: Marginals
    noise: float

    def __post_init__(self):
        if not 0 <= self.noise < math.inf:
            raise ValueError(f"noise must be >= 0 and finite, got {self.noise}")

    @classmethod
    def calibrated(cls, marginals: Marginals, epsilon: float, delta: float) -> NoisyMarginals:
        """The least noise at which the release is (ε, δ)-DP under replace-one, to 1e-9 above it; none at ε = ∞.

        Raises:
            ValueError: ε is not > 0, or δ not in (0, 1).
        """
        if not epsilon > 0:
            raise ValueError(f"epsilon must be > 0, got {epsilon}")
        if not 0 < delta < 1:
            raise ValueError(f"delta must be in (0, 1), got {delta}")
        if math.isinf(epsilon):
            return cls(marginals, 0.0)
        low, high = 0.0, 1.0
        while _delta(high, epsilon) <= delta:
            low, high = high, 2 * high
        while high - low > 1e-9 * low or low == 0:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if _delta(middle, epsilon) <= delta else (low, middle)
        return cls(marginals, marginals.l2_sensitivity() / low)

    def profile(self, varied: Sequence[int] | None = None) -> GaussianDP:
        """Gaussian DP of the release, exact for the most different records.

        Args:
            varied: attributes in which neighbours may differ; None: all, the usual replace-one.
        """
        if self.noise == 0:
            return GaussianDP(math.inf, adjacency=REPLACE_ONE)
        return GaussianDP(self.marginals.l2_sensitivity(varied) / self.noise, adjacency=REPLACE_ONE)

    def release(self, rng: np.random.Generator, codes: Int[np.ndarray, "n K"]) -> Float[np.ndarray, "cells"]:
        """The noisy counts of one table."""
        return self.marginals.counts(codes) + self.noise * rng.standard_normal(self.marginals.cells)


def _delta(mu: float, epsilon: float) -> float:
    return float(GaussianDP(mu, adjacency=REPLACE_ONE).delta(epsilon))
