"""The choice of the per-example clipping engine."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jaxtyping import Array

from .bookkeeping import book_keeping, is_stack, stack_apply, stack_gradient
from .clipping import Engine, Loss, vmap_grad
from .functional import Model, Params
from .microbatch import chunk_size, microbatched


def chunked_vmap_grad(
    model: Model,
    loss: Loss,
    clipping_norm: float,
    *,
    batch_size: float | None = None,
    chunk: int | None = None,
    remat: bool = False,
) -> Engine:
    """`vmap_grad` with the options of `book_keeping`."""
    if remat:
        model = model._replace(apply=jax.checkpoint(model.apply))

    def size(params, inputs, labels) -> int:
        gradient_bytes = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(params))
        return chunk or chunk_size(len(inputs), batch_size, gradient_bytes)

    return microbatched(vmap_grad(model, loss, clipping_norm), size)


ENGINES = {"book_keeping": book_keeping, "vmap_grad": chunked_vmap_grad}
"""name -> (model, loss, clipping norm, batch_size=, chunk=, remat=) -> Engine"""


def choose_engine(
    model: Model, loss: Loss, clipping_norm: float, engine: str = "auto", **options: float | bool | None
) -> Engine:
    """The fastest engine that can train `model`, or the one asked for; all give the same sums.

    Args:
        engine: `auto`, `book_keeping` or `vmap_grad`.
        options: `batch_size`, the mean size of padded batches (no padding is expected without it); `chunk`,
            examples worked on at once; `remat`, to store less and compute twice.

    Raises:
        ValueError: `engine` is unknown, or cannot train this model.
    """
    if engine == "auto":
        engine = "book_keeping" if is_stack(model) else "vmap_grad"
    if engine not in ENGINES:
        raise ValueError(f"engine must be auto, {' or '.join(ENGINES)}, got {engine!r}")
    return ENGINES[engine](model, loss, clipping_norm, **options)


def fast_model(model: Model) -> Model:
    """The same model with the fastest forward pass that we have for it."""
    return model._replace(apply=stack_apply(model)) if is_stack(model) else model


def example_gradient(model: Model, loss: Loss) -> Callable[[Params, Array, Array], Params]:
    """(parameters, one input, its label) -> gradient of its loss, not clipped; it can be differentiated again."""
    if is_stack(model):
        return stack_gradient(model, loss)

    def one_loss(params, one_input, label):
        return loss(model.apply(params, one_input[None])[0], label)

    return jax.grad(one_loss)
