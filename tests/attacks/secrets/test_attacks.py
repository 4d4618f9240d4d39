"""Likelihoods and searches against the same things done one by one, and guesses against Bayes' rule."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_audit.attacks.secrets import listed
from privacy_audit.attacks.secrets.beam import beam_search
from privacy_audit.attacks.secrets.combine import COMBINE
from privacy_audit.attacks.secrets.guess import best, with_prior
from privacy_audit.attacks.secrets.listed import log_likelihoods
from privacy_audit.attacks.secrets.tree import token_tree
from privacy_audit.train.language import LanguageModel
from privacy_audit.train.language.bpe import Bytes
from privacy_audit.train.language.gpt2 import GPT2Config, gpt2
from privacy_audit.train.language.interface import whole

PROMPTS = ["a:", "bc:"]


@pytest.fixture(scope="module")
def language():
    model = gpt2(GPT2Config(256, context=12, width=16, blocks=1, heads=2, spread=0.5))
    return LanguageModel(whole, model, jax.jit(model.init)(jax.random.key(0)), Bytes(), 12)


@pytest.fixture(scope="module")
def other(language):
    return jax.jit(language.model.init)(jax.random.key(1))


def one_by_one(language, params, prompt, ending):
    """log Pr[ending | prompt], one token at a time."""
    apply = jax.jit(language.model.apply)
    tokens, total = language.tokenizer.encode(prompt), 0.0
    for token in language.tokenizer.encode(ending):
        padded = np.zeros((1, 12), np.int32)
        padded[0, : len(tokens)] = tokens
        logits = np.asarray(apply(params, jnp.asarray(padded)))[0, len(tokens) - 1]
        total += logits[token] - np.logaddexp.reduce(logits)
        tokens.append(token)
    return total


def test_a_lists_likelihoods_are_those_of_its_texts(language, other):
    candidates = ["x", "xy", "xyz", "ab", "zz", "xq"]
    found = log_likelihoods(language, [language.params, other], PROMPTS, candidates)
    expected = [
        [[one_by_one(language, params, prompt, c) for c in candidates] for prompt in PROMPTS]
        for params in (language.params, other)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.sets(st.text("abc", min_size=1, max_size=4).map(lambda t: tuple(t.encode())), min_size=1, max_size=8)
)
def test_every_prefix_is_in_the_row_it_is_read_from(endings):
    endings = sorted(endings)
    tree = token_tree(endings)
    for ending, row, token, real in zip(endings, tree.row, tree.token, tree.real, strict=True):
        assert tuple(token[real]) == ending
        assert all(tree.rows[r][:k] == ending[:k] for k, r in enumerate(row[real]))
    assert not any(a != b and b[: len(a)] == a for a, b in itertools.permutations(tree.rows, 2))


@pytest.mark.parametrize("seen", ["final", "sum", "max"])
def test_a_wide_beam_finds_the_best_number(language, other, seen):
    """Two digits, 100 numbers, 10 beams: nothing is lost."""
    third = jax.tree.map(lambda a, b: (a + b) / 2, language.params, other)
    found = beam_search(language, [third, other], PROMPTS, 2, beams=10, combine=COMBINE[seen])
    for i, prompt in enumerate(PROMPTS):
        ratios = np.array(
            [
                [
                    one_by_one(language, params, prompt, f"{n:02d}")
                    - one_by_one(language, language.params, prompt, f"{n:02d}")
                    for n in range(0, 100, 7 if seen != "final" else 1)
                ]
                for params in (third, other)
            ]
        )
        assert found.score[i, 0] >= np.max(COMBINE[seen](ratios)) - 1e-4
        best_number = "".join(map(str, found.digits[i, 0]))
        exact = [
            one_by_one(language, params, prompt, best_number)
            - one_by_one(language, language.params, prompt, best_number)
            for params in (third, other)
        ]
        np.testing.assert_allclose(found.score[i, 0], COMBINE[seen](np.array(exact)), atol=1e-4)


def test_beam_search_refuses_merged_digits(language):
    class Pairs(Bytes):
        def encode(self, text):
            return list(text.replace("12", "±").encode("latin-1"))

    with pytest.raises(ValueError, match="secret must be split into digits by the tokenizer"):
        beam_search(language._replace(tokenizer=Pairs()), [language.params], PROMPTS, 9)
    with pytest.raises(ValueError, match="texts must have at most 12 tokens, got 13"):
        beam_search(language, [language.params], ["abcd"], 9)


def test_beam_search_looks_behind_every_prompt(language):
    class Joined(Bytes):
        def encode(self, text):
            return list(text.replace("c:1", "c:±").encode("latin-1"))

    with pytest.raises(
        ValueError, match="secret must be split alike behind all prompts, got '1' behind 'a:' and 'bc:'"
    ):
        beam_search(language._replace(tokenizer=Joined()), [language.params], PROMPTS, 2)


def test_a_list_behind_like_prompts_is_made_a_tree_once(language, monkeypatch):
    built = []
    monkeypatch.setattr(listed, "token_tree", lambda endings: built.append(endings) or token_tree(endings))
    log_likelihoods(language, [language.params], ["a:", "b:", "c:"], ["x", "yz"])
    assert len(built) == 1


def test_with_prior_is_bayes_rule_for_gaussian_ratios():
    """Success of the fitted posterior against the exact one's, with 4000 targets; false alarm 1e-6.

    Strong traces are used as well as they can be, none leaves the prior, and a faint one does not fall below it.
    """
    generator = np.random.default_rng(0)
    p = np.array([0.2] + [0.8 / 29] * 29)
    for signal in (0.0, 1.0, 3.0, 6.0):
        secrets = generator.choice(30, 4000, p=p)
        ratios = generator.normal(size=(4000, 30))
        ratios[np.arange(4000), secrets] += signal
        exact = np.mean(best(np.log(p) + signal * ratios, 1)[:, 0] == secrets)
        ours = np.mean(best(with_prior(7 + 0.01 * ratios, p), 1)[:, 0] == secrets)
        assert ours > (0.2 if signal == 1 else exact) - 4.9 * np.sqrt(0.25 / 4000), signal


def test_a_candidate_that_moved_everywhere_is_no_trace():
    """What training did to one candidate behind all prompts, and how unevenly, leaves the prior's guess."""
    generator = np.random.default_rng(0)
    p = np.array([0.5] + [0.5 / 19] * 19)
    ratios = generator.normal(size=(200, 20))
    ratios[:, 0] = 30 * ratios[:, 0] - 100
    assert np.mean(best(with_prior(ratios, p), 1)[:, 0] == 0) > 0.95


def test_without_a_trace_the_guess_is_the_priors():
    ratios = np.zeros((3, 4))
    assert best(with_prior(ratios, np.array([0.1, 0.4, 0.2, 0.3])), 2).tolist() == [[1, 3]] * 3
