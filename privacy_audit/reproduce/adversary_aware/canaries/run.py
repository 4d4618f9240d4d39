"""Plays the games one after the other, one file each; a run that is stopped goes on from there."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from etils import epath

from privacy_audit.attacks.secrets.priors import SecretPrior
from privacy_audit.estimate.result import finite_or_none
from privacy_audit.report.document import hardware, versions
from privacy_audit.reproduce.adversary_aware.canaries.game import (
    Cell,
    Table,
    all_cells,
    play,
    priors_of,
    texts_of,
)
from privacy_audit.reproduce.adversary_aware.canaries.joined import join, name_of
from privacy_audit.reproduce.adversary_aware.canaries.limits import interval, limits, lower_bound
from privacy_audit.reproduce.adversary_aware.canaries.settings import OURS, Settings
from privacy_audit.reproduce.adversary_aware.stored import described, hash_of_arrays, identity_of, kept
from privacy_audit.reproduce.adversary_aware.tightness.gaussian import SHIFTS, curve
from privacy_audit.train.language import LanguageModel
from privacy_audit.train.language.digits import DigitsApart
from privacy_audit.train.language.published import find_gpt2, load_gpt2
from privacy_audit.train.language.small import Form, perplexity, public_text, small_gpt2

WHAT = "games of these settings"

SCHEMA_VERSION = 1
JOINED = "names"
"""The kind of secret in the joined runs."""
IN_FILES_ALONE = ("secrets", "guesses")
"""What the files of the games hold and the results leave out, where counts stand for it."""

Say = Callable[[str], None]


def run(settings: Settings, out: epath.Path, seed: int, say: Say) -> dict[str, Any]:
    """Plays what `out` does not hold yet.

    Returns:
        Every game with the settings, versions and hardware, as strict JSON values.

    Raises:
        ImportError: a list or a package is not installed, naming the extra.
        ValueError: a candidate is split otherwise than behind its prompt, a model folder lacks something, or `out`
            holds games of other settings, lists or base weights; no game is written then.
        TrainingFailed: a gradient was not finite.
    """
    began = time.monotonic()
    out = epath.Path(out)
    language = language_of(settings, out, say)
    return play_all(language, settings, out, seed, say) | {
        "model": {
            "weights": sum(leaf.size for leaf in jax.tree.leaves(language.params)),
            "perplexity": perplexity(language, language.params, public_text()[1], rows=64),
            "making": dataclasses.asdict(settings.model) if settings.model else settings.source,
        },
        "seconds_this_time": round(time.monotonic() - began, 1),
    }


def play_all(
    language: LanguageModel, settings: Settings, out: epath.Path, seed: int, say: Say
) -> dict[str, Any]:
    """The games of any language model."""
    table = Table.laid(language, settings)
    cells = {cell.name: functools.partial(_game, table, cell, seed) for cell in all_cells(settings)}
    joined = {}
    if JOINED in settings.kinds:
        joined = {name_of(e): functools.partial(join, table, JOINED, e, seed) for e in settings.joined}
    games = kept(out, identity_of_games(table, seed), WHAT, cells | joined, say)
    return finite_or_none(
        {
            "schema_version": SCHEMA_VERSION,
            "paper": "arXiv 2507.08158 (U)",
            "settings": _plain(settings),
            "ours": OURS,
            "seed": seed,
            "cells": {name: _counts(games[name]) for name in cells},
            "joined": {name: games[name] for name in joined},
            "curves": _curves(table),
            "seconds": round(sum(game["seconds"] for game in games.values()), 1),
            "versions": versions(),
            "hardware": hardware(),
        }
    )


def _counts(game: dict[str, Any]) -> dict[str, Any]:
    """Without what only the game's file holds."""
    return {key: value for key, value in game.items() if key not in IN_FILES_ALONE}


def _curves(table: Table) -> dict[str, Any]:
    """The idealised Gaussian and the bound on its mean, by kind and adjacency."""
    epsilons = np.geomspace(1.0, 100.0, table.settings.points)
    return {
        kind: {adjacency: curve(prior, adjacency, epsilons) for adjacency in SHIFTS}
        for kind, prior in table.priors.items()
    }


def language_of(settings: Settings, out: epath.Path, say: Say) -> LanguageModel:
    """The model of these settings; the small one is kept in `out`."""
    if settings.model is None:
        published = load_gpt2(settings.source)
        return published._replace(
            tokenizer=DigitsApart(published.tokenizer)
        )  # numbers are searched digit by digit
    return small_gpt2(settings.model, out, say, [form_of(prior) for prior in priors_of(settings).values()])


def form_of(prior: SecretPrior) -> Form:
    """Public records look like the canaries."""

    def draw(generator: np.random.Generator, count: int) -> list[str]:
        return [prior.ending.format(secret) for secret in prior.draw(generator, count)]

    return Form(prior.prompt, draw)


def identity_of_games(table: Table, seed: int) -> str:
    """Hash of all that a game's numbers depend on: settings, base weights, tokens, and the lists behind the priors.

    Which ε there are is left out. Kinds are not: the small model is pre-trained on the forms of all of them.
    """
    relevant = dataclasses.asdict(table.settings)
    for name in ("epsilons", "joined"):
        relevant.pop(name)
    priors = {kind: described(prior) for kind, prior in table.priors.items()}
    return identity_of(relevant, seed, priors, _tokens(table), hash_of_arrays(table.language.params))


def _tokens(table: Table) -> list[list[int]]:
    """Of every prompt, and of every candidate behind the first one."""
    texts = []
    for prior in table.priors.values():
        prompts = texts_of(prior, table.settings.targets)
        endings = [prior.ending.format(candidate) for candidate in prior.candidates or ("0123456789",)]
        texts += [*prompts, *(prompts[0] + ending for ending in endings)]
    return [table.language.tokenizer.encode(text) for text in texts]


def check(settings: Settings) -> None:
    """Raises ImportError where a list is missing, ValueError unless a published model is there and can be read."""
    priors_of(settings)
    if settings.model is None:
        find_gpt2(settings.source)


def cost(settings: Settings) -> str:
    """What a scale plays, in one line."""
    tokens = settings.batch_size * settings.steps
    return (
        f"canaries: {len(all_cells(settings))} games with {settings.targets} targets and {len(settings.joined)} joined "
        f"ones, {settings.steps} steps each ({tokens:g} texts)"
    )


def _game(table: Table, cell: Cell, seed: int) -> dict[str, Any]:
    settings, prior = table.settings, table.priors[cell.kind]
    began = time.monotonic()
    record = play(table, cell, seed)
    record |= limits(cell, prior, settings, record["noise_multiplier"])
    record["intervals"] = {
        attack: {k: interval(count, settings.targets, settings.confidence) for k, count in counts.items()}
        for attack, counts in record["hits"].items()
    }
    record["epsilon_lower"] = lower_bound(record, prior, settings)
    return record | {"seconds": round(time.monotonic() - began, 1)}


def _plain(settings: Settings) -> dict[str, Any]:
    """ε = ∞ as a word, since strict JSON has no such number."""
    return dataclasses.asdict(settings) | {"epsilons": [f"{epsilon:g}" for epsilon in settings.epsilons]}
