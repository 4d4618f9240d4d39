"""The small GPT-2 that needs no network: trained from scratch on the text that Python itself ships.

That text is the language reference and library topics behind Python's `help()` (module pydoc_data, PSF licence), 0.46
million characters of English prose with examples; a tenth is held out for the perplexity. Beside it the model learns
made-up public records of given forms, so that it knows what will later surround secrets: from prose alone, fine-tuning
takes several times as long to memorise anything. Some records are repeated, as many are new in every step, so that the
model stays undecided about people that it has not met.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pathlib
import pydoc_data.topics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..functional import Model, Params
from .bpe import Bytes
from .gpt2 import GPT2Config, gpt2
from .interface import LanguageModel, whole
from .texts import Texts, completions, next_token_loss, passages

HELD_OUT = 0.1
ROWS_AT_ONCE = 8
"""Passages whose logits are held together: those of a large vocabulary need much memory."""

FIRST_PUBLIC, LETTERS = 0x370, 0x800 - 0x370  # all of two bytes
"""Letters that the public records are about: the first one, and how many there are."""

RECORD_TOKENS = 16


@dataclass(frozen=True)
class SmallGPT2:
    """How the small model is made; the defaults give one of 1.08 million weights.

    Attributes:
        blocks, width, heads, context: sizes; tokens are bytes.
        steps: AdamW steps on `batch` rows of `context` tokens; the learning rate rises for a tenth, then falls.
        records: how many made-up public records of each form are repeated; a step has `batch`, half of them new.
    """

    blocks: int = 2
    width: int = 200
    heads: int = 4
    context: int = 64
    steps: int = 400
    batch: int = 24
    records: int = 200
    learning_rate: float = 3e-3
    seed: int = 0

    def __post_init__(self):
        if self.steps < 2:
            raise ValueError(f"steps must be >= 2, got {self.steps}")

    @property
    def network(self) -> GPT2Config:
        """The sizes as GPT-2 names them.

        Weights are drawn with a spread of 1/√width: GPT-2's 0.02 is right for its width, and leaves a narrow network
        so nearly linear that it memorises ten times as slowly.
        """
        sizes = (Bytes.vocab_size, self.context, self.width, self.blocks, self.heads)
        return GPT2Config(*sizes, spread=self.width**-0.5)


class Form(NamedTuple):
    """How records of one kind look.

    Attributes:
        prompt: what comes first, with `{}` for a letter that stands for a person.
        draw: so many endings.
    """

    prompt: str
    draw: Callable[[np.random.Generator, int], Sequence[str]]


def nine_digits(generator: np.random.Generator, count: int) -> list[str]:
    """Uniform numbers."""
    return [f"{number:09d}" for number in generator.integers(0, 10**9, count)]


DIGITS_ONLY = (Form("{}:", nine_digits),)


def public_text() -> tuple[str, str]:
    """The training and the held-out part of the text, cut between topics."""
    topics = [pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)]
    first = math.ceil(len(topics) * (1 - HELD_OUT))
    training, held_out = "\n".join(topics[:first]), "\n".join(topics[first:])
    return training, held_out


def small_gpt2(
    making: SmallGPT2 | None = None,
    folder: pathlib.Path | None = None,
    say: Callable[[str], None] = lambda line: None,
    forms: Sequence[Form] = DIGITS_ONLY,
) -> LanguageModel:
    """Trains the small model, or takes it from `folder` where the same one was trained before.

    Args:
        making: how it is made.
        folder: where its weights are kept; nowhere when left out.
        say: hears of the progress.
        forms: of the public records.
    """
    making = making or SmallGPT2()
    model, path = gpt2(making.network), None
    if folder is not None:
        path = pathlib.Path(folder) / f"small_gpt2-{_fingerprint(making, forms)}.npz"
    if path is not None and path.is_file():
        with np.load(path) as stored:
            params = {name: jnp.asarray(stored[name]) for name in stored.files}
    else:
        params = _pretrained(model, making, forms, say)
        if path is not None:
            _write(path, params)
    return LanguageModel(whole, model, params, Bytes(), making.context)


def perplexity(language: LanguageModel, params: Params, text: str, rows: int = 256) -> float:
    """Perplexity of `text`, per token, in passages as long as the model's context (the first `rows` of them)."""
    held_out = passages(language.tokenizer, text, language.context)
    count = min(rows, len(held_out.tokens))
    at_once = min(ROWS_AT_ONCE, count)

    @jax.jit
    def losses(params, inputs, labels):
        return jax.vmap(next_token_loss)(language.model.apply(params, inputs), labels)

    parts = [slice(i, i + at_once) for i in range(0, count - at_once + 1, at_once)]
    found = [losses(params, language.front(held_out.tokens[p]), held_out.labels[p]) for p in parts]
    return float(np.exp(np.mean(found)))


