"""Book-keeping for max-pooling, as maxima of shifted slices (faster than windows on CPUs)."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..functional import Params
from .rule import Backward
from .windows import Window


@dataclass(frozen=True)
class MaxPool:
    """Largest entry of each window of `[batch, height, width, channels]`, columns first, then rows.

    The gradient goes to the first of equal entries, row by row, as XLA's own does.
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
    return [
        jax.lax.slice_in_dim(values, i, i + reach, window.stride, axis) for i in range(window.size)
    ]


def _pool(values, window: Window, axis: int):
    first, *others = _taps(values, window, axis)
    for tap in others:
        first = jnp.maximum(first, tap)
    return first


def _unpool(values, gradient, window: Window, axis: int):
    """Undoes `_pool` tap by tap: the gradient stays with a tap that beats all before it."""
    taps = _taps(values, window, axis)
    best = [taps[0]]
    for tap in taps[1:]:
        best.append(jnp.maximum(best[-1], tap))
    spread = 0.0
    for i in reversed(range(1, window.size)):
        wins = taps[i] > best[i - 1]
        spread += _placed(jnp.where(wins, gradient, 0), window, i, axis, values.shape[axis])
        gradient = jnp.where(wins, 0, gradient)
    return spread + _placed(gradient, window, 0, axis, values.shape[axis])


def _placed(tap, window: Window, offset: int, axis: int, extent: int):
    """A tap's gradient back at its entries, zeros elsewhere."""
    zero = (0, 0, 0)
    reach = (window.out - 1) * window.stride + 1
    edges = [zero] * tap.ndim
    edges[axis] = (offset, extent - offset - reach, window.stride - 1)
    return jax.lax.pad(tap, jnp.zeros((), tap.dtype), edges)
