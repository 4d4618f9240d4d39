"""Does a network mix the examples of a batch? Then per-example gradients, and with them DP-SGD, would not exist."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import objax
from jaxtyping import Array, Num

from .bookkeeping.reader import layers_of
from .functional import Model, Params, holding


def check_unmixed(model: Model, params: Params, inputs: Num[Array, "batch ..."]) -> None:
    """Refuses a model whose output for the first example moves when the others in the batch do.

    Args:
        inputs: real-valued examples, three or more.

    Raises:
        ValueError: naming the first layer that mixes, where the model is an Objax Sequential.
    """
    if _mixes(lambda batch: model.apply(params, batch), inputs[:3]):
        raise ValueError(
            "model must not mix the examples of a batch (per-example gradients would not exist), "
            f"got {_first_mixing(model, params, inputs[:3])}"
        )


def _mixes(function: Callable[[Array], Array], batch: Array) -> bool:
    """Whether row 0 of the output has a derivative with respect to the other rows, in a direction drawn at random."""
    moved = jax.random.normal(jax.random.key(0), batch.shape, batch.dtype).at[0].set(0.0)
    _, change = jax.jvp(function, (batch,), (moved,))
    return bool(jnp.any(change[0] != 0))


def _first_mixing(model: Model, params: Params, batch: Array) -> str:
    if not isinstance(model.module, objax.nn.Sequential):
        return "one that does"
    trained = {name: var for name, var in model.module.vars().items() if isinstance(var, objax.TrainVar)}
    with holding(trained, params):
        for layer in layers_of(model.module):
            if _mixes(layer, batch):
                return f"layer {getattr(layer, '__name__', type(layer).__name__)}"
            batch = layer(batch)
    return "one that does"
