"""Book-keeping for convolutions: patches and one matrix product, never XLA's convolution.

Weights that differ between trials make XLA's convolutions grouped, and those are slow everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.lax import optimization_barrier as barrier
from jaxtyping import Array, Float

from ..functional import Params
from .products import product_contribution
from .rule import Backward
from .windows import Window

NARROW = 4
"""Up to so many channels, patches are put together in two stages (measured on CPUs)."""


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
        inputs = (
            _transposed(kernel, by_position, self.rows, self.columns, values.shape) if need_input else None
        )
        own = product_contribution(patches, by_position, self.weight, self.bias)

        def total(scale, factors):
            return {
                name: sum_.reshape(params[name].shape) for name, sum_ in own.total(scale, factors).items()
            }

        return Backward(inputs, (own._replace(total=total),))


def _patches(values, rows: Window, columns: Window) -> Float[Array, "b positions kernel"]:
    """What each output position sees, ordered (kernel row, kernel column, channel).

    Copied in runs of `stride` pixels. Narrow pixels make short runs: their kernel rows are put together first.
    """
    batch, _, _, channels = values.shape
    whole = -(-columns.span // columns.stride) * columns.stride
    padded = barrier(_placed(values, (-rows.low, -columns.low), (rows.span, whole)))
    strides = padded.reshape(batch, rows.span, -1, columns.stride * channels)
    if channels > NARROW:
        seen = jnp.concatenate(
            [run for i in range(rows.size) for run in _runs(_every(strides, i, rows), columns, channels)], 3
        )
    else:
        in_rows = barrier(jnp.concatenate(_runs(strides, columns, channels), 3))
        seen = jnp.concatenate([_every(in_rows, i, rows) for i in range(rows.size)], 3)
    return seen.reshape(batch, rows.out * columns.out, rows.size * columns.size * channels)


def _every(padded, first: int, rows: Window):
    """The row `first` of every window."""
    return jax.lax.slice_in_dim(padded, first, first + (rows.out - 1) * rows.stride + 1, rows.stride, 1)


def _runs(strides, columns: Window, channels: int):
    """The window's pixels in pieces of `stride`, the last one perhaps shorter."""
    return [
        strides[:, :, first // columns.stride :][:, :, : columns.out, : (columns.size - first) * channels]
        for first in range(0, columns.size, columns.stride)
    ]


def _placed(values, begin: tuple[int, int], extent: tuple[int, int]):
    """The part of an image from `begin` on, `extent` large, with zeros where there is no image."""
    edges = [
        (-low, low + wanted - have, 0)
        for low, wanted, have in zip(begin, extent, values.shape[1:3], strict=True)
    ]
    return jax.lax.pad(values, jnp.zeros((), values.dtype), [(0, 0, 0), *edges, (0, 0, 0)])


def _transposed(kernel, gradient, rows: Window, columns: Window, shape) -> Float[Array, "b h w c"]:
    """The gradient with respect to the input: kernel rows and columns split into (shift, phase of the
    stride), so that what falls on one input pixel is a sum of few shifted blocks.
    """
    shifts = [-(-w.size // w.stride) for w in (rows, columns)]
    phases = [rows.stride, columns.stride]
    blocks = barrier(gradient @ _by_phase(kernel, shifts, phases).T)
    blocks = blocks.reshape(shape[0], rows.out, columns.out, *shifts, -1)
    folded = _fold(_fold(blocks, shifts[0], 1), shifts[1], 2)
    spread = folded.reshape(*folded.shape[:3], *phases, shape[3]).transpose(0, 1, 3, 2, 4, 5)
    whole = spread.reshape(shape[0], folded.shape[1] * phases[0], folded.shape[2] * phases[1], shape[3])
    return barrier(_placed(whole, (rows.low, columns.low), shape[1:3]))


def _fold(blocks, shifts: int, axis: int):
    """Adds up blocks `[..., axis, another, shift, ...]`, each moved along `axis` by its shift."""
    moved = []
    for i in range(shifts):
        edges = [(0, 0)] * (blocks.ndim - 1)
        edges[axis] = (i, shifts - 1 - i)
        moved.append(jnp.pad(jax.lax.index_in_dim(blocks, i, 3, keepdims=False), edges))
    return barrier(sum(moved))


def _by_phase(kernel: Float[Array, "kh kw c n"], shifts, phases) -> Float[Array, "shifts_phases_c n"]:
    sizes = [count * stride for count, stride in zip(shifts, phases, strict=True)]
    whole = jnp.pad(
        kernel, ((0, sizes[0] - kernel.shape[0]), (0, sizes[1] - kernel.shape[1]), (0, 0), (0, 0))
    )
    split = whole.reshape(shifts[0], phases[0], shifts[1], phases[1], *kernel.shape[2:])
    return split.transpose(0, 2, 1, 3, 4, 5).reshape(-1, kernel.shape[-1])
