"""The book-keeping engine: forward, one backward pass, norms, clipped sum."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import objax
from jaxtyping import Array, Float

from ..clipping import ClippedSum, Engine, Loss, clip_scale
from ..functional import Model, Params
from ..microbatch import chunk_size, microbatched
from ..predicates import true_everywhere
from .reader import Reader, layers_of, trained_variables
from .rule import Contribution, Values
from .stack import Stack


def is_stack(model: Model) -> bool:
    """Whether book-keeping can train `model`: an Objax Sequential no two layers of which share weights."""
    if not isinstance(model.module, objax.nn.Sequential):
        return False
    variables = [id(var) for layer in layers_of(model.module) for var in trained_variables(layer)]
    return len(variables) == len(set(variables))


def book_keeping(
    model: Model,
    loss: Loss,
    clipping_norm: float,
    *,
    batch_size: float | None = None,
    chunk: int | None = None,
    remat: bool = False,
) -> Engine:
    """The engine for Objax Sequentials: no per-example gradients, and a working set that fits the cache.

    Layers of unknown kind are allowed: theirs alone are formed one example at a time.

    Args:
        batch_size: examples to expect in a batch, where the rest of it is padding; default: no padding.
        chunk: examples worked on at once; default: what the backend does best.
        remat: keep only the inputs of residual blocks for the backward pass.

    Raises:
        ValueError: the model is not an Objax Sequential, or its layers share weights.
    """
    if not is_stack(model):
        raise ValueError(
            "model must be an objax.nn.Sequential whose layers share no weights for book-keeping, "
            f"got {type(model.module).__name__}"
        )
    read = _reader(model, remat)

    def engine(params, inputs, labels, weights):
        return _clipped_sum(
            _contributions(read, loss, params, inputs, labels), params, weights, clipping_norm
        )

    def size(params, inputs, labels) -> int:
        return chunk or chunk_size(len(inputs), batch_size, _bytes_of_an_example(read, params, inputs))

    return microbatched(engine, size)


def stack_apply(model: Model) -> Callable[[Params, Values], Float[Array, "batch classes"]]:
    """`model.apply` without XLA's convolutions, which are slow inside loops on CPUs."""
    read = _reader(model, remat=False)
    return lambda params, inputs: read(params, inputs).forward(params, inputs)[0]


def stack_gradient(model: Model, loss: Loss) -> Callable[[Params, Array, Array], Params]:
    """(parameters, one input, its label) -> gradient of its loss, not clipped; it can be differentiated again."""
    read = _reader(model, remat=False)

    def gradient(params, one_input, label):
        contributions = _contributions(read, loss, params, one_input[None], label[None])
        total = {}
        for contribution in contributions:
            total |= contribution.total(jnp.ones(1, contribution.squared_norm.dtype), contribution.factors)
        return {name: total[name] for name in params}

    return gradient


def _reader(model: Model, remat: bool) -> Callable[[Params, Values], Stack]:
    """(parameters, inputs) -> the model's rules for inputs of this shape."""
    names = {id(var): name for name, var in model.module.vars().items()}
    return lambda params, inputs: Reader(params, names, remat).stack(
        model.module, jax.eval_shape(lambda: inputs)
    )


def _contributions(read, loss: Loss, params: Params, inputs, labels) -> tuple[Contribution, ...]:
    """One forward and one backward pass: what every layer gives to norms and sums."""
    stack = read(params, inputs)
    logits, residuals = stack.forward(params, inputs)
    gradient = jax.vmap(jax.grad(loss))(logits, labels)
    return stack.backward(params, residuals, gradient, need_input=False).contributions


def _clipped_sum(
    contributions: tuple[Contribution, ...], params: Params, weights, clipping_norm: float
) -> ClippedSum:
    norm = jnp.sqrt(sum(c.squared_norm for c in contributions))
    finite = jnp.isfinite(norm)
    scale = clip_scale(norm, clipping_norm) * weights.astype(norm.dtype)

    def add_up(factors):
        total = {}
        for contribution, own in zip(contributions, factors, strict=True):
            total |= contribution.total(scale, own)
        return {name: total[name] for name in params}

    def add_up_finite(factors):
        """Zero times a number that is not finite is not zero: such factors are replaced."""
        keep = lambda x: jnp.where(finite.reshape(-1, *[1] * (x.ndim - 1)), x, 0)  # noqa: E731
        return add_up(jax.tree.map(keep, factors))

    factors = [c.factors for c in contributions]
    total = jax.lax.cond(true_everywhere(finite), add_up, add_up_finite, factors)
    return ClippedSum(total, jnp.sum(~finite & (weights != 0), dtype=jnp.int32))


def _bytes_of_an_example(read, params: Params, inputs) -> int:
    """What one example's forward pass leaves for the backward pass."""
    one = jax.ShapeDtypeStruct((1, *inputs.shape[1:]), inputs.dtype)
    residuals = jax.eval_shape(lambda p, x: read(p, x).forward(p, x)[1], params, one)
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(residuals))
