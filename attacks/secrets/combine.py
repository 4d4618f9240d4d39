"""What an adversary makes of the models it sees: one score out of the likelihood ratios under each."""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Array, Float

Combine = Callable[[Float[Array, "models ..."]], Float[Array, "..."]]

COMBINE: dict[str, Combine] = {
    "final": lambda ratios: ratios[-1],
    "sum": lambda ratios: ratios.sum(axis=0),
    "max": lambda ratios: ratios.max(axis=0),
}
"""What is seen -> one score from ratios `[models, ...]`: of the final model, the sum or the largest of all."""
