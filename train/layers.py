"""Layers without weights that Objax lacks as objects; faster engines recognise them by type."""

from __future__ import annotations

from dataclasses import dataclass

import objax
from jaxtyping import Array, Float, Num
from objax.constants import ConvPadding


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
        return objax.functional.max_pool_2d(images, self.size, self.stride, ConvPadding.VALID)


@dataclass(frozen=True)
class Flatten:
    """Everything but the batch axis in one row."""

    def __call__(self, values: Num[Array, "b ..."]) -> Num[Array, "b n"]:
        return values.reshape(values.shape[0], -1)
