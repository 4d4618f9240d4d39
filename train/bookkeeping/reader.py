"""Reads an Objax Sequential into rules, with static shapes, images kept channels-last throughout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
import objax

from ..functional import Params
from ..layers import ChannelsFirst, Embedding, LayerNorm, MaxPool2D, Residual, RMSNorm
from .convolution import Convolution
from .dense import Dense
from .general import PerExample, Weightless
from .lookup import Lookup
from .normalisation import Normalisation
from .pooling import MaxPool
from .rule import Rule
from .stack import ResidualBlock, Stack
from .windows import window

ELEMENTWISE: tuple[Callable, ...] = tuple(
    getattr(objax.functional, name)
    for name in ("relu", "tanh", "sigmoid", "softplus", "elu", "celu", "selu", "leaky_relu", "swish")
)
"""Functions that do not care for the layout; they are recognised by identity."""

_TO_FIRST = Weightless(lambda x: x.transpose(0, 3, 1, 2))
_TO_LAST = Weightless(lambda x: x.transpose(0, 2, 3, 1))


def layers_of(module: Any) -> Iterator[Any]:
    """The layers of a Sequential in order, nested ones unrolled."""
    if not isinstance(module, objax.nn.Sequential):
        yield module
        return
    for layer in module:
        yield from layers_of(layer)


@dataclass(frozen=True)
class Reader:
    """What is known when a module is read.

    Attributes:
        params: arrays or their shapes, by name.
        names: id of a variable -> its parameter's name.
        remat: keep only the inputs of residual blocks.
    """

    params: Params
    names: dict[int, str]
    remat: bool

    def stack(self, module: Any, values: jax.ShapeDtypeStruct) -> Stack:
        """Rules for `module` on a batch like `values`."""
        rules: list[Rule] = []
        channels_last = False

        def then(rule: Rule) -> None:
            nonlocal values
            rules.append(rule)
            values = jax.eval_shape(lambda p, v: rule.forward(p, v)[0], self.params, values)

        for layer in layers_of(module):
            is_image_layer = _is_convolution(layer) or type(layer) is MaxPool2D
            if is_image_layer and not channels_last:
                then(_TO_LAST)
                channels_last = True
            if type(layer) is ChannelsFirst and not channels_last:
                channels_last = True  # the data already lies as the rules want it
                continue
            if not is_image_layer and channels_last and layer not in ELEMENTWISE:
                then(_TO_FIRST)
                channels_last = False
            then(self.rule(layer, values))
        if channels_last:
            then(_TO_FIRST)
        return Stack(_cropped(rules))

    def rule(self, layer: Any, values: jax.ShapeDtypeStruct) -> Rule:
        """The rule for one layer on values in its layout."""
        if _is_convolution(layer):
            paddings = (layer.padding,) * 2 if isinstance(layer.padding, str) else layer.padding
            sizes = zip(values.shape[1:3], layer.w.shape[:2], layer.strides, paddings, strict=True)
            return Convolution(self._name(layer.w), self._name(layer.b), *(window(*each) for each in sizes))
        if type(layer) is MaxPool2D:
            return MaxPool(*(window(n, layer.size, layer.stride, "VALID") for n in values.shape[1:3]))
        if type(layer) is objax.nn.Linear:
            return Dense(self._name(layer.w), self._name(layer.b))
        if type(layer) is Embedding:
            return Lookup(self._name(layer.w))
        if type(layer) in (LayerNorm, RMSNorm):
            shift = getattr(layer, "shift", None)
            return Normalisation(layer.normalised, self._name(layer.scale), self._name(shift))
        if type(layer) is Residual:
            return ResidualBlock(self.stack(layer.inner, values), self.remat)
        variables = trained_variables(layer)
        if variables:
            return PerExample(layer, {self._name(var): var for var in variables})
        return Weightless(layer)

    def _name(self, variable: objax.BaseVar | None) -> str | None:
        return None if variable is None else self.names[id(variable)]


def trained_variables(layer: Any) -> list[objax.BaseVar]:
    """The trainable variables of a layer, none for a plain function."""
    if not isinstance(layer, objax.Module):
        return []
    return [var for var in layer.vars().values() if isinstance(var, objax.TrainVar)]


def _is_convolution(layer: Any) -> bool:
    return type(layer) is objax.nn.Conv2D and layer.groups == 1 and tuple(layer.dilations) == (1, 1)


def _cropped(rules: list[Rule]) -> tuple[Rule, ...]:
    """Lets each convolution and pool compute only what the next one reads."""
    needed, cropped = None, []
    for rule in reversed(rules):
        if isinstance(rule, Convolution | MaxPool):
            if needed is not None:
                rows, columns = (w.cropped(n) for w, n in zip((rule.rows, rule.columns), needed, strict=True))
                rule = replace(rule, rows=rows, columns=columns)
            needed = (rule.rows.span - rule.rows.low, rule.columns.span - rule.columns.low)
        elif not (isinstance(rule, Weightless) and rule.function in ELEMENTWISE):
            needed = None
        cropped.append(rule)
    return tuple(reversed(cropped))
