"""Gaussian noise over all parameters of a model in one draw."""

import jax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Key

from .functional import Params


def gaussian_like(key: Key[Array, ""], tree: Params, standard_deviation: float) -> Params:
    """Independent N(0, standard_deviation²) for every coordinate of `tree`."""
    flat, unravel = ravel_pytree(tree)
    return unravel(standard_deviation * jax.random.normal(key, flat.shape, flat.dtype))
