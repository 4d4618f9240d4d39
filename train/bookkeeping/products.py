"""Weights whose gradient is a product, Σ_p a_p d_pᵀ over positions p: dense layers and convolutions."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from .rule import Contribution

GRAM_ADVANTAGE = 8
"""How many times fewer numbers the Gram matrices must hold before they are preferred (measured)."""


def product_contribution(
    inputs: Float[Array, "batch positions fan_in"],
    gradients: Float[Array, "batch positions fan_out"],
    weight: str,
    bias: str | None,
) -> Contribution:
    """The contribution of `y = inputs @ weight + bias` by the cheapest of three exact formulas.

    Args:
        inputs: a, the layer's input at each position.
        gradients: d, of the loss with respect to y.
        weight, bias: names of the parameters `[fan_in, fan_out]` and `[fan_out]`.
    """
    positions, fan_in = inputs.shape[1:]
    if positions == 1:
        return _rank_one(inputs[:, 0], gradients[:, 0], weight, bias)
    if GRAM_ADVANTAGE * 2 * positions**2 < fan_in * gradients.shape[2]:
        return _gram(inputs, gradients, weight, bias)
    return _direct(inputs, gradients, weight, bias)


def _rank_one(a: Float[Array, "b k"], d: Float[Array, "b n"], weight, bias) -> Contribution:
    """‖a dᵀ‖² = ‖a‖² ‖d‖²; the bias adds ‖d‖²."""
    squared_norm = (_sum_of_squares(a) + (bias is not None)) * _sum_of_squares(d)

    def total(scale, factors):
        a, d = factors
        scaled = scale[:, None] * d
        return _named(a.T @ scaled, lambda: jnp.sum(scaled, 0), weight, bias)

    return Contribution(squared_norm, (a, d), total)


def _gram(a: Float[Array, "b p k"], d: Float[Array, "b p n"], weight, bias) -> Contribution:
    """‖Σ a_p d_pᵀ‖² = Σ_pq ⟨a_p, a_q⟩⟨d_p, d_q⟩; the bias adds Σ_pq ⟨d_p, d_q⟩."""
    of_inputs, of_gradients = (jnp.einsum("bpk,bqk->bpq", x, x) for x in (a, d))
    squared_norm = jnp.sum((of_inputs + (bias is not None)) * of_gradients, (1, 2))

    def total(scale, factors):
        a, d = factors
        scaled = scale[:, None, None] * d
        return _named(jnp.einsum("bpk,bpn->kn", a, scaled), lambda: jnp.sum(scaled, (0, 1)), weight, bias)

    return Contribution(squared_norm, (a, d), total)


def _direct(a: Float[Array, "b p k"], d: Float[Array, "b p n"], weight, bias) -> Contribution:
    """The gradients themselves, as small batched products; their weighted sum is one more product."""
    of_weight = jnp.einsum("bpn,bpk->bnk", d, a)  # this way round is faster on CPUs
    of_bias = jnp.sum(d, 1) if bias is not None else jnp.zeros((len(d), 0), d.dtype)

    def total(scale, factors):
        of_weight, of_bias = factors
        return _named(jnp.tensordot(scale, of_weight, 1).T, lambda: scale @ of_bias, weight, bias)

    return Contribution(_sum_of_squares(of_weight) + _sum_of_squares(of_bias), (of_weight, of_bias), total)


def _sum_of_squares(x: Float[Array, "b ..."]) -> Float[Array, "b"]:
    return jnp.sum(x * x, tuple(range(1, x.ndim)))


def _named(of_weight, of_bias, weight: str, bias: str | None):
    return {weight: of_weight} | ({bias: of_bias()} if bias is not None else {})
