"""Tokenizers that never merge digits: numbers are read digit by digit."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .interface import Tokenizer


@dataclass(frozen=True)
class DigitsApart:
    """Cuts a text around each of its digits, and encodes the pieces by `inner`.

    >>> from .bpe import Bytes
    >>> DigitsApart(Bytes()).decode(DigitsApart(Bytes()).encode("room 12"))
    'room 12'
    """

    inner: Tokenizer

    @property
    def vocab_size(self) -> int:
        """Number of tokens."""
        return self.inner.vocab_size

    def encode(self, text: str) -> list[int]:
        """Tokens of `text`."""
        return [token for piece in _pieces(text) for token in self.inner.encode(piece)]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of these tokens."""
        return self.inner.decode(tokens)


def _pieces(text: str) -> Iterator[str]:
    """Numbers of any script one character at a time, all else in runs."""
    for is_number, run in itertools.groupby(text, lambda c: unicodedata.category(c).startswith("N")):
        together = "".join(run)
        yield from together if is_number else [together]
