"""Attacks with cached prefixes against the same attacks that read every text anew."""

import jax
import numpy as np
import pytest

from privacy_audit.attacks.secrets import cached
from privacy_audit.attacks.secrets.beam import beam_search
from privacy_audit.attacks.secrets.cached import cached_beam_search, cached_log_likelihoods
from privacy_audit.attacks.secrets.listed import log_likelihoods
from privacy_audit.train.language.bpe import Bytes
from privacy_audit.train.language.llama import Block, Shape, Weights
from privacy_audit.train.language.pretrained import Pretrained

SHAPE = Shape(
    vocab_size=256, context=32, blocks=3, width=24, hidden=20, heads=6, groups=2, base=500.0, epsilon=1e-5
)
PROMPTS = [f"{name}:" for name in ("ab", "cde", "xy", "z", "12")]
"""Of several lengths."""
CANDIDATES = ["123", "124", "1", "987", "98"]


def drawn(rng, *shape):
    return jax.numpy.asarray(rng.normal(size=shape) * shape[-2] ** -0.5 * 2, jax.numpy.float32)


@pytest.fixture(scope="module")
def pretrained():
    rng = np.random.default_rng(0)
    blocks, width, hidden = SHAPE.blocks, SHAPE.width, SHAPE.hidden
    ones = jax.numpy.ones((blocks, width))
    qkv = drawn(rng, blocks, width, (SHAPE.heads + 2 * SHAPE.groups) * SHAPE.head_width)
    out, gate_up = drawn(rng, blocks, width, width), drawn(rng, blocks, width, 2 * hidden)
    block = Block(ones, qkv, out, ones, gate_up, drawn(rng, blocks, hidden, width))
    return Pretrained(SHAPE, Weights(drawn(rng, 256, width), block, ones[0]), Bytes())


@pytest.fixture(scope="module")
def models(pretrained):
    """A base model and two that were moved away from it."""
    base = pretrained.language(2).params
    rng = np.random.default_rng(1)
    moved = [{name: p + 0.3 * drawn(rng, 1, *p.shape)[0] for name, p in base.items()} for _ in range(2)]
    return [base, *moved]


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(cached, "ROWS_AT_ONCE", 12)


def tokens(texts):
    return [Bytes().encode(text) for text in texts]


def test_lists_of_candidates(pretrained, models):
    expected = log_likelihoods(pretrained.language(2), models, PROMPTS, CANDIDATES)
    ours = cached_log_likelihoods(pretrained.decoder(models), tokens(PROMPTS), tokens(CANDIDATES))
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-4)
    assert np.ptp(expected) > 5


def test_beam_search(pretrained, models):
    expected = beam_search(pretrained.language(2), models[1:], PROMPTS, 3, beams=3)
    digits = np.array(Bytes().encode("0123456789"))
    ours = cached_beam_search(pretrained.decoder(models), tokens(PROMPTS), digits, 3, beams=3)
    np.testing.assert_array_equal(ours.digits, expected.digits)
    np.testing.assert_allclose(ours.score, expected.score, rtol=0, atol=1e-4)


def test_kept_tokens_are_the_model_given_one_of_them_follows(pretrained, models):
    """Likelihood ratios of the cut model are those of the whole one, renormalised over what was kept."""
    texts = [prompt + candidate for prompt in PROMPTS for candidate in CANDIDATES]
    small = pretrained.keeping(texts)
    assert small.tokenizer.vocab_size == len(set("".join(texts)))
    assert small.tokenizer.decode(small.tokenizer.encode("ab:12")) == "ab:12"
    rows = [[model.tokenizer.encode(text) for text in ("ab:123", "xy:987")] for model in (pretrained, small)]
    whole, cut = (
        jax.nn.log_softmax(model.language(2).model.apply(models[1], model.language(2).front(np.array(row))))
        for model, row in zip((pretrained, small), rows, strict=True)
    )
    kept = whole[..., np.array(small.tokenizer.kept)]
    np.testing.assert_allclose(cut, kept - jax.nn.logsumexp(kept, -1, keepdims=True), rtol=0, atol=1e-4)
    with pytest.raises(ValueError, match="text must be made of the tokens kept, got 'q' in 'aq'"):
        small.tokenizer.encode("aq")
