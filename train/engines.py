"""The choice of the per-example clipping engine."""

from __future__ import annotations

from .bookkeeping import book_keeping, is_stack
from .clipping import Engine, Loss, vmap_grad
from .functional import Model

ENGINES = {"book_keeping": book_keeping, "vmap_grad": vmap_grad}
"""name -> (model, loss, clipping norm) -> Engine"""


def choose_engine(model: Model, loss: Loss, clipping_norm: float, engine: str = "auto") -> Engine:
    """The fastest engine that can train `model`, or the one asked for; all give the same sums.

    Args:
        engine: `auto`, `book_keeping` or `vmap_grad`.

    Raises:
        ValueError: `engine` is unknown, or cannot train this model.
    """
    if engine == "auto":
        engine = "book_keeping" if is_stack(model) else "vmap_grad"
    if engine not in ENGINES:
        raise ValueError(f"engine must be auto, {' or '.join(ENGINES)}, got {engine!r}")
    return ENGINES[engine](model, loss, clipping_norm)
