"""A vocabulary cut to the tokens that are needed: the head, most of a step's cost, then costs nothing.

Likelihoods are those of the model given that the next token is a kept one. Fine-tuning and attacks alike see this
smaller model, so privacy and attack are those of the same training run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .interface import Tokenizer


@dataclass(frozen=True)
class KeptTokens:
    """`inner` with its tokens `kept` numbered anew, in their order.

    >>> from .bpe import Bytes
    >>> KeptTokens(Bytes(), tuple(b"abc")).encode("cab")
    [2, 0, 1]
    """

    inner: Tokenizer
    kept: tuple[int, ...]

    @property
    def vocab_size(self) -> int:
        """Number of tokens kept."""
        return len(self.kept)

    def encode(self, text: str) -> list[int]:
        """Tokens of `text`.

        Raises:
            ValueError: `text` has a token that was not kept.
        """
        try:
            return [self._numbers[token] for token in self.inner.encode(text)]
        except KeyError as unknown:
            lost = self.inner.decode([unknown.args[0]])
            raise ValueError(f"text must be made of the tokens kept, got {lost!r} in {text!r}") from None

    @functools.cached_property
    def _numbers(self) -> dict[int, int]:
        return {token: i for i, token in enumerate(self.kept)}

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of these tokens."""
        return self.inner.decode([self.kept[int(token)] for token in tokens])


def tokens_of(tokenizer: Tokenizer, texts: Iterable[str]) -> tuple[int, ...]:
    """The tokens of these texts, each once, sorted."""
    return tuple(sorted({token for text in texts for token in tokenizer.encode(text)}))
