"""Candidates as a tree of tokens: what they share is run through the model once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int


class Tree(NamedTuple):
    """The rows that the model must see to know the likelihood of every candidate's tokens.

    A causal model that reads a row tells the next token's likelihood behind every prefix of it. So only the longest
    prefixes are rows, and candidates of one token need no row but the prompt.

    Attributes:
        rows: tokens behind the prompt, none the beginning of another.
        row, token, real: for each candidate and each of its tokens the row to read it from, the token, and whether
            there is one so far out. Token k is read k positions behind the prompt's last.
    """

    rows: tuple[tuple[int, ...], ...]
    row: Int[np.ndarray, "m length"]
    token: Int[np.ndarray, "m length"]
    real: Bool[np.ndarray, "m length"]


def token_tree(endings: Sequence[tuple[int, ...]]) -> Tree:
    """The tree of these candidates.

    >>> token_tree([(1, 2, 3), (1, 2, 4), (1, 5), (6,)]).rows
    ((1, 2),)
    """
    holder: dict[tuple[int, ...], int] = {}  # every prefix -> the row that begins with it
    rows: list[tuple[int, ...]] = []
    for prefix in sorted({ending[:-1] for ending in endings}, key=len, reverse=True):
        if prefix not in holder:
            holder |= {prefix[:k]: len(rows) for k in range(len(prefix) + 1) if prefix[:k] not in holder}
            rows.append(prefix)
    length = max(len(ending) for ending in endings)
    row, token = np.zeros((2, len(endings), length), np.int32)
    real = np.zeros((len(endings), length), bool)
    for i, ending in enumerate(endings):
        row[i, : len(ending)] = [holder[ending[:k]] for k in range(len(ending))]
        token[i, : len(ending)] = ending
        real[i, : len(ending)] = True
    return Tree(tuple(rows), row, token, real)
