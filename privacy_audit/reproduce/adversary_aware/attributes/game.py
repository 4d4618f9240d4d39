"""One cell: a set of attributes, an ε, and a game; attacks and bounds on the same targets."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privacy_audit.attacks.attributes import Knowledge, hindsight_hits, knowledge_from, reconstruct
from privacy_audit.reproduce.adversary_aware.attributes.limits import drawn_limits, real_limits
from privacy_audit.reproduce.adversary_aware.attributes.settings import Settings
from privacy_audit.train.tabular import Marginals, NoisyMarginals, Table

GAMES = ("drawn", "real")


@dataclass(frozen=True)
class Cell:
    """What is reconstructed, under which ε, and where the secrets come from."""

    game: str
    names: tuple[str, ...]
    epsilon: float

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.game}-{'-'.join(self.names)}-eps{self.epsilon:g}"


def all_cells(settings: Settings) -> list[Cell]:
    """Of a scale, in the order in which they are played: the first ε of everything before the next."""
    epsilons = {"drawn": settings.epsilons, "real": settings.real_epsilons}
    return [
        Cell(game, names, epsilon)
        for epsilon in dict.fromkeys((*settings.epsilons, *settings.real_epsilons))
        for names in settings.sets
        for game in GAMES
        if epsilon in epsilons[game]
    ]


@dataclass(frozen=True)
class Halves:
    """The people whom everybody knows, and those among whom the targets are."""

    public: Table
    private: Table

    @classmethod
    def split(cls, table: Table, seed: int) -> Halves:
        """Disjoint halves, at random."""
        order = np.random.default_rng(seed).permutation(len(table))
        middle = len(table) // 2
        return cls(table.take(order[:middle]), table.take(order[middle:]))


def play_cell(cell: Cell, halves: Halves, settings: Settings, seed: int) -> dict[str, Any]:
    """All games of the cell.

    Returns:
        Hits of every attack in every game, the prior's mean success, the bounds, seconds.
    """
    began = time.monotonic()
    sizes = halves.public.sizes
    marginals = Marginals.all_ways(sizes, settings.ways)
    mechanism = NoisyMarginals.calibrated(marginals, cell.epsilon, settings.delta)
    unknown = halves.public.places(cell.names)
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode())])
    knowledge = _games(cell.game, halves, unknown, settings, seed, rng)
    released = np.stack([mechanism.release(rng, found.codes) for found in knowledge])
    guesses = reconstruct(released, mechanism, knowledge, settings.projection, settings.gibbs, seed)
    hits = {
        name: [int(found.hits(guess).sum()) for found, guess in zip(knowledge, guessed, strict=True)]
        for name, guessed in guesses.items()
    }
    return {
        "game": cell.game,
        "attributes": list(cell.names),
        "epsilon": cell.epsilon,
        "noise": mechanism.noise,
        "targets": settings.targets,
        "hits": hits,
        "prior": float(np.mean([found.prior.max(axis=1).mean() for found in knowledge])),
        "bounds": _limits(cell, halves, mechanism, knowledge, settings),
        "seconds": round(time.monotonic() - began, 2),
    }


def _games(game: str, halves: Halves, unknown, settings: Settings, seed: int, rng) -> list[Knowledge]:
    """The targets of every game, secrets included."""
    if game == "real":
        return [_knowledge(halves, unknown, settings, rng) for _ in range(settings.games)]
    # The same people in all cells, so that attributes and ε can be compared.
    people = _knowledge(halves, unknown, settings, np.random.default_rng(seed))
    return [_with_drawn_secrets(people, rng) for _ in range(settings.games)]


def _knowledge(halves: Halves, unknown, settings: Settings, rng: np.random.Generator) -> Knowledge:
    rows = rng.choice(len(halves.private), settings.targets, replace=False)
    targets = halves.private.codes[rows]
    return knowledge_from(halves.public.codes, halves.public.sizes, targets, unknown, pseudo_count=1.0)


def _with_drawn_secrets(people: Knowledge, rng: np.random.Generator) -> Knowledge:
    """The same people, each with a secret drawn from its prior."""
    limits = np.cumsum(people.prior, axis=1)
    chosen = np.sum(rng.random((len(limits), 1)) * limits[:, -1:] > limits[:, :-1], axis=1)
    codes = people.codes.copy()
    codes[:, list(people.unknown)] = people.values[chosen]
    return Knowledge(codes, people.unknown, people.values, people.prior)


def _limits(
    cell: Cell, halves: Halves, mechanism: NoisyMarginals, knowledge: Sequence[Knowledge], settings: Settings
) -> dict[str, Any]:
    """The bounds; none where nothing is promised."""
    if math.isinf(cell.epsilon):
        return {}
    unknown = knowledge[0].unknown
    if cell.game == "drawn":
        return drawn_limits(cell.epsilon, mechanism, unknown, knowledge[0].prior, settings)
    hits = hindsight_hits(halves.public.codes, halves.public.sizes, unknown)
    return real_limits(mechanism, hits, len(halves.public), settings)
