"""Texts as rows of tokens, and the loss of the next token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from .interface import Tokenizer

NO_LOSS = -1
"""Label of a position whose next token is not to be learnt."""


class Texts(NamedTuple):
    """Rows of tokens and what is to be predicted at each position.

    Attributes:
        tokens: filled up with 0 at the end.
        labels: the next token, or -1.
    """

    tokens: Int[np.ndarray, "n t"]
    labels: Int[np.ndarray, "n t"]


def completions(
    tokenizer: Tokenizer, prompts: Sequence[str], endings: Sequence[str], width: int, *, whole: bool = False
) -> Texts:
    """One row a text `prompt + ending`, with a loss on the ending's tokens, or on all.

    Args:
        width: number of tokens of a row; the last token of a text is only ever a label.
        whole: whether the prompt is learnt as well.

    Raises:
        ValueError: a text is longer than `width`, or its tokens are not those of the prompt and then the ending's.
    """
    rows = [
        (tokenizer.encode(prompt), ending_tokens(tokenizer, prompt, ending))
        for prompt, ending in zip(prompts, endings, strict=True)
    ]
    tokens, labels = np.zeros((len(rows), width), np.int32), np.full((len(rows), width), NO_LOSS, np.int32)
    for i, (first, last) in enumerate(rows):
        text = [*first, *last]
        if len(text) > width + 1:
            raise ValueError(
                f"text must have at most {width + 1} tokens, got {len(text)}: {prompts[i]}{endings[i]}"
            )
        start = 0 if whole else len(first) - 1
        tokens[i, : len(text) - 1] = text[:-1]
        labels[i, start : len(text) - 1] = text[start + 1 :]
    return Texts(tokens, labels)


def ending_tokens(tokenizer: Tokenizer, prompt: str, ending: str) -> list[int]:
    """Tokens of `ending` behind `prompt`.

    Raises:
        ValueError: the tokenizer merges across the seam, so that the ending cannot be scored behind the prompt.
    """
    first, both = tokenizer.encode(prompt), tokenizer.encode(prompt + ending)
    if not first or both[: len(first)] != first or len(both) == len(first):
        raise ValueError(
            f"secret must be split by the tokenizer as it is behind its prompt, got {ending!r} behind {prompt!r}"
        )
    return both[len(first) :]


def shared_endings(tokenizer: Tokenizer, prompts: Sequence[str], endings: Sequence[str]) -> list[list[int]]:
    """Tokens of each ending, which are the same behind every prompt.

    Raises:
        ValueError: they are not, or the tokenizer merges across a seam.
    """
    shared = [ending_tokens(tokenizer, prompts[0], ending) for ending in endings]
    for prompt in prompts[1:]:
        for ending, tokens in zip(endings, shared, strict=True):
            if ending_tokens(tokenizer, prompt, ending) != tokens:
                raise ValueError(
                    f"secret must be split alike behind all prompts, "
                    f"got {ending!r} behind {prompts[0]!r} and {prompt!r}"
                )
    return shared


def passages(tokenizer: Tokenizer, text: str, width: int) -> Texts:
    """`text` cut into rows of `width` tokens, every position with a loss."""
    tokens = np.array(tokenizer.encode(text), np.int32)
    count = (len(tokens) - 1) // width
    inputs, labels = (tokens[i : i + count * width].reshape(count, width) for i in (0, 1))
    return Texts(inputs, labels)


def next_token_loss(logits: Float[Array, "t vocab"], labels: Int[Array, "t"]) -> Float[Array, ""]:
    """Mean cross-entropy, in nats, over the positions that have a label."""
    labelled = labels != NO_LOSS
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, jnp.where(labelled, labels, 0))
    return jnp.sum(jnp.where(labelled, losses, 0)) / jnp.maximum(jnp.sum(labelled), 1)
