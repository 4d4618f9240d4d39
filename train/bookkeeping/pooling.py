"""Book-keeping for max-pooling, as maxima of shifted slices (faster than windows on CPUs)."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.lax import optimization_barrier as barrier
from jaxtyping import Array, Float

from ..functional import Params
from .rule import Backward
from .windows import Window


@dataclass(frozen=True)
class MaxPool:
    """Largest entry of each window of `[batch, height, width, channels]`, columns first, then rows.

    The gradient goes to the first of equal entries (in real numbers: almost never more than one).
    """

    rows: Window
    columns: Window
    has_weights = False

    def forward(self, params: Params, values: Float[Array, "b h w c"]):
        of_columns = _pool(values, self.columns, axis=2)
        return _pool(of_columns, self.rows, axis=1), (values, of_columns)

    def backward(self, params: Params, residual, gradient: Float[Array, "b h2 w2 c"], need_input: bool):
        values, of_columns = residual
        gradient = _unpool(of_columns, gradient, self.rows, axis=1)
        return Backward(_unpool(values, gradient, self.columns, axis=2))


def _taps(values, window: Window, axis: int):
    """The i-th entry of every window, for each i."""
    reach = (window.out - 1) * window.stride + 1
    return [jax.lax.slice_in_dim(values, i, i + reach, window.stride, axis) for i in range(window.size)]


def _pool(values, window: Window, axis: int):
    first, *others = _taps(values, window, axis)
    for tap in others:
        first = jnp.maximum(first, tap)
    return first


def _unpool(values, gradient, window: Window, axis: int):
    """Gives each window's gradient to the first of its largest entries.

    Everything is padded once, and then read in slices: faster than adding up padded pieces.
    """
    margin, extent = window.size - 1, values.shape[axis]
    last = (window.out - 1) * window.stride + 1
    values = barrier(_pad(values, margin, margin, 0, axis))
    gradient = barrier(_pad(gradient, margin, extent - last, window.stride - 1, axis))

    def entry(shift):
        return jax.lax.slice_in_dim(values, margin + shift, margin + shift + extent, axis=axis)

    total = 0.0
    for i in range(window.size):  # each entry as the i-th of the window that begins i before it
        own = jax.lax.slice_in_dim(gradient, margin - i, margin - i + extent, axis=axis)
        for j in range(window.size):
            if j != i:
                beaten = entry(0) > entry(j - i) if j < i else entry(0) >= entry(j - i)
                own = jnp.where(beaten, own, 0)
        total += own
    return total


def _pad(values, low: int, high: int, between: int, axis: int):
    edges = [(0, 0, 0)] * values.ndim
    edges[axis] = (low, high, between)
    return jax.lax.pad(values, jnp.zeros((), values.dtype), edges)
