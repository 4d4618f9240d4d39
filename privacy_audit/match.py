"""All contestants of a run, whatever ground each plays on, behind one function of who joins and which trials.

Those who leave the data alone share a ground, and with it world 0. Those whose trials are known without training
(`Adversary.reduced`) are drawn instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from privacy_audit.attacks import Task
from privacy_audit.devices import over_devices
from privacy_audit.game import Contestant, Game, compile_game, teams_of, trial_key

Part = Callable[[np.ndarray], dict[str, np.ndarray]]
"""trial numbers `[chunk]` -> scores"""


@dataclass(frozen=True, eq=False)
class Match:
    """A compiled run.

    Attributes:
        nobody: what is played in world 0, each part once.
        joining: what is played in world 1, by who joins.
        trained: trainings of one trial of both worlds.
        unshared: what they would be if each adversary trained its own two worlds.
        games: the compiled trainings among the parts.
        programs: what was compiled, in the order in which `compile_match` takes it.
    """

    nobody: tuple[Part, ...]
    joining: tuple[Part, ...]
    trained: int
    unshared: int
    games: tuple[Game, ...] = ()
    programs: tuple[Callable, ...] = ()

    def __call__(self, who: int, trials) -> dict[str, np.ndarray]:
        """Scores of these trials: of all contestants for `who` 0, else of those who joined (others lack or are NaN)."""
        return self.joining[who - 1](trials) if who else merged([part(trials) for part in self.nobody])

    def sharing(self, trials: int) -> str:
        """What sharing trained models saves, in words."""
        saved = (self.unshared - self.trained) * trials
        return (
            f"{self.trained * trials} trainings; {saved} saved by sharing trained models between adversaries"
        )

    @property
    def joiners(self) -> int:
        """How many trainings world 1 takes."""
        return len(self.joining)


def compile_match(
    task: Task,
    contestants: Sequence[Contestant],
    seed: int,
    devices: Sequence[jax.Device],
    programs: Sequence[Callable] | None = None,
) -> Match:
    """Sorts the contestants by ground and compiles each ground's game.

    Args:
        programs: those of the same match at another σ, to be used again.
    """
    drawn = [c for c in contestants if c.adversary.reduced]
    grounds = _grounds(task, [c for c in contestants if c not in drawn])
    if programs is None:
        programs = [None] * (len(drawn) + len(grounds))
    nobody, joining, trained, games = [], [], 0, []
    draws = [
        compile_reduced(c, task, seed, devices, program)
        for c, program in zip(drawn, programs[: len(drawn)], strict=True)
    ]
    for draw in draws:
        nobody.append(_joined(draw, 0))
        joining.append(_joined(draw, 1))
    for (ground, group), program in zip(grounds, programs[len(drawn) :], strict=True):
        game, teams = compile_game(ground, group, seed, devices, program), len(teams_of(group))
        swapped = ground.trainer.plan.adjacency == "replace_one"
        absent = range(teams + 1, 2 * teams + 1) if swapped else [0]
        nobody += [_joined(game, who) for who in absent]
        joining += [_joined(game, who) for who in range(1, teams + 1)]
        trained += len(absent) + teams
        games.append(game)
    unshared = 2 * (len(contestants) - len(drawn))
    used = tuple(play.program for play in (*draws, *games))
    return Match(tuple(nobody), tuple(joining), trained, unshared, tuple(games), used)


def _grounds(task: Task, contestants: Sequence[Contestant]) -> list[tuple[Task, list[Contestant]]]:
    """Who plays where: all that left the ground alone on it, each of the others on its own."""
    shared = [c for c in contestants if c.ground is None]
    own = [(c.ground, [c]) for c in contestants if c.ground is not None]
    return [(task, shared), *own] if shared else own


@dataclass(frozen=True, eq=False)
class Draw:
    """As `Game`, for a contestant whose scores need no training; `who` is the world."""

    program: Callable[..., dict[str, jax.Array]]
    noise_multiplier: float
    target: Any

    def __call__(self, who: int, trials) -> dict[str, jax.Array]:
        """Draws the scores of these trials."""
        return self.program(jnp.int32(who), jnp.asarray(self.noise_multiplier), self.target, trials)


def compile_reduced(
    contestant: Contestant, task: Task, seed: int, devices: Sequence[jax.Device], program: Callable | None
) -> Draw:
    """As `compile_game`."""
    name = contestant.name

    def share(world, noise_multiplier, target, trials):
        adversary = contestant.against(task.trainer.with_noise(noise_multiplier))

        def one_trial(trial):
            scores = adversary.reduced(target, trial_key(seed, world, trial), world)
            return {f"{name}/{statistic}": score for statistic, score in scores.items()}

        nothing = jnp.zeros(trials.shape, jnp.int32)
        return jax.vmap(one_trial)(trials) | {
            "training/nonfinite": nothing,
            "training/overflowed": nothing.astype(bool),
        }

    program = program or jax.jit(over_devices(share, devices, mapped=1))
    return Draw(program, task.trainer.plan.noise_multiplier, contestant.target)


def merged(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Each score from the part in which it is a number; counts summed."""
    together: dict[str, np.ndarray] = {}
    for part in parts:
        for name, values in part.items():
            values, before = np.asarray(values), together.get(name)
            if before is None:
                together[name] = values
            elif name.startswith("training/"):
                together[name] = before + values
            else:
                together[name] = np.where(np.isnan(before), values, before)
    return together


def _joined(play, who: int) -> Part:
    return lambda trials: play(who, trials)
