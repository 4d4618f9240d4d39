"""Layers that Objax lacks; faster engines recognise them by type."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import objax
from jaxtyping import Array, Float, Int, Num


@dataclass(frozen=True)
class ChannelsFirst:
    """Images `[batch, height, width, channels]` as Objax's convolutions want them."""

    def __call__(self, images: Num[Array, "b h w c"]) -> Num[Array, "b c h w"]:
        return images.transpose(0, 3, 1, 2)


@dataclass(frozen=True)
class MaxPool2D:
    """Largest value in each `size` × `size` window, windows `stride` apart, no padding."""

    size: int
    stride: int

    def __call__(self, images: Float[Array, "b c h w"]) -> Float[Array, "b c h2 w2"]:
        """As maxima of slices: XLA's own pools are several times slower on CPUs."""
        return self._along(self._along(images, 3), 2)

    def _along(self, images: Float[Array, "b c h w"], axis: int) -> Float[Array, "b c h2 w2"]:
        last = images.shape[axis] - self.size
        taps = [
            jax.lax.slice_in_dim(images, i, i + last // self.stride * self.stride + 1, self.stride, axis)
            for i in range(self.size)
        ]
        return functools.reduce(jnp.maximum, taps)


@dataclass(frozen=True)
class Flatten:
    """Everything but the batch axis in one row."""

    def __call__(self, values: Num[Array, "b ..."]) -> Num[Array, "b n"]:
        return values.reshape(values.shape[0], -1)


class Embedding(objax.Module):
    """A table of vectors: numbers `[batch, ...]` to `[batch, ..., size]`."""

    def __init__(self, entries: int, size: int, standard_deviation: float = 0.02):
        self.w = objax.TrainVar(objax.random.normal((entries, size), stddev=standard_deviation))

    def __call__(self, numbers: Int[Array, "b ..."]) -> Float[Array, "b ... n"]:
        return self.w.value[numbers]


class LayerNorm(objax.Module):
    """Mean 0 and variance 1 over the last axis, then a trained scale and shift (Ba et al., arXiv 1607.06450)."""

    def __init__(self, size: int, epsilon: float = 1e-5):
        self.epsilon = epsilon
        self.scale = objax.TrainVar(jnp.ones(size))
        self.shift = objax.TrainVar(jnp.zeros(size))

    def normalised(self, values: Float[Array, "b ... n"]) -> Float[Array, "b ... n"]:
        """The values before scale and shift."""
        return unit_mean_square(values - jnp.mean(values, -1, keepdims=True), self.epsilon)

    def __call__(self, values: Float[Array, "b ... n"]) -> Float[Array, "b ... n"]:
        return self.normalised(values) * self.scale.value + self.shift.value


class RMSNorm(objax.Module):
    """Mean square 1 over the last axis, then a trained scale (Zhang and Sennrich, arXiv 1910.07467)."""

    def __init__(self, size: int, epsilon: float = 1e-5):
        self.epsilon = epsilon
        self.scale = objax.TrainVar(jnp.ones(size))

    def normalised(self, values: Float[Array, "b ... n"]) -> Float[Array, "b ... n"]:
        """The values before the scale."""
        return unit_mean_square(values, self.epsilon)

    def __call__(self, values: Float[Array, "b ... n"]) -> Float[Array, "b ... n"]:
        return self.normalised(values) * self.scale.value


def unit_mean_square(values: Float[Array, "... n"], epsilon: float) -> Float[Array, "... n"]:
    """`values` divided by the root of their mean square over the last axis."""
    return values * jax.lax.rsqrt(jnp.mean(values**2, -1, keepdims=True) + epsilon)


class Residual(objax.Module):
    """x + inner(x)."""

    def __init__(self, inner: objax.Module):
        self.inner = inner

    def __call__(self, values: Float[Array, "b ..."]) -> Float[Array, "b ..."]:
        return values + self.inner(values)
