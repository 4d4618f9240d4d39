"""All contestants of a run, whatever ground each plays on, behind one function of who joins and which trials.

Those who leave the data alone share a ground, and with it world 0. Those whose trials are known without training
(`Adversary.reduced`) are drawn instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """

    nobody: tuple[Part, ...]
    joining: tuple[Part, ...]
    trained: int
    unshared: int
    games: tuple[Game, ...] = ()

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
    task: Task, contestants: Sequence[Contestant], seed: int, devices: Sequence[jax.Device]
) -> Match:
    """Sorts the contestants by ground and compiles each ground's game."""
    nobody, joining, trained, games = [], [], 0, []
    drawn = [c for c in contestants if c.adversary.reduced]
    for contestant in drawn:
        play = compile_reduced(contestant, seed, devices)
        nobody.append(_joined(play, 0))
        joining.append(_joined(play, 1))
    shared = [c for c in contestants if c not in drawn and c.ground is None]
    own = [c for c in contestants if c not in drawn and c.ground is not None]
    for ground, group in ([(task, shared)] if shared else []) + [(c.ground, [c]) for c in own]:
        game, teams = compile_game(ground, group, seed, devices), len(teams_of(group))
        swapped = ground.trainer.plan.adjacency == "replace_one"
        absent = range(teams + 1, 2 * teams + 1) if swapped else [0]
        nobody += [_joined(game, who) for who in absent]
        joining += [_joined(game, who) for who in range(1, teams + 1)]
        trained += len(absent) + teams
        games.append(game)
    unshared = 2 * (len(shared) + len(own))
    return Match(tuple(nobody), tuple(joining), trained, unshared, tuple(games))


def compile_reduced(contestant: Contestant, seed: int, devices: Sequence[jax.Device]):
    """As `compile_game`, for a contestant whose scores need no training; `who` is the world."""
    adversary, target, name = contestant.adversary, contestant.target, contestant.name

    def share(world, target, trials):
        def one_trial(trial):
            scores = adversary.reduced(target, trial_key(seed, world, trial), world)
            return {f"{name}/{statistic}": score for statistic, score in scores.items()}

        nothing = jnp.zeros(trials.shape, jnp.int32)
        return jax.vmap(one_trial)(trials) | {
            "training/nonfinite": nothing,
            "training/overflowed": nothing.astype(bool),
        }

    program = jax.jit(over_devices(share, devices, mapped=1))
    return lambda world, trials: program(jnp.int32(world), target, trials)


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
