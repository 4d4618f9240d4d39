"""The three-layer network for shopping records (Paper L, app. A; the widths are our choice)."""

from __future__ import annotations

import math

import objax

from ..functional import Model, from_objax
from ..layers import Flatten

WIDTH = 128


def fully_connected(input_shape: tuple[int, ...], num_classes: int) -> Model:
    """Dense 128, dense 128, dense `num_classes`, with ReLU between them; inputs are flattened.

    >>> import jax
    >>> params = fully_connected((600,), 10).init(jax.random.key(0))
    >>> sum(leaf.size for leaf in params.values())
    94730
    """
    num_inputs = math.prod(input_shape)
    relu = objax.functional.relu

    def build() -> objax.Module:
        return objax.nn.Sequential(
            [
                Flatten(),
                objax.nn.Linear(num_inputs, WIDTH),
                relu,
                objax.nn.Linear(WIDTH, WIDTH),
                relu,
                objax.nn.Linear(WIDTH, num_classes),
            ]
        )

    return from_objax(build)
