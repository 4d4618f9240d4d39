"""Beam search and lists of candidates for models that keep what they know of a prefix: each is read once.

The results are those of `beam_search` and `log_likelihoods`, for a tenth of the work on texts of a dozen tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...train.language.cached import Cache, Decoder
from .beam import Found

ROWS_AT_ONCE = 500
"""About how many prefixes are run through the model together."""

Endings = Sequence[tuple[int, ...]]


def cached_beam_search(
    decoder: Decoder,
    prompts: Int[np.ndarray, "n known"],
    alphabet: Int[np.ndarray, "k"],
    length: int,
    *,
    beams: int = 10,
    combine: Callable[[Float[Array, "models ..."]], Float[Array, "..."]] = lambda ratios: ratios[-1],
) -> Found:
    """`beam_search` for a decoder of several models, the base model first.

    Args:
        prompts: tokens, one row a target.
        alphabet: tokens of the digits.
        length, beams, combine: as there.
    """
    size = max(1, ROWS_AT_ONCE // beams)
    parts = [
        _search(decoder, prompts[i : i + size], alphabet, length, beams, combine)
        for i in range(0, len(prompts), size)
    ]
    return Found(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def cached_log_likelihoods(
    decoder: Decoder, prompts: Int[np.ndarray, "n known"], endings: Endings
) -> Float[np.ndarray, "models n m"]:
    """log Pr[ending | prompt] under each model, in nats.

    Args:
        prompts: tokens, one row a target.
        endings: tokens of each candidate.
    """
    widest = max(len({ending[:k] for ending in endings}) for k in range(max(map(len, endings))))
    size = max(1, ROWS_AT_ONCE // widest)
    parts = [_tree(decoder, prompts[i : i + size], endings) for i in range(0, len(prompts), size)]
    return np.concatenate(parts, axis=1)


def _read(decoder: Decoder, prompts: np.ndarray, length: int) -> tuple[Array, Cache]:
    """Hidden states and cache behind the prompts, with room for `length` tokens."""
    cache = decoder.start(len(prompts), prompts.shape[1] + length)
    for position, tokens in enumerate(prompts.T):
        hidden, cache = decoder.extend(cache, jnp.asarray(tokens), jnp.int32(position))
    return hidden, cache


def _search(decoder: Decoder, prompts, alphabet, length: int, beams: int, combine):
    count, known = prompts.shape
    hidden, cache = _read(decoder, prompts, length)
    digits, ratios = np.zeros((count, 1, 0), int), jnp.zeros((len(hidden) - 1, count, 1))
    for position in range(known, known + length):
        logs = jnp.stack([decoder.log_likelihoods(states, alphabet) for states in hidden])
        logs = logs.reshape(len(hidden), *ratios.shape[1:], -1)
        longer = (ratios[..., None] + logs[1:] - logs[0]).reshape(len(ratios), count, -1)
        score, flat = jax.lax.top_k(combine(longer), min(beams, longer.shape[-1]))
        parent, digit = (np.asarray(x) for x in jnp.divmod(flat, len(alphabet)))
        digits = np.concatenate([np.take_along_axis(digits, parent[..., None], 1), digit[..., None]], -1)
        rows = _row_numbers(parent, ratios.shape[-1])
        ratios = jnp.take_along_axis(longer, flat[None], 2)
        if position < known + length - 1:
            hidden, cache = decoder.extend(cache.rows(rows), alphabet[digit].ravel(), jnp.int32(position))
    return digits, np.asarray(score)


def _tree(decoder: Decoder, prompts, endings: Endings) -> Float[np.ndarray, "models n m"]:
    """Level by level; only prefixes that something follows are run through the model."""
    length, known = max(map(len, endings)), prompts.shape[1]
    hidden, cache = _read(decoder, prompts, length - 1)
    result = np.zeros((len(hidden), len(prompts), len(endings)))
    inner, sums = [()], np.zeros((len(hidden), len(prompts), 1))
    for depth in range(1, length + 1):
        reached = sorted({ending[:depth] for ending in endings if len(ending) >= depth})
        alphabet, letter = np.unique([prefix[-1] for prefix in reached], return_inverse=True)
        parent = np.array([inner.index(prefix[:-1]) for prefix in reached])
        logs = np.stack([decoder.log_likelihoods(states, alphabet) for states in hidden])
        sums = sums[..., parent] + logs.reshape(*sums.shape, -1)[..., parent, letter]
        for i, ending in enumerate(endings):
            if len(ending) == depth:
                result[..., i] = sums[..., reached.index(ending)]
        followed = {ending[:depth] for ending in endings if len(ending) > depth}
        keep = np.array([i for i, prefix in enumerate(reached) if prefix in followed], int)
        if len(keep):
            rows = _row_numbers(np.tile(parent[keep], (len(prompts), 1)), len(inner))
            tokens = np.tile([reached[i][-1] for i in keep], len(prompts))
            hidden, cache = decoder.extend(cache.rows(rows), tokens, jnp.int32(known + depth - 1))
        inner, sums = [reached[i] for i in keep], sums[..., keep]
    return result


def _row_numbers(parent: Int[np.ndarray, "n k"], each: int) -> Int[np.ndarray, "n*k"]:
    """Rows of parents, numbered within each target, where every target has `each` rows."""
    return (np.arange(len(parent))[:, None] * each + parent).ravel()
