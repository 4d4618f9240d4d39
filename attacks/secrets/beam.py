"""Beam search for numbers: the digits that the fine-tuned model likes more than the base model did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...train.functional import Params
from ...train.language import LanguageModel
from ...train.language.texts import shared_endings
from .combine import COMBINE, Combine

TARGETS_AT_ONCE = 25


class Found(NamedTuple):
    """What the search ends with, best first.

    Attributes:
        digits: of each beam.
        score: its log-likelihood ratio.
    """

    digits: Int[np.ndarray, "n beams length"]
    score: Float[np.ndarray, "n beams"]


def beam_search(
    language: LanguageModel,
    models: Sequence[Params],
    prompts: Sequence[str],
    length: int,
    *,
    beams: int = 10,
    combine: Combine = COMBINE["final"],
) -> Found:
    """The numbers with the largest likelihood ratio that a search of this width meets.

    Args:
        models: parameters seen, the final ones last; the base model is `language.params`.
        prompts: one a target.
        length: digits of a number.
        beams: prefixes kept after every digit.
        combine: log-likelihood ratios under each model -> one score.

    Raises:
        ValueError: the tokenizer does not split a number behind its prompt into digits, or a text exceeds the context.
    """
    alphabet = digit_tokens(language, prompts, length)
    starts = [language.tokenizer.encode(prompt) for prompt in prompts]
    width = max(map(len, starts)) + length
    if width > language.context:
        raise ValueError(f"texts must have at most {language.context} tokens, got {width}")
    known = np.array([len(start) for start in starts])
    rows = np.array([start + [0] * (width - len(start)) for start in starts], np.int32)
    stack = jax.tree.map(lambda *leaves: jnp.stack(leaves), language.params, *models)
    search = _search(language, length, beams, combine)
    parts = [search(stack, *part, alphabet) for part in zip(_in_parts(rows), _in_parts(known), strict=True)]
    digits, score = (np.concatenate(x)[: len(prompts)] for x in zip(*parts, strict=True))
    return Found(digits, score)


def digit_tokens(language: LanguageModel, prompts: Sequence[str], length: int) -> Int[np.ndarray, "10"]:
    """The token of each digit, the same behind every prompt.

    Raises:
        ValueError: the tokenizer does not give every digit of a number a token of its own behind every prompt.
    """
    alphabet = shared_endings(language.tokenizer, prompts, [str(digit) for digit in range(10)])
    numbers = ("0123456789"[:length], "9876543210"[:length], "1" * length)
    for number, split in zip(numbers, shared_endings(language.tokenizer, prompts, numbers), strict=True):
        if split != [token for digit in number for token in alphabet[int(digit)]] or len(split) != length:
            raise ValueError(
                f"secret must be split into digits by the tokenizer for beam search, got {number!r} as {split}"
            )
    return np.array(alphabet, np.int32)[:, 0]


def _in_parts(of_targets: np.ndarray) -> np.ndarray:
    """Equal parts, the last one filled up, so that one program serves all."""
    size = min(TARGETS_AT_ONCE, len(of_targets))
    count = -(-len(of_targets) // size)
    return np.resize(of_targets, (count * size, *of_targets.shape[1:])).reshape(
        count, size, *of_targets.shape[1:]
    )


class _State(NamedTuple):
    """Beams of several targets; all but the first are of no account until there are so many prefixes."""

    rows: Int[Array, "n beams t"]
    digits: Int[Array, "n beams length"]
    ratios: Float[Array, "models n beams"]
    score: Float[Array, "n beams"]


def _search(language: LanguageModel, length: int, beams: int, combine: Combine):
    """(base and other models, prompts, their lengths, alphabet) -> digits, scores; one program adds a digit."""

    @jax.jit
    def add_digit(stack, inputs, state: _State, known, done, alphabet) -> _State:
        count = len(known)
        logs = _digit_likelihoods(language, stack, inputs, known + done, beams, alphabet)
        longer = state.ratios[..., None] + logs[1:] - logs[0]
        score = jnp.where(jnp.isfinite(state.score)[..., None], combine(longer), -jnp.inf)
        score, flat = jax.lax.top_k(score.reshape(count, -1), beams)
        parent, digit = flat // 10, flat % 10
        rows, digits = (jnp.take_along_axis(x, parent[..., None], 1) for x in (state.rows, state.digits))
        here = jnp.arange(rows.shape[2]) == (known + done)[:, None, None]
        rows = jnp.where(here, alphabet[digit][..., None], rows)
        ratios = jnp.take_along_axis(longer.reshape(*longer.shape[:2], -1), flat[None], 2)
        return _State(rows, digits.at[:, :, done].set(digit), ratios, score)

    def search(stack, starts, known, alphabet):
        count, width = starts.shape
        state = _State(
            jnp.broadcast_to(starts[:, None], (count, beams, width)),
            jnp.zeros((count, beams, length), jnp.int32),
            jnp.zeros((jax.tree.leaves(stack)[0].shape[0] - 1, count, beams)),
            jnp.broadcast_to(jnp.where(jnp.arange(beams) > 0, -jnp.inf, 0.0), (count, beams)),
        )
        for done in range(length):
            inputs = language.front(state.rows.reshape(-1, width))
            state = add_digit(stack, inputs, state, known, done, alphabet)
        return state.digits, state.score

    return search


def _digit_likelihoods(language: LanguageModel, stack: Params, inputs, known, beams: int, alphabet):
    """log Pr[digit | row so far] under each model, `[models, n, beams, 10]`."""
    last = jnp.repeat(known - 1, beams)[:, None, None]

    def under(params):
        logits = jnp.take_along_axis(language.model.apply(params, inputs), last, axis=1)[:, 0]
        return jax.nn.log_softmax(logits)[:, alphabet].reshape(len(known), beams, 10)

    return jax.lax.map(under, stack)
