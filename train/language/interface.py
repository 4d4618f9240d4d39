"""What fine-tuning and the attacks need of a language model: five things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from jaxtyping import Array, Int, Num

from ..functional import Model, Params


class Tokenizer(Protocol):
    """Text to numbers and back; `decode(encode(text)) == text` for every text."""

    @property
    def vocab_size(self) -> int: ...

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> str: ...


class LanguageModel(NamedTuple):
    """A pre-trained causal language model, split into what stays and what is fine-tuned.

    A batch of texts is `[b, t]`, t at most `context`, filled up at the end with token 0: the model is causal, so what
    follows a position cannot change it. The label of position i is token i + 1, or -1 where no loss is taken.

    Attributes:
        front: the frozen part in front of the trained layers, texts -> inputs of `model`; computed once a text before
            fine-tuning, and once a candidate in attacks. It is the identity where everything is trained, the hidden
            states before the first trained block where the last blocks are. Row i depends on text i alone.
        model: the trained part; `apply(params, inputs)` gives logits `[b, t, vocab_size]` of the next token at every
            position. Its module is an Objax Sequential without shared weights, so that book-keeping can train it.
        params: the pre-trained weights of `model`, where fine-tuning starts; also the base model of the attacks.
        tokenizer: belongs to the weights.
        context: largest number of tokens in a text.
    """

    front: Callable[[Int[Array, "b t"]], Num[Array, "b ..."]]
    model: Model
    params: Params
    tokenizer: Tokenizer
    context: int


def whole(tokens: Int[Array, "b t"]) -> Int[Array, "b t"]:
    """The `front` of a model all of which is trained: nothing."""
    return tokens
