"""Rules one after the other; a residual block is a stack around which the values also pass unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from ..functional import Params
from .rule import Backward, Rule, Values


@dataclass(frozen=True)
class Stack:
    """Layers in order."""

    rules: tuple[Rule, ...]

    @property
    def has_weights(self) -> bool:
        return any(rule.has_weights for rule in self.rules)

    def forward(self, params: Params, values: Values):
        residuals = []
        for rule in self.rules:
            values, residual = rule.forward(params, values)
            residuals.append(residual)
        return values, residuals

    def backward(self, params: Params, residual, gradient, need_input: bool):
        contributions = ()
        for i in reversed(range(len(self.rules))):
            wanted = need_input or any(rule.has_weights for rule in self.rules[:i])
            if not (wanted or self.rules[i].has_weights):
                return Backward(None, contributions)
            gradient, more = self.rules[i].backward(params, residual[i], gradient, wanted)
            contributions += more
        return Backward(gradient, contributions)


@dataclass(frozen=True)
class ResidualBlock:
    """x + inner(x). With `remat` only x is kept, and the block runs again in the backward pass."""

    inner: Stack
    remat: bool

    @property
    def has_weights(self) -> bool:
        return self.inner.has_weights

    def forward(self, params: Params, values: Values):
        change, residual = self.inner.forward(params, values)
        return values + change, values if self.remat else residual

    def backward(self, params: Params, residual, gradient, need_input: bool):
        if self.remat:
            _, residual = self.inner.forward(params, residual)
        inputs, contributions = self.inner.backward(params, residual, gradient, need_input)
        return Backward(gradient + inputs if need_input else None, contributions)
