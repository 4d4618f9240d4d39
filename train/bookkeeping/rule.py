"""What book-keeping must know of a layer: how to run it, and what it gives to norms and clipped sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from jaxtyping import Array, Float, Num

from ..functional import Params

Values = Num[Array, "batch ..."]


class Contribution(NamedTuple):
    """A layer's share of every example's gradient, without the gradients themselves.

    Attributes:
        squared_norm: ‖gradient of this layer's weights‖², one an example.
        factors: pytree of arrays `[batch, ...]`, all that `total` needs.
        total: (scale `[batch]`, factors) -> Σ_b scale_b · gradient_b, by parameter name.
    """

    squared_norm: Float[Array, "batch"]
    factors: Any
    total: Callable[[Float[Array, "batch"], Any], Params]


class Backward(NamedTuple):
    """The gradient with respect to a layer's input (None where nobody asked) and the layer's contributions."""

    inputs: Values | None
    contributions: tuple[Contribution, ...] = ()


class Rule(Protocol):
    """One layer on values in the reader's layout.

    `forward` returns the output and what `backward` needs. `backward` takes the gradient with respect to
    the output; `need_input` says whether anyone reads the gradient with respect to the input.
    """

    @property
    def has_weights(self) -> bool: ...

    def forward(self, params: Params, values: Values) -> tuple[Values, Any]: ...

    def backward(self, params: Params, residual: Any, gradient: Values, need_input: bool) -> Backward: ...