def _pretrained(model: Model, making: SmallGPT2, forms: Sequence[Form], say: Callable[[str], None]) -> Params:
    generator = np.random.default_rng(making.seed)
    texts = passages(Bytes(), public_text()[0], making.context)
    known = [_records(form, generator, range(making.records), making.context) for form in forms]
    share = max(1, making.batch // (2 * len(forms)))
    rises = max(1, making.steps // 10)
    rate = optax.warmup_cosine_decay_schedule(0, making.learning_rate, rises, making.steps)
    optimizer = optax.adamw(rate, weight_decay=0.01)
    params = jax.jit(model.init)(jax.random.key(making.seed))
    state = optimizer.init(params)
    step = _step(model, optimizer)
    for i in range(making.steps):
        records = [_drawn(generator, rows, share) for rows in known]
        for form in forms:
            met = generator.integers(making.records, LETTERS, share)
            records.append(_records(form, generator, met, making.context))
        drawn = _drawn(generator, texts, making.batch)
        params, state, loss = step(params, state, drawn, _together(records))
        if (i + 1) % 100 == 0:
            say(f"pre-training: step {i + 1} of {making.steps}, loss {float(loss):.2f} nats a byte")
    return params


def _records(form: Form, generator: np.random.Generator, letters: Sequence[int], context: int) -> Texts:
    """One a letter, counted from the Greek alphabet on; the endings have a loss."""
    prompts = [form.prompt.format(chr(FIRST_PUBLIC + letter)) for letter in letters]
    return completions(Bytes(), prompts, form.draw(generator, len(prompts)), min(context, RECORD_TOKENS))


def _together(parts: Sequence[Texts]) -> Texts:
    return Texts(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _drawn(generator: np.random.Generator, texts: Texts, count: int) -> Texts:
    rows = generator.integers(0, len(texts.tokens), count)
    return Texts(texts.tokens[rows], texts.labels[rows])


def _step(model: Model, optimizer: optax.GradientTransformation):
    def mean_loss(params, texts: Texts):
        return jnp.mean(jax.vmap(next_token_loss)(model.apply(params, texts.tokens), texts.labels))

    def both(params, texts: Texts, records: Texts):
        loss = mean_loss(params, texts)
        return loss + mean_loss(params, records), loss

    @jax.jit
    def step(params, state, texts: Texts, records: Texts):
        (_, loss), gradient = jax.value_and_grad(both, has_aux=True)(params, texts, records)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, loss

    return step


def _fingerprint(making: SmallGPT2, forms: Sequence[Form]) -> str:
    """Of all that the weights depend on; a form is known by what it draws."""
    drawn = [(form.prompt, list(form.draw(np.random.default_rng(0), 200))) for form in forms]
    made_from = json.dumps([asdict(making), drawn], sort_keys=True) + public_text()[0]
    return hashlib.sha256(made_from.encode()).hexdigest()[:12]


def _write(path: pathlib.Path, params: Params) -> None:
    """Aside first, then renamed: no half-written weights are ever found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(suffix=".npz", dir=path.parent)
    os.close(handle)
    try:
        np.savez(aside, **params)
        os.replace(aside, path)
    finally:
        pathlib.Path(aside).unlink(missing_ok=True)
