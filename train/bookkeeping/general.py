"""Rules for layers that book-keeping does not know: any function, and any module with weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import objax

from ..functional import Params, holding
from .rule import Backward, Contribution, Values


@dataclass(frozen=True)
class Weightless:
    """Any function of a batch that does not mix its examples."""

    function: Callable[[Values], Values]
    has_weights = False

    def forward(self, params: Params, values: Values):
        return self.function(values), values

    def backward(self, params: Params, residual, gradient, need_input: bool):
        _, pull = jax.vjp(self.function, residual)
        return Backward(*pull(gradient))


@dataclass(frozen=True)
class PerExample:
    """Any Objax module: its own weights' gradients are formed one by one, the rest of the stack's are not.

    Attributes:
        names: parameter name -> the module's variable.
    """

    module: objax.Module
    names: dict[str, objax.BaseVar]
    has_weights = True

    def _call(self, own: Params, values: Values) -> Values:
        with holding(self.names, own):
            return self.module(values)

    def forward(self, params: Params, values: Values):
        return self._call({name: params[name] for name in self.names}, values), values

    def backward(self, params: Params, residual, gradient, need_input: bool):
        own = {name: params[name] for name in self.names}

        def one(value, gradient):
            if need_input:
                _, pull = jax.vjp(lambda p, v: self._call(p, v[None])[0], own, value)
                return pull(gradient)
            _, pull = jax.vjp(lambda p: self._call(p, value[None])[0], own)
            return (*pull(gradient), None)

        gradients, inputs = jax.vmap(one)(residual, gradient)
        return Backward(inputs, (formed(gradients),))


def formed(gradients: Params) -> Contribution:
    """The contribution of weights whose gradients `[batch, ...]` are there, by name."""
    squares = [jnp.sum(g * g, tuple(range(1, g.ndim))) for g in gradients.values()]

    def total(scale, factors):
        return {name: jnp.tensordot(scale, g, 1) for name, g in factors.items()}

    return Contribution(sum(squares), gradients, total)
