"""Book-keeping for convolutions: patches and one matrix product, never XLA's convolution.

Weights that differ between trials make XLA's convolutions grouped, and those are slow everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..functional import Params
from .products import product_contribution
from .rule import Backward
from .windows import Window

NARROW = 4
"""Up to so many channels, patches are cut as strided slices; wider pixels are gathered (measured)."""


@dataclass(frozen=True)
class Convolution:
    """`objax.nn.Conv2D` without groups and dilation, on `[batch, height, width, channels]`."""

    weight: str
    bias: str | None
    rows: Window
    columns: Window
    has_weights = True

    def forward(self, params: Params, values: Float[Array, "b h w c"]):
        kernel = params[self.weight]
        patches = _patches(values, self.rows, self.columns)
        outputs = patches @ kernel.reshape(-1, kernel.shape[-1])
        if self.bias is not None:
            outputs += params[self.bias].reshape(-1)
        shape = (len(values), self.rows.out, self.columns.out, kernel.shape[-1])
        return outputs.reshape(shape), (patches, jax.ShapeDtypeStruct(values.shape, values.dtype))

    def backward(self, params: Params, residual, gradient: Float[Array, "b h2 w2 n"], need_input: bool):
        patches, values = residual
        kernel = params[self.weight]
        by_position = gradient.reshape(len(gradient), -1, gradient.shape[-1])
        inputs = _transposed(kernel, by_position, self.rows, self.columns, values.shape) if need_input else None
        own = product_contribution(patches, by_position, self.weight, self.bias)

        def total(scale, factors):
            return {name: sum_.reshape(params[name].shape) for name, sum_ in own.total(scale, factors).items()}

        return Backward(inputs, (own._replace(total=total),))


def _patches(values, rows: Window, columns: Window) -> Float[Array, "b positions kernel"]:
    """What each output position sees, ordered (kernel row, kernel column, channel)."""
    batch, height, width, channels = values.shape
    edges = [(w.low, w.span - w.low - extent, 0) for w, extent in ((rows, height), (columns, width))]
    padded = jax.lax.pad(values, jnp.zeros((), values.dtype), [(0, 0, 0), *edges, (0, 0, 0)])
    if channels <= NARROW:
        seen = _sliced(padded, rows, columns)
    else:
        seen = _gathered(padded, rows, columns)
    return seen.reshape(batch, rows.out * columns.out, rows.size * columns.size * channels)


def _sliced(padded, rows: Window, columns: Window):
    reach = [(w.out - 1) * w.stride + 1 for w in (rows, columns)]
    slices = [
        padded[:, i : i + reach[0] : rows.stride, j : j + reach[1] : columns.stride]
        for i in range(rows.size)
        for j in range(columns.size)
    ]
    return jnp.stack(slices, 3)


def _gathered(padded, rows: Window, columns: Window):
    in_row, in_column = (
        np.arange(w.out)[:, None] * w.stride + np.arange(w.size)[None] for w in (rows, columns)
    )
    pixel = in_row[:, None, :, None] * columns.span + in_column[None, :, None, :]
    flat = padded.reshape(padded.shape[0], -1, padded.shape[-1])
    return jnp.take(flat, pixel.reshape(-1), axis=1, mode="clip")


def _transposed(kernel, gradient, rows: Window, columns: Window, shape) -> Float[Array, "b h w c"]:
    """The gradient with respect to the input: kernel rows and columns split into (shift, phase of the
    stride), so that what falls on one input pixel is a sum of few shifted blocks.
    """
    shifts = [-(-w.size // w.stride) for w in (rows, columns)]
    phases = [rows.stride, columns.stride]
    blocks = gradient @ _by_phase(kernel, shifts, phases).T
    blocks = blocks.reshape(shape[0], rows.out, columns.out, *shifts, -1)
    folded = sum(
        jnp.pad(blocks[:, :, :, i, j], ((0, 0), (i, shifts[0] - 1 - i), (j, shifts[1] - 1 - j), (0, 0)))
        for i in range(shifts[0])
        for j in range(shifts[1])
    )
    spread = folded.reshape(*folded.shape[:3], *phases, shape[3]).transpose(0, 1, 3, 2, 4, 5)
    padded = spread.reshape(shape[0], folded.shape[1] * phases[0], folded.shape[2] * phases[1], shape[3])
    edges = [
        (-w.low, extent + w.low - have, 0)
        for w, extent, have in zip((rows, columns), shape[1:3], padded.shape[1:3], strict=True)
    ]
    return jax.lax.pad(padded, jnp.zeros((), padded.dtype), [(0, 0, 0), *edges, (0, 0, 0)])


def _by_phase(kernel: Float[Array, "kh kw c n"], shifts, phases) -> Float[Array, "shifts_phases_c n"]:
    sizes = [count * stride for count, stride in zip(shifts, phases, strict=True)]
    whole = jnp.pad(kernel, ((0, sizes[0] - kernel.shape[0]), (0, sizes[1] - kernel.shape[1]), (0, 0), (0, 0)))
    split = whole.reshape(shifts[0], phases[0], shifts[1], phases[1], *kernel.shape[2:])
    return split.transpose(0, 2, 1, 3, 4, 5).reshape(-1, kernel.shape[-1])
