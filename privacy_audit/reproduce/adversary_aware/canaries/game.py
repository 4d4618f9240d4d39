"""One game: secrets are drawn, a model is fine-tuned on them, they are guessed, the guesses are counted."""

from __future__ import annotations

import math
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
import optax
from jaxtyping import Array, Key

from privacy_audit.attacks.secrets.beam import beam_search
from privacy_audit.attacks.secrets.combine import COMBINE
from privacy_audit.attacks.secrets.guess import best, with_prior
from privacy_audit.attacks.secrets.listed import log_likelihoods
from privacy_audit.attacks.secrets.priors import DIGITS, SecretPrior, names, numbers, passwords
from privacy_audit.bounds import noise_multiplier_for_epsilon
from privacy_audit.bounds.profiles import DPSGD
from privacy_audit.reproduce.adversary_aware.canaries.settings import FIRST_LETTER, MARKS, Settings
from privacy_audit.train.dpsgd import Plan
from privacy_audit.train.functional import Params
from privacy_audit.train.language import LanguageModel
from privacy_audit.train.language.finetune import FineTune, Iterates, fine_tuning
from privacy_audit.train.language.texts import NO_LOSS, Texts, completions, ending_tokens

Guesses = dict[str, list[list[str]]]
"""attack -> for each target its guesses, best first."""


@dataclass(frozen=True)
class Cell:
    """A kind of secret at a promised ε."""

    kind: str
    epsilon: float

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.kind}-eps{self.epsilon:g}"


def all_cells(settings: Settings) -> list[Cell]:
    """In the order in which they are played: the run without noise first, since it shows whether attacks work."""
    ordered = sorted(settings.epsilons, reverse=True)
    return [Cell(kind, epsilon) for epsilon in ordered for kind in settings.kinds]


