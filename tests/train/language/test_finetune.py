"""Fine-tuning: which models are kept, and that a text without a loss leaves no trace."""

import jax
import numpy as np
import optax
import pytest

from privacy_audit.train.dpsgd import Plan
from privacy_audit.train.language import LanguageModel
from privacy_audit.train.language.bpe import Bytes
from privacy_audit.train.language.finetune import TrainingFailed, fine_tuning
from privacy_audit.train.language.gpt2 import GPT2Config, gpt2
from privacy_audit.train.language.interface import whole
from privacy_audit.train.language.texts import NO_LOSS, Texts, completions

PLAN = Plan(4, 2, 4, 1.0, 0.0, "replace_one")


@pytest.fixture(scope="module")
def language():
    model = gpt2(GPT2Config(256, context=8, width=8, blocks=1, heads=1))
    return LanguageModel(whole, model, jax.jit(model.init)(jax.random.key(0)), Bytes(), 8)


@pytest.fixture(scope="module")
def run(language):
    return fine_tuning(language, PLAN, optax.sgd(1.0), iterates=2)


@pytest.fixture(scope="module")
def texts():
    return completions(Bytes(), ["a:", "b:", "c:", "d:"], ["123", "456", "789", "000"], 4)


def test_a_text_without_a_loss_leaves_no_trace(run, texts):
    labels = texts.labels.copy()
    labels[2] = NO_LOSS
    changed = texts.tokens.copy()
    changed[2] = changed[0]
    ends = [run(jax.random.key(1), Texts(tokens, labels), 0.5).final for tokens in (texts.tokens, changed)]
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b), *ends)


def test_noise_is_an_argument_and_models_come_in_order(language, run, texts):
    first, last = run(jax.random.key(1), texts, 0.0).each()
    noisy = run(jax.random.key(1), texts, 1.0).final

    def moved(params):
        return sum(float(np.sum((params[name] - p) ** 2)) for name, p in language.params.items()) ** 0.5

    assert (
        0 < moved(first) < moved(last) < moved(noisy) / 3
    )  # noise of σC a coordinate dwarfs gradients of at most C


def test_refuses_what_does_not_fit(language, run, texts):
    with pytest.raises(ValueError, match=r"iterates must divide the number of steps \(4\), got 3"):
        fine_tuning(language, PLAN, optax.sgd(1.0), iterates=3)
    with pytest.raises(ValueError, match="texts must be the plan's 4, got 3"):
        run(jax.random.key(0), Texts(texts.tokens[:3], texts.labels[:3]), 0.0)


def test_a_gradient_that_is_not_finite_is_one_line(language, texts):
    name = next(iter(language.params))
    broken = language._replace(params=language.params | {name: language.params[name] * float("nan")})
    with pytest.raises(
        TrainingFailed, match=r"training failed: [1-9]\d* gradients were not finite, a batch always"
    ):
        fine_tuning(broken, PLAN, optax.sgd(1.0))(jax.random.key(0), texts, 0.0)
    assert issubclass(TrainingFailed, ValueError)  # what command lines show in one line
