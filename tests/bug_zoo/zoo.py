"""Plays trials of any trainer of the zoo against any of its adversaries, and tests the claim."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from privacy_audit.bounds.profiles import DPSGD, PrivacyProfile
from privacy_audit.estimate.f_dp_test import f_dp_test

from .attacks import CATCHES, attacks
from .trainer import NUMBER, STEPS, released_gradients

P_VALUE = 1e-4
TRIALS = (50, 100, 200, 500, 1000, 2000)
CHUNK = 50
"""Trials in one call, so that one program serves every number."""


def claimed_profile(attack: str, bug: str = "none") -> PrivacyProfile:
    """What a correct trainer of these settings satisfies.

    The replace-one game is one game with two claims: a correct trainer claims replace-one (sensitivity 2C); the
    bug is to claim add/remove for it.
    """
    replaces = attack == "watermark or its negative" and bug == "none"
    game = attacks()[attack]
    return DPSGD(game.sigma, game.sampling_rate, STEPS, adjacency="replace_one" if replaces else "add_remove")


@functools.cache
def _program(fixed_bug: int | None):
    """One compiled program: (bug, attack, world, seed, first trial) -> scores of `CHUNK` trials.

    Args:
        fixed_bug: compile for this bug alone, which runs faster; None: one program for all bugs.
    """
    table = list(attacks().values())
    contributions = jnp.stack([jnp.stack([a.instead, a.contributes]) for a in table])
    rates, sigmas = (jnp.asarray([getattr(a, f) for a in table]) for f in ("sampling_rate", "sigma"))
    scorers = [a.score for a in table]

    def one(bug, attack, world, key):
        released = released_gradients(key, bug, rates[attack], sigmas[attack], contributions[attack, world])
        return jax.lax.switch(attack, scorers, released)

    @jax.jit
    def play(bug, attack, world, seed, first):
        bug = bug if fixed_bug is None else fixed_bug
        base = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), world), attack)
        keys = jax.vmap(lambda i: jax.random.fold_in(base, i))(first + jnp.arange(CHUNK))
        return jax.lax.map(lambda key: one(bug, attack, world, key), keys)

    return play


def scores(
    bug: str, attack: str, trials: int, seed: int = 0, *, alone: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of both worlds; `alone` compiles for this bug only, which pays for many trials."""
    number = list(attacks()).index(attack)
    play = _program(NUMBER[bug] if alone else None)

    def world(which):
        parts = [play(NUMBER[bug], number, which, seed, first) for first in range(0, trials, CHUNK)]
        return np.concatenate(parts)[:trials]

    return world(0), world(1)


def caught(bug: str, trials: int, seed: int = 0) -> float:
    """p-value of the claim in the adversary's game that this bug is vulnerable to."""
    attack = CATCHES[bug]
    return f_dp_test(*scores(bug, attack, trials, seed), claimed_profile(attack, bug)).p_value
