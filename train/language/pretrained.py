"""A Llama model as it was read from its file, and what is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..functional import Params
from .cached import Decoder, decoder
from .interface import LanguageModel, Tokenizer
from .last_blocks import last_blocks
from .llama import Shape, Weights
from .vocabulary import KeptTokens, tokens_of


class Pretrained(NamedTuple):
    """A model and its tokenizer."""

    shape: Shape
    weights: Weights
    tokenizer: Tokenizer

    def keeping(self, texts: Iterable[str]) -> Pretrained:
        """The model with a vocabulary of these texts' tokens alone.

        Args:
            texts: whole ones, prompts with their secrets: tokens depend on what stands beside them.
        """
        kept = tokens_of(self.tokenizer, texts)
        return Pretrained(
            self.shape._replace(vocab_size=len(kept)),
            self.weights._replace(embedding=self.weights.embedding[np.array(kept)]),
            KeptTokens(self.tokenizer, kept),
        )

    def language(self, trained_blocks: int) -> LanguageModel:
        """The model for fine-tuning its last `trained_blocks` blocks."""
        return last_blocks(self.shape, self.weights, self.tokenizer, trained_blocks)

    def decoder(self, models: Sequence[Params]) -> Decoder:
        """Several fine-tuned models token by token; `language(…).params` is the base model."""
        return decoder(self.shape, self.weights, models)
