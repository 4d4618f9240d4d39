"""The four-layer CNN of the DP-SGD MNIST tutorial (Paper L says "4-layer CNN"; the layers are our choice)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import objax
from jaxtyping import Array, Float
from objax.constants import ConvPadding

from ..functional import Model, from_objax
from ..layers import ChannelsFirst, Flatten, MaxPool2D


def cnn(
    input_shape: tuple[int, ...],
    num_classes: int,
    activation: Callable = objax.functional.relu,
    before: Sequence[Callable] = (),
) -> Model:
    """Conv 16 8×8/2 same, pool 2/1, conv 32 4×4/2 valid, pool 2/1, dense 32, dense `num_classes`.

    Args:
        input_shape: (height, width, channels) of one image, for example (28, 28, 1) or (32, 32, 3).
        activation: after each layer but the last.
        before: layers without weights that prepare the images.

    Raises:
        ValueError: `input_shape` is not that of an image of at least 12 × 12 pixels.

    >>> params = cnn((28, 28, 1), 10).init(jax.random.key(0))
    >>> sum(leaf.size for leaf in jax.tree.leaves(params))
    26010
    """
    if len(input_shape) != 3 or min(input_shape[:2]) < 12:
        raise ValueError(
            f"input_shape must be (height, width, channels), 12 pixels or more, got {input_shape}"
        )

    def features() -> objax.nn.Sequential:
        return objax.nn.Sequential(
            [
                *before,
                ChannelsFirst(),
                objax.nn.Conv2D(input_shape[-1], 16, 8, strides=2, padding=ConvPadding.SAME),
                activation,
                MaxPool2D(2, 1),
                objax.nn.Conv2D(16, 32, 4, strides=2, padding=ConvPadding.VALID),
                activation,
                MaxPool2D(2, 1),
                Flatten(),
            ]
        )

    flat = math.prod(jax.eval_shape(features(), jnp.zeros((1, *input_shape))).shape)

    def build() -> objax.Module:
        dense = [objax.nn.Linear(flat, 32), activation, objax.nn.Linear(32, num_classes)]
        return objax.nn.Sequential([*features(), *dense])

    return from_objax(build)


def cnn_tanh(input_shape: tuple[int, ...], num_classes: int) -> Model:
    """`cnn` with tanh, which clipping and noise hurt less (Papernot et al. 2021, arXiv 2007.14191)."""
    return cnn(input_shape, num_classes, objax.functional.tanh)


def cnn_tanh_centred(input_shape: tuple[int, ...], num_classes: int) -> Model:
    """`cnn_tanh` on images brought from [0, 1] to [-1, 1]: photographs, unlike digits, are nowhere near zero."""
    return cnn(input_shape, num_classes, objax.functional.tanh, before=(_centred,))


def _centred(images: Float[Array, "b h w c"]) -> Float[Array, "b h w c"]:
    return 2 * images - 1