@dataclass(frozen=True)
class Table:
    """What all games share: the language model and one program that fine-tunes it on secrets of any kind.

    Attributes:
        priors: of each kind.
        width: number of tokens of a row, the longest canary's of all kinds.
    """

    language: LanguageModel
    settings: Settings
    priors: Mapping[str, SecretPrior]
    width: int
    fine_tune: FineTune

    @classmethod
    def laid(cls, language: LanguageModel, settings: Settings) -> Table:
        """Compiles nothing yet; all secrets fit the width, so that one program trains them all.

        Raises:
            ValueError: the tokenizer splits a candidate otherwise than behind its prompt.
        """
        priors = priors_of(settings)
        letters = people(settings.targets)
        width = max(_longest(language, prior, letters) for prior in priors.values()) - 1
        optimizer = optax.adam(
            optax.warmup_cosine_decay_schedule(
                0, settings.learning_rate, max(1, settings.steps // 12), settings.steps
            )
        )
        tune = fine_tuning(language, plan_of(settings, 0.0), optimizer, settings.iterates)
        return cls(language, settings, priors, width, tune)


def priors_of(settings: Settings) -> dict[str, SecretPrior]:
    """By kind, each with a mark of its own between person and secret.

    Raises:
        ImportError: a list is not installed, naming the extra.
    """
    makers = {"numbers": numbers, "passwords": passwords, "names": lambda: names(settings.names)}
    return {kind: replace(makers[kind](), prompt=MARKS[kind]) for kind in settings.kinds}


def people(count: int) -> list[str]:
    """Whom the canaries are about: one letter each, rare in the public text."""
    return [chr(FIRST_LETTER + i) for i in range(count)]


def plan_of(settings: Settings, noise_multiplier: float) -> Plan:
    """DP-SGD on the canaries."""
    return Plan(
        settings.targets,
        settings.batch_size,
        settings.steps,
        settings.clipping_norm,
        noise_multiplier,
        "replace_one",
    )


def noise_for(settings: Settings, epsilon: float) -> float:
    """σ that keeps ε under replace-one; 0 at ε = ∞."""
    if math.isinf(epsilon):
        return 0.0
    rate = settings.batch_size / settings.targets
    return noise_multiplier_for_epsilon(
        epsilon, settings.delta, rate, settings.steps, adjacency="replace_one"
    )


def profile_of(settings: Settings, noise_multiplier: float, adjacency: str) -> DPSGD:
    """What these steps promise."""
    rate = settings.batch_size / settings.targets
    return DPSGD(noise_multiplier, rate, settings.steps, adjacency=adjacency)


def play(table: Table, cell: Cell, seed: int) -> dict[str, Any]:
    """The game's record but for its bounds: what was drawn, what was guessed, how long it took."""
    began = time.monotonic()
    settings, prior = table.settings, table.priors[cell.kind]
    generator = np.random.default_rng([seed, *cell.name.encode()])
    secrets = prior.draw(generator, settings.targets)
    sigma = noise_for(settings, cell.epsilon)
    seen = train(table, prior, secrets, np.ones(settings.targets, bool), sigma, key_of(seed, cell.name))
    trained = time.monotonic()
    guesses = attack(table, prior, seen)
    found = {name: found_at(some, secrets, max(settings.guesses)) for name, some in guesses.items()}
    return {
        "kind": cell.kind,
        "epsilon": f"{cell.epsilon:g}",
        "noise_multiplier": sigma,
        "secrets": secrets,
        "guesses": guesses,
        "found_at": found,
        "hits": {name: {str(k): sum(some[:k]) for k in settings.guesses} for name, some in found.items()},
        "seconds_training": round(trained - began, 1),
        "seconds_attack": round(time.monotonic() - trained, 1),
    }


def train(
    table: Table, prior: SecretPrior, secrets: Sequence[str], included: np.ndarray, sigma: float, key
) -> Iterates:
    """Fine-tunes on the canaries that are included; the others have no loss, hence no gradient."""
    prompts, endings = texts_of(prior, len(secrets)), [prior.ending.format(secret) for secret in secrets]
    texts = completions(table.language.tokenizer, prompts, endings, table.width)
    labels = np.where(included[:, None], texts.labels, NO_LOSS)
    return table.fine_tune(key, Texts(texts.tokens, labels), sigma)


def texts_of(prior: SecretPrior, count: int) -> list[str]:
    """The prompts."""
    return [prior.prompt.format(letter) for letter in people(count)]


def attack(table: Table, prior: SecretPrior, seen: Iterates) -> Guesses:
    """Every attack's guesses."""
    models = seen.each()
    if prior.candidates:
        return _listed(table, prior, models)
    return _searched(table, prior, models)


def found_at(guesses: list[list[str]], secrets: Sequence[str], most: int) -> list[int]:
    """How many secrets are the first guess, how many the second, and so on.

    >>> found_at([["a", "b"], ["b", "a"], ["a", "c"]], ["a", "a", "b"], 2)
    [1, 1]
    """
    places = [some.index(secret) for some, secret in zip(guesses, secrets, strict=True) if secret in some]
    return [places.count(place) for place in range(most)]


def best_use(attacks: Container[str], seen: str) -> str:
    """The attack on what is seen that uses the prior, where there is one to use.

    >>> best_use(("sum, ratio", "sum, prior"), "sum"), best_use(("sum, ratio",), "sum")
    ('sum, prior', 'sum, ratio')
    """
    with_list = f"{seen}, prior"
    return with_list if with_list in attacks else f"{seen}, ratio"


def log_ratios(table: Table, prior: SecretPrior, models: Sequence[Params]) -> np.ndarray:
    """log Pr[candidate | prompt] under each model minus that under the base model, `[models, n, m]`."""
    prompts = texts_of(prior, table.settings.targets)
    endings = [prior.ending.format(candidate) for candidate in prior.candidates]
    logs = log_likelihoods(table.language, [table.language.params, *models], prompts, endings)
    return logs[1:] - logs[0]


def _listed(table: Table, prior: SecretPrior, models: Sequence[Params]) -> Guesses:
    """Candidates of a list, by ratio alone and with the prior, by what is seen."""
    ratios, most = log_ratios(table, prior, models), max(table.settings.guesses)
    found = {}
    for name, combine in COMBINE.items():
        combined = combine(ratios)
        for way, scores in (("ratio", combined), ("prior", with_prior(combined, prior.probabilities))):
            found[f"{name}, {way}"] = [[prior.candidates[i] for i in row] for row in best(scores, most)]
    return found


def _searched(table: Table, prior: SecretPrior, models: Sequence[Params]) -> Guesses:
    """Numbers by beam search; their prior is uniform, so the ratio is all there is."""
    found = {}
    prompts, most = texts_of(prior, table.settings.targets), max(table.settings.guesses)
    for name, combine in COMBINE.items():
        used = models[-1:] if name == "final" else models
        ended = beam_search(
            table.language, used, prompts, DIGITS, beams=table.settings.beams, combine=combine
        )
        found[f"{name}, ratio"] = [["".join(map(str, d)) for d in row[:most]] for row in ended.digits]
    return found


def _longest(language: LanguageModel, prior: SecretPrior, letters: Sequence[str]) -> int:
    """Tokens of the longest canary; every candidate is tried behind every prompt."""
    candidates = prior.candidates or ("0123456789"[:DIGITS],)
    return max(
        len(language.tokenizer.encode(prompt)) + len(ending_tokens(language.tokenizer, prompt, ending))
        for prompt in (prior.prompt.format(letter) for letter in letters)
        for ending in (prior.ending.format(candidate) for candidate in candidates)
    )


def key_of(seed: int, name: str) -> Key[Array, ""]:
    """The randomness of one training, another for every name."""
    key = jax.random.key(seed)
    for byte in name.encode():
        key = jax.random.fold_in(key, byte)
    return key
