"""A trade-off curve given by its corners."""

import dataclasses

import numpy as np

from .base import PrivacyProfile, check_adjacency, check_probabilities


@dataclasses.dataclass(frozen=True)
class TradeOffCurve(PrivacyProfile):
    """The convex, piecewise-linear curve with corners (fpr, fnr), and (0, 1), (1, 0) joined to them.

    The corners are the guarantee itself: samples of a *smooth* curve join to something above it, hence unsafe. The
    curve is made symmetric (neighbours may swap), then convex from below, both of which only lower it.

    >>> round(float(TradeOffCurve([0.1], [0.2], adjacency="replace_one").delta(0.0)), 12)
    0.7
    """

    fpr: tuple[float, ...]
    fnr: tuple[float, ...]
    adjacency: str = dataclasses.field(kw_only=True)

    def __post_init__(self):
        check_adjacency(self.adjacency)
        fpr, fnr = (np.atleast_1d(check_probabilities(n, getattr(self, n))) for n in ("fpr", "fnr"))
        if fpr.ndim != 1 or fpr.shape != fnr.shape:
            raise ValueError(
                f"fpr and fnr must be vectors of one length, got shapes {fpr.shape} and {fnr.shape}"
            )
        if fpr.size == 0:
            raise ValueError("fpr and fnr must hold at least one corner, got none")
        # Tuples make the object hashable.
        object.__setattr__(self, "fpr", tuple(map(float, fpr)))
        object.__setattr__(self, "fnr", tuple(map(float, fnr)))

    def _corners(self) -> tuple[np.ndarray, np.ndarray]:
        x = np.concatenate([self.fpr, self.fnr, [0.0, 1.0]])
        y = np.concatenate([self.fnr, self.fpr, [1.0, 0.0]])
        return lower_hull(x, y)

    def _log_delta(self, epsilon):
        x, y = self._corners()
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            cost = np.where(x == 0, 0.0, np.exp(epsilon)[..., None] * x)
            return np.log(np.maximum(np.max(1.0 - y - cost, axis=-1), 0.0))

    def _log_delta_at_infinity(self):
        x, y = self._corners()
        with np.errstate(divide="ignore"):
            return np.log1p(-np.min(y[x == 0]))

    def _trade_off(self, rate):
        return np.interp(rate, *self._corners())


def lower_hull(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the largest convex function below the points, left to right (Andrew's monotone chain)."""
    hull: list[tuple[float, float]] = []
    lowest = {}
    for px, py in zip(x, y, strict=True):
        lowest[px] = min(py, lowest.get(px, np.inf))
    for px, py in sorted(lowest.items()):
        while len(hull) >= 2 and not _turns_left(hull[-2], hull[-1], (px, py)):
            hull.pop()
        hull.append((px, py))
    corners = np.array(hull)
    return corners[:, 0], corners[:, 1]


def _turns_left(a, b, c) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])
