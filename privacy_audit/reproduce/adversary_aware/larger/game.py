"""One kind of secret: canaries drawn, the model fine-tuned once at each ε, secrets guessed, guesses counted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import optax
from jaxtyping import Array, Int, Key

from privacy_audit.attacks.secrets.beam import digit_tokens
from privacy_audit.attacks.secrets.cached import cached_beam_search, cached_log_likelihoods
from privacy_audit.attacks.secrets.guess import best, with_prior
from privacy_audit.attacks.secrets.priors import DIGITS, KINDS, SecretPrior, people
from privacy_audit.bounds import max_successes, noise_multiplier_for_epsilon
from privacy_audit.bounds.profiles import DPSGD, REPLACE_ONE
from privacy_audit.reproduce.adversary_aware.canaries.game import key_of
from privacy_audit.reproduce.adversary_aware.canaries.limits import interval
from privacy_audit.reproduce.adversary_aware.larger.settings import Run, Settings
from privacy_audit.train.dpsgd import Plan
from privacy_audit.train.functional import Params
from privacy_audit.train.language.finetune import fine_tuning
from privacy_audit.train.language.pretrained import Pretrained
from privacy_audit.train.language.texts import completions, shared_endings

Say = Callable[[str], None]


class Canaries(NamedTuple):
    """What is planted, and the model cut to what it needs.

    Attributes:
        prompts: one a target.
        secrets: what follows each.
    """

    prior: SecretPrior
    prompts: list[str]
    secrets: list[str]
    pretrained: Pretrained

    @property
    def endings(self) -> list[str]:
        """The secrets as they stand in the texts."""
        return [self.prior.ending.format(secret) for secret in self.secrets]


def all_priors() -> dict[str, SecretPrior]:
    """By kind, whichever of them are played.

    Raises:
        ImportError: a list is not installed, naming the extra.
    """
    return {kind: make() for kind, make in KINDS.items()}


def plant(kind: str, whole: Pretrained, targets: int, seed: int) -> Canaries:
    """Draws the secrets of `targets` people."""
    prior = KINDS[kind]()
    secrets = prior.draw(np.random.default_rng([seed, sorted(KINDS).index(kind)]), targets)
    prompts = [prior.prompt.format(who) for who in people(targets)]
    followers = [prior.ending.format(candidate) for candidate in prior.candidates or ("0123456789",)]
    texts = [prompt + follower for prompt in prompts for follower in followers]
    return Canaries(prior, prompts, secrets, whole.keeping([*prompts, *texts]))


def play(kind: str, whole: Pretrained, settings: Settings, seed: int, say: Say) -> dict[str, Any]:
    """Plays all ε of one kind; lists of candidates are read once for all of them."""
    canaries = plant(kind, whole, settings.targets, seed)
    tuned, entries = [], []
    for run in settings.runs:
        sigma = noise_for(run, settings)
        say(f"{kind}, ε = {run.epsilon:g}: {run.steps} steps at σ = {sigma:.3f} …")
        began = time.monotonic()
        tuned.append(fine_tune(canaries, sigma, run, settings, key_of(seed, f"{kind}-eps{run.epsilon:g}")))
        entry = run._asdict() | {"epsilon": f"{run.epsilon:g}", "noise_multiplier": sigma}
        entries.append(entry | {"seconds_training": round(time.monotonic() - began, 1)})
    say(f"{kind}: attack …")
    began = time.monotonic()
    guesses = (
        guess_numbers(canaries, tuned, settings)
        if kind == "numbers"
        else guess_listed(canaries, tuned, settings)
    )
    for run, entry, guessed in zip(settings.runs, entries, guesses, strict=True):
        entry |= counted(canaries, guessed, bound(canaries.prior, run, settings), settings.confidence)
        say(
            f"{kind}, ε = {run.epsilon:g}: {entry['recovered']} of {settings.targets}, bound {entry['bound']}"
        )
    return {
        "kind": kind,
        "kappa": canaries.prior.bound_prior().largest,
        "candidates": len(canaries.prior.candidates) or 10**DIGITS,
        "tokens_kept": canaries.pretrained.tokenizer.vocab_size,
        "runs": entries,
        "seconds_attack": round(time.monotonic() - began, 1),
    }


def noise_for(run: Run, settings: Settings) -> float:
    """σ that keeps all steps within ε under replace-one, as the game substitutes secrets; 0 for ε = ∞."""
    if math.isinf(run.epsilon):
        return 0.0
    return noise_multiplier_for_epsilon(run.epsilon, settings.delta, 1.0, run.steps, adjacency=REPLACE_ONE)


def fine_tune(canaries: Canaries, sigma: float, run: Run, settings: Settings, key: Key[Array, ""]) -> Params:
    """The weights that are released."""
    language = canaries.pretrained.language(settings.trained_blocks)
    encode = language.tokenizer.encode
    width = max(len(encode(p + e)) for p, e in zip(canaries.prompts, canaries.endings, strict=True))
    texts = completions(language.tokenizer, canaries.prompts, canaries.endings, width)
    plan = Plan(settings.targets, settings.targets, run.steps, settings.clipping_norm, sigma, REPLACE_ONE)
    schedule = optax.warmup_constant_schedule(0.0, run.learning_rate, settings.warmup)
    optimizer = optax.adam(schedule, b2=0.99)
    return fine_tuning(language, plan, optimizer)(key, texts, sigma).final


def guess_numbers(canaries: Canaries, tuned: Sequence[Params], settings: Settings) -> list[list[str]]:
    """The best number for each target, under each model."""
    language = canaries.pretrained.language(settings.trained_blocks)
    alphabet = digit_tokens(language, canaries.prompts, DIGITS)
    starts = [language.tokenizer.encode(prompt) for prompt in canaries.prompts]
    guesses = []
    for params in tuned:
        decoder = canaries.pretrained.decoder([language.params, params])
        found = cached_beam_search(decoder, starts, alphabet, DIGITS, beams=settings.beams)
        guesses.append(["".join(map(str, digits[0])) for digits in found.digits])
    return guesses


def guess_listed(canaries: Canaries, tuned: Sequence[Params], settings: Settings) -> list[list[str]]:
    """The best candidate of the list for each target, under each model, its prior taken into account."""
    language = canaries.pretrained.language(settings.trained_blocks)
    prior, tokenizer = canaries.prior, language.tokenizer
    starts = [tokenizer.encode(prompt) for prompt in canaries.prompts]
    endings = shared_endings(tokenizer, canaries.prompts, [prior.ending.format(c) for c in prior.candidates])
    decoder = canaries.pretrained.decoder([language.params, *tuned])
    base, *logs = cached_log_likelihoods(decoder, starts, endings)
    return [
        [prior.candidates[i] for i in best(with_prior(log - base, prior.probabilities), 1)[:, 0]]
        for log in logs
    ]


def counted(canaries: Canaries, guesses: Sequence[str], most: int, confidence: float) -> dict[str, Any]:
    """How many guesses are right, with its interval, beside what the bound allows."""
    hits: Int[np.ndarray, "n"] = np.array([a == b for a, b in zip(guesses, canaries.secrets, strict=True)])
    likeliest = next(iter(by_probability(canaries.prior)), None)
    return {
        "recovered": int(hits.sum()),
        "interval": [len(hits) * end for end in interval(int(hits.sum()), len(hits), confidence)],
        "by_prior_alone": sum(secret == likeliest for secret in canaries.secrets),
        "bound": most,
    }


def by_probability(prior: SecretPrior) -> list[str]:
    """The candidates of a list, the likeliest first; nothing where all numbers are equally likely."""
    return [prior.candidates[i] for i in np.argsort(-prior.probabilities, kind="stable")]


def bound(prior: SecretPrior, run: Run, settings: Settings) -> int:
    """Most secrets that any attack recovers at this confidence."""
    if math.isinf(run.epsilon):
        return settings.targets
    profile = DPSGD(noise_for(run, settings), 1.0, run.steps, adjacency=REPLACE_ONE)
    return max_successes(profile, [prior.bound_prior()] * settings.targets, settings.confidence)
