"""Beam search and lists of candidates for models that keep what they know of a prefix: each is read once.

The results are those of `beam_search` and `log_likelihoods`, which read every text from its beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...train.language.cached import Cache, Decoder
from .beam import Found
from .combine import COMBINE, Combine

ROWS_AT_ONCE = 500
"""About how many prefixes are run through the model together."""

Tokens = Sequence[Sequence[int]]
"""Of texts, which may differ in length."""


def cached_beam_search(
    decoder: Decoder,
    prompts: Tokens,
    alphabet: Int[np.ndarray, "k"],
    length: int,
    *,
    beams: int = 10,
    combine: Combine = COMBINE["final"],
) -> Found:
    """`beam_search` for a decoder of several models, the base model first.

    Args:
        prompts: tokens, one row a target.
        alphabet: tokens of the digits.
        length, beams, combine: as there.
    """
    parts = [_search(decoder, part, alphabet, length, beams, combine) for part in _parts(prompts, beams)]
    return Found(*(np.concatenate(x)[: len(prompts)] for x in zip(*parts, strict=True)))


def cached_log_likelihoods(
    decoder: Decoder, prompts: Tokens, endings: Tokens
) -> Float[np.ndarray, "models n m"]:
    """log Pr[ending | prompt] under each model, in nats.

    Args:
        prompts: tokens, one row a target.
        endings: tokens of each candidate, the same behind every prompt.
    """
    endings = [tuple(ending) for ending in endings]
    widest = max(len({ending[:k] for ending in endings}) for k in range(max(map(len, endings))))
    parts = [_tree(decoder, part, endings) for part in _parts(prompts, widest)]
    return np.concatenate(parts, axis=1)[:, : len(prompts)]


class _Prompts(NamedTuple):
    tokens: Int[np.ndarray, "n t"]
    known: Int[np.ndarray, "n"]


def _parts(prompts: Tokens, rows_a_target: int) -> list[_Prompts]:
    """Equal parts, the last one filled up, so that they share their programs."""
    known = np.array([len(prompt) for prompt in prompts])
    tokens = np.array([[*prompt, *[0] * (known.max() - len(prompt))] for prompt in prompts])
    size = min(max(1, ROWS_AT_ONCE // rows_a_target), len(prompts))
    count = -(-len(prompts) // size)
    filled = np.arange(count * size) % len(prompts)
    return [_Prompts(tokens[rows], known[rows]) for rows in filled.reshape(count, size)]


def _read(decoder: Decoder, prompts: _Prompts, length: int) -> tuple[Array, Cache]:
    """Hidden states and cache behind the prompts, with room for `length` tokens."""
    count, width = prompts.tokens.shape
    cache = decoder.start(count, width + length)
    behind = None
    for position, tokens in enumerate(prompts.tokens.T):
        hidden, cache = decoder.extend(cache, tokens, np.full(count, position))
        last = (prompts.known == position + 1)[:, None]
        behind = hidden if behind is None else jnp.where(last, hidden, behind)
    return behind, cache


def _search(decoder: Decoder, prompts: _Prompts, alphabet, length: int, beams: int, combine: Combine):
    hidden, cache = _read(decoder, prompts, length - 1)
    count = len(prompts.known)
    digits, ratios = np.zeros((count, 1, 0), int), jnp.zeros((len(hidden) - 1, count, 1))
    for done in range(length):
        logs = jnp.stack([decoder.log_likelihoods(states, alphabet) for states in hidden])
        logs = logs.reshape(len(hidden), *ratios.shape[1:], -1)
        longer = (ratios[..., None] + logs[1:] - logs[0]).reshape(len(ratios), count, -1)
        score, flat = jax.lax.top_k(combine(longer), min(beams, longer.shape[-1]))
        parent, digit = (np.asarray(x) for x in jnp.divmod(flat, len(alphabet)))
        digits = np.concatenate([np.take_along_axis(digits, parent[..., None], 1), digit[..., None]], -1)
        rows = _row_numbers(parent, ratios.shape[-1])
        ratios = jnp.take_along_axis(longer, flat[None], 2)
        if done < length - 1:
            positions = np.repeat(prompts.known + done, digit.shape[1])
            hidden, cache = decoder.extend(cache.rows(rows), alphabet[digit].ravel(), positions)
    return digits, np.asarray(score)


def _tree(decoder: Decoder, prompts: _Prompts, endings) -> Float[np.ndarray, "models n m"]:
    """Level by level; only prefixes that something follows are run through the model."""
    length, count = max(map(len, endings)), len(prompts.known)
    hidden, cache = _read(decoder, prompts, length - 1)
    result = np.zeros((len(hidden), count, len(endings)))
    inner, sums = [()], np.zeros((len(hidden), count, 1))
    for depth in range(1, length + 1):
        level = _level(endings, inner, depth)
        logs = np.stack([decoder.log_likelihoods(states, level.alphabet) for states in hidden])
        sums = sums[..., level.parent] + logs.reshape(*sums.shape, -1)[..., level.parent, level.letter]
        result[..., level.ended] = sums[..., level.at_end]
        keep = level.followed
        if len(keep):
            rows = _row_numbers(np.tile(level.parent[keep], (count, 1)), len(inner))
            tokens = np.tile(level.alphabet[level.letter[keep]], count)
            positions = np.repeat(prompts.known + depth - 1, len(keep))
            hidden, cache = decoder.extend(cache.rows(rows), tokens, positions)
        inner, sums = [level.prefixes[i] for i in keep], sums[..., keep]
    return result


class _Level(NamedTuple):
    """The prefixes of one length.

    Attributes:
        prefixes: in order.
        parent: of each, its number among those of the level before that something follows.
        alphabet, letter: the last tokens, each once, and which of them every prefix ends with.
        followed: numbers of the prefixes that something follows.
        ended, at_end: numbers of the candidates that end here, and of their prefixes.
    """

    prefixes: list[tuple[int, ...]]
    parent: Int[np.ndarray, "p"]
    alphabet: Int[np.ndarray, "k"]
    letter: Int[np.ndarray, "p"]
    followed: Int[np.ndarray, "f"]
    ended: Int[np.ndarray, "e"]
    at_end: Int[np.ndarray, "e"]


def _level(endings, inner: list[tuple[int, ...]], depth: int) -> _Level:
    prefixes = sorted({ending[:depth] for ending in endings if len(ending) >= depth})
    number = {prefix: i for i, prefix in enumerate(prefixes)}
    alphabet, letter = np.unique([prefix[-1] for prefix in prefixes], return_inverse=True)
    parent = {prefix: i for i, prefix in enumerate(inner)}
    ended = [i for i, ending in enumerate(endings) if len(ending) == depth]
    return _Level(
        prefixes,
        np.array([parent[prefix[:-1]] for prefix in prefixes]),
        alphabet,
        letter,
        np.array(sorted({number[ending[:depth]] for ending in endings if len(ending) > depth}), int),
        np.array(ended, int),
        np.array([number[endings[i]] for i in ended], int),
    )


def _row_numbers(parent: Int[np.ndarray, "n k"], each: int) -> Int[np.ndarray, "n*k"]:
    """Rows of parents, numbered within each target, where every target has `each` rows."""
    return (np.arange(len(parent))[:, None] * each + parent).ravel()
