"""Fine-tuning the last blocks of a Llama model: all before them is computed once a text."""

from __future__ import annotations

import functools

import jax
import objax
from jaxtyping import Array, Float, Int

from ..functional import Model, Params, from_objax
from .interface import LanguageModel, Tokenizer
from .llama import Block, FrozenHead, Shape, Weights, block


def last_blocks(shape: Shape, weights: Weights, tokenizer: Tokenizer, trained: int) -> LanguageModel:
    """A Llama model of whose blocks the last `trained` are fine-tuned; embedding, last norm and head are not.

    The front's weights are arguments of its compiled program, and its blocks one loop: it compiles in seconds
    whatever their number.

    Raises:
        ValueError: `trained` is not between 1 and the number of blocks.
    """
    if not 1 <= trained <= shape.blocks:
        raise ValueError(f"trained must be between 1 and the model's {shape.blocks} blocks, got {trained}")
    first = shape.blocks - trained
    model = _trained_part(shape, weights, trained)
    return LanguageModel(
        front=functools.partial(
            _front(shape), weights.embedding, Block(*(w[:first] for w in weights.blocks))
        ),
        model=model,
        params=dict(zip(model.module.vars().keys(), _in_order(weights.blocks, first, trained), strict=True)),
        tokenizer=tokenizer,
        context=shape.context,
    )


def _trained_part(shape: Shape, weights: Weights, trained: int) -> Model:
    head = FrozenHead(weights.norm, weights.embedding, shape.epsilon)

    def build() -> objax.nn.Sequential:
        return objax.nn.Sequential([*(block(shape) for _ in range(trained)), head])

    return from_objax(build)


def _in_order(blocks: Block, first: int, count: int) -> list[Array]:
    return [w[i] for i in range(first, first + count) for w in blocks]


def _front(shape: Shape):
    one = from_objax(lambda: block(shape))
    names = list(one.module.vars().keys())

    def through(values: Float[Array, "b t width"], weights: Block):
        params: Params = dict(zip(names, weights, strict=True))
        return one.apply(params, values), None

    @jax.jit
    def front(embedding: Array, blocks: Block, tokens: Int[Array, "b t"]) -> Float[Array, "b t width"]:
        return jax.lax.scan(through, embedding[tokens], blocks)[0]

    return front
