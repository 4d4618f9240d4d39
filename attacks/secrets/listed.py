"""Likelihoods of all candidates of a list, behind every target's prompt, under several models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...train.functional import Params
from ...train.language import LanguageModel
from ...train.language.texts import ending_tokens
from .tree import Tree, token_tree


def log_likelihoods(
    language: LanguageModel, models: Sequence[Params], prompts: Sequence[str], candidates: Sequence[str]
) -> Float[np.ndarray, "models n m"]:
    """log Pr[candidate | prompt] under each model, in nats.

    Args:
        models: parameters of `language.model`.
        prompts: one a target.
        candidates: what may follow.

    Raises:
        ValueError: the tokenizer splits a candidate otherwise than behind its prompt, or a text exceeds the context.
    """
    encode = language.tokenizer.encode
    starts = [tuple(encode(prompt)) for prompt in prompts]
    trees: dict[tuple, Tree] = {}
    chosen = []
    for prompt in prompts:
        endings = tuple(tuple(ending_tokens(language.tokenizer, prompt, c)) for c in candidates)
        if endings not in trees:
            trees[endings] = token_tree(endings)
        chosen.append(trees[endings])
    width = max(len(start) + max(map(len, tree.rows)) for start, tree in zip(starts, chosen, strict=True))
    if width > language.context:
        raise ValueError(f"texts must have at most {language.context} tokens, got {width}")
    height = max(len(tree.rows) for tree in trees.values())
    result = np.empty((len(models), len(prompts), len(candidates)))
    for i, (start, tree) in enumerate(zip(starts, chosen, strict=True)):
        inputs = language.front(jnp.asarray(_rows(start, tree, height, width)))
        for j, params in enumerate(models):
            result[j, i] = _read(
                language.model.apply, params, inputs, len(start) - 1, tree.row, tree.token, tree.real
            )
    return result


def _rows(start: tuple[int, ...], tree: Tree, height: int, width: int) -> np.ndarray:
    rows = np.zeros((height, width), np.int32)
    rows[:, : len(start)] = start
    for i, row in enumerate(tree.rows):
        rows[i, len(start) : len(start) + len(row)] = row
    return rows


@functools.partial(jax.jit, static_argnums=0)
def _read(apply: Callable, params, inputs, last, row, token, real) -> Float[Array, "m"]:
    """One program a model, however many games read it."""
    logs = jax.nn.log_softmax(apply(params, inputs))
    position = last + jnp.arange(token.shape[1])
    return jnp.sum(jnp.where(real, logs[row, position, token], 0), axis=1)
