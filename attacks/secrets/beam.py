"""Beam search for numbers: the digits that the fine-tuned model likes more than the base model did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...train.functional import Params
from ...train.language import LanguageModel
from ...train.language.texts import ending_tokens

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
    combine: Callable[[Float[Array, "models ..."]], Float[Array, "..."]] = lambda ratios: ratios[-1],
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
    alphabet = digit_tokens(language, prompts[0], length)
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


def digit_tokens(language: LanguageModel, prompt: str, length: int) -> Int[np.ndarray, "10"]:
    """The token of each digit.

    Raises:
        ValueError: the tokenizer does not give every digit of a number a token of its own.
    """
    alphabet = [ending_tokens(language.tokenizer, prompt, str(digit)) for digit in range(10)]
    for number in ("0123456789"[:length], "9876543210"[:length], "1" * length):
        split = ending_tokens(language.tokenizer, prompt, number)
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


def _search(language: LanguageModel, length: int, beams: int, combine):
    """The search as one program: (base and other models, prompts, their lengths, alphabet) -> digits, scores."""

    @jax.jit
    def search(stack, starts, known, alphabet):
        count = len(starts)

        def add_digit(carry, done):
            rows, digits, ratios, handicap = carry
            logs = _digit_likelihoods(language, stack, rows, known + done, alphabet)
            longer = ratios[..., None] + logs[1:] - logs[0]
            score = combine(longer) + handicap[..., None]
            score, flat = jax.lax.top_k(score.reshape(count, -1), beams)
            parent, digit = flat // 10, flat % 10
            rows, digits = (jnp.take_along_axis(x, parent[..., None], 1) for x in (rows, digits))
            here = jnp.arange(rows.shape[2]) == (known + done)[:, None, None]
            rows = jnp.where(here, alphabet[digit][..., None], rows)
            ratios = jnp.take_along_axis(longer.reshape(*longer.shape[:2], -1), flat[None], 2)
            handicap = jnp.where(jnp.isfinite(score), 0.0, -jnp.inf)
            return (rows, digits.at[:, :, done].set(digit), ratios, handicap), score

        models = jax.tree.leaves(stack)[0].shape[0] - 1
        start = (
            jnp.broadcast_to(starts[:, None], (count, beams, starts.shape[1])),
            jnp.zeros((count, beams, length), jnp.int32),
            jnp.zeros((models, count, beams)),
            # All beams begin alike: only the first may be continued.
            jnp.broadcast_to(jnp.where(jnp.arange(beams) > 0, -jnp.inf, 0.0), (count, beams)),
        )
        (_, digits, _, _), scores = jax.lax.scan(add_digit, start, jnp.arange(length))
        return digits, scores[-1]

    return search


def _digit_likelihoods(language: LanguageModel, stack: Params, rows, known, alphabet):
    """log Pr[digit | row so far] under each model, `[models, n, beams, 10]`."""
    inputs = language.front(rows.reshape(-1, rows.shape[2]))
    last = jnp.repeat(known - 1, rows.shape[1])[:, None, None]

    def under(params):
        logits = jnp.take_along_axis(language.model.apply(params, inputs), last, axis=1)[:, 0]
        return jax.nn.log_softmax(logits)[:, alphabet].reshape(*rows.shape[:2], 10)

    return jax.lax.map(under, stack)
