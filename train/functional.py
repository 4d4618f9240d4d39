"""The bridge: any network as a pair of pure functions, Objax modules among them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import objax
from jaxtyping import Array, Float, Key, Num

Params = Any
"""A pytree of arrays: the trainable parameters of one model."""


class Model(NamedTuple):
    """What the engine trains: any framework reduces to these two functions.

    Attributes:
        init: key -> parameters.
        apply: (parameters, inputs `[batch, ...]`) -> logits `[batch, classes]`; examples must not mix.
        module: the Objax module behind `apply`, where there is one: faster engines look at its layers.
    """

    init: Callable[[Key[Array, ""]], Params]
    apply: Callable[[Params, Num[Array, "batch ..."]], Float[Array, "batch classes"]]
    module: objax.Module | None = None


def from_objax(build: Callable[[], objax.Module]) -> Model:
    """Turns a constructor of an Objax module into a `Model`.

    Args:
        build: makes the module, drawing its weights from Objax's default generator.

    Raises:
        ValueError: the module keeps state or mixes the examples of a batch (batch normalisation).
    """
    with jax.ensure_compile_time_eval():
        skeleton = build()
    _refuse_mixing(skeleton)
    trained = {name: var for name, var in skeleton.vars().items() if isinstance(var, objax.TrainVar)}

    def init(key: Key[Array, ""]) -> Params:
        with _generator_seeded(key):
            drawn = build().vars()
        return {name: drawn[name].value for name in trained}

    def apply(params: Params, inputs: Num[Array, "batch ..."]) -> Float[Array, "batch classes"]:
        with holding(trained, params):
            return skeleton(inputs)

    return Model(init, apply, skeleton)


@contextlib.contextmanager
def holding(variables: dict[str, objax.BaseVar], values: Params) -> Iterator[None]:
    """Lets `variables` hold `values` (traced or not) inside the block, and puts back what they held."""
    before = {name: var.value for name, var in variables.items()}
    try:
        for name, var in variables.items():
            var._value = values[name]  # a TrainVar's public setter refuses
        yield
    finally:
        for name, var in variables.items():
            var._value = before[name]


def submodules(module: Any) -> Iterator[objax.Module]:
    """Yields `module` and every Objax module inside it, depth first."""
    if not isinstance(module, objax.Module):
        return
    yield module
    children = module if isinstance(module, list) else vars(module).values()
    for child in children:
        yield from submodules(child)


@contextlib.contextmanager
def _generator_seeded(key: Key[Array, ""]) -> Iterator[None]:
    state = objax.random.DEFAULT_GENERATOR.key
    before = state.value
    is_typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    try:
        state.value = jax.random.key_data(key) if is_typed else key
        yield
    finally:
        state.value = before


def _refuse_mixing(module: objax.Module) -> None:
    for layer in submodules(module):
        if isinstance(layer, objax.nn.BatchNorm):
            raise ValueError(
                "model must not mix the examples of a batch (per-example gradients would not exist), "
                f"got layer {type(layer).__name__}"
            )
    states = [name for name, var in module.vars().items() if not isinstance(var, objax.TrainVar)]
    if states:
        raise ValueError(f"model must keep no state besides its trained weights, got {states[0]}")
