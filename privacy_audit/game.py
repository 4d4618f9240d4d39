"""The game on one ground: one compiled program that trains a trial in either world and scores it.

Contestants with the same crafter are a team: one target, one training, several distinguishers. Who joins D is a
number: 0 is nobody (world 0), j the j-th team (world 1), and, in a replace-one game, teams + j what D holds in its
place (world 0). Where nobody joins all watch the same training; otherwise the team does; the others' scores are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from privacy_audit.attacks import Adversary, Task, join, watch
from privacy_audit.devices import over_devices
from privacy_audit.train.backend import compiler_options, memory_of, trials_at_once
from privacy_audit.train.trial import Hooks, Trained, Trainer, bystander, run_trial

NO_GUESS = -1e30
"""Score of a model that is not finite: the distinguisher then guesses D, a rule fixed beforehand."""


@dataclass(frozen=True, eq=False)
class Contestant:
    """An adversary in this game, and what it crafted.

    Attributes:
        ground: the one on which it plays, where it made its own.
        make: the adversary against a trainer with another σ; None: it does not look at the noise.
    """

    name: str
    adversary: Adversary
    target: Any
    ground: Task | None = None
    make: Callable[[Trainer], Adversary] | None = None

    def against(self, trainer: Trainer) -> Adversary:
        """The adversary as it plays against this trainer."""
        return self.make(trainer) if self.make else self.adversary


def teams_of(contestants: Sequence[Contestant]) -> list[list[int]]:
    """Numbers of the contestants with the same crafter, in the order of their first."""
    teams: dict[Any, list[int]] = {}
    for j, contestant in enumerate(contestants):
        crafter = contestant.adversary.crafter
        teams.setdefault(j if crafter is None else crafter, []).append(j)
    return list(teams.values())


@dataclass(frozen=True, eq=False)
class Game:
    """A compiled game; called with who joins and trial numbers `[chunk]`, a multiple of the devices."""

    program: Callable[..., dict[str, Array]]
    noise_multiplier: float
    members: Any
    targets: Any

    def __call__(self, who: int, trials: Int[Array, "chunk"]) -> dict[str, Float[Array, "chunk"]]:
        """Trains and scores these trials."""
        return self.program(*self._arguments(who), trials)

    def _arguments(self, who: int):
        return jnp.int32(who), jnp.asarray(self.noise_multiplier), self.members, self.targets

    def bytes_for(self, chunk: int) -> int:
        """Device memory that a call with so many trials takes: arguments, results and what is between."""
        trials = jnp.arange(chunk, dtype=jnp.int32)
        compiled = self.program.lower(*self._arguments(0), trials).compile()
        needs = compiled.memory_analysis()
        return needs.argument_size_in_bytes + needs.output_size_in_bytes + needs.temp_size_in_bytes


def trial_key(seed: int, world, trial) -> Key[Array, ""]:
    """The key of one trial: the same in any chunk, on any device, before and after a resume."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), world), trial)


def setup_key(seed: int, index: int) -> Key[Array, ""]:
    """The key of what is done once a run (fixed weights, crafting): apart from the keys of all trials."""
    return trial_key(seed, 2, index)


def compile_game(
    task: Task,
    contestants: Sequence[Contestant],
    seed: int,
    devices: Sequence[jax.Device],
    program: Callable[..., dict[str, Array]] | None = None,
) -> Game:
    """Builds the game: `play(who, trials)` gives scores by `adversary/statistic`, from all `devices`.

    Who joins and σ are traced, so both worlds, every team and every ε share one compiled program. Beside the scores
    are `training/nonfinite`, the number of per-example gradients that were not finite, and `training/overflowed`.

    Args:
        program: that of the same game at another σ, to be used again.
    """
    targets = tuple(contestant.target for contestant in contestants)
    sigma = task.trainer.plan.noise_multiplier

    def game(at_once: int) -> Game:
        return Game(_program(task, contestants, seed, devices, at_once), sigma, task.members, targets)

    if program is not None:
        return Game(program, sigma, task.members, targets)
    return game(trials_at_once(lambda n: game(n).bytes_for(n * len(devices)), memory_of(devices[0])))


def _program(
    task: Task, contestants: Sequence[Contestant], seed: int, devices: Sequence[jax.Device], at_once: int
):
    names = tuple(contestant.name for contestant in contestants)
    teams = teams_of(contestants)
    worlds = (1, 0) if task.trainer.plan.adjacency == "replace_one" else (1,)

    def one_trial(who, noise_multiplier, members, targets, trial):
        trainer = task.trainer.with_noise(noise_multiplier)
        adversaries = tuple(contestant.against(trainer) for contestant in contestants)
        key = trial_key(seed, jnp.int32((who >= 1) & (who <= len(teams))), trial)
        init_key, training_key, coins = jax.random.split(key, 3)
        hooks = _hooks(who, teams, worlds, adversaries, targets, coins)
        trained = run_trial(training_key, task.initial(init_key), members, trainer, hooks)
        return _score(who, teams, names, adversaries, targets, trained)

    def play_trials(who, noise_multiplier, members, targets, trials):
        batch = at_once if at_once > 1 else None  # None: no batch axis at all, which a batch of one has
        one = lambda trial: one_trial(who, noise_multiplier, members, targets, trial)  # noqa: E731
        return jax.lax.map(one, trials, batch_size=batch)

    spread = over_devices(play_trials, devices, mapped=1)
    return jax.jit(spread, compiler_options=compiler_options() or None)


def _hooks(who, teams, worlds, adversaries: Sequence[Adversary], targets, coins) -> Hooks:
    """The hooks of one trial: a team contributes and observes, or all observe when nobody joins.

    Args:
        worlds: those in which a team contributes, in the order of `who`.
    """

    def joining(j: int, world: int):
        def contribute(states, params, step):
            gradient, state = join(adversaries[j], targets[j], states[j], params, step, world)
            return gradient, _replaced(states, j, state)

        return contribute

    def watching(players: Sequence[int]):
        def observe(states, step):
            for j in players:
                states = _replaced(states, j, watch(adversaries[j], targets[j], states[j], step))
            return states

        return observe

    def init():
        players = enumerate(zip(adversaries, targets, strict=True))
        return tuple(a.init(t, jax.random.fold_in(coins, j)) for j, (a, t) in players)

    contributions = [joining(team[0], world) for world in worlds for team in teams]
    contributions.insert(0, bystander().contribute)
    observations = [watching(players) for players in _players(teams)]
    return Hooks(
        init=init,
        contribute=lambda *now: jax.lax.switch(who, contributions, *now),
        observe=lambda *now: jax.lax.switch(who, observations, *now),
    )


def _score(who, teams, names, adversaries, targets, trained: Trained) -> dict[str, Array]:
    def scored_by(players: Sequence[int]):
        def scores(final: Trained):
            every = {}
            for j, adversary in enumerate(adversaries):
                for statistic, score in adversary.score(targets[j], final.state[j], final.params).items():
                    finite = jnp.where(jnp.isfinite(score), score, NO_GUESS)
                    every[f"{names[j]}/{statistic}"] = (
                        finite if j in players else jnp.full_like(score, jnp.nan)
                    )
            return every

        return scores

    scores = jax.lax.switch(who, [scored_by(players) for players in _players(teams)], trained)
    return scores | {"training/nonfinite": trained.nonfinite, "training/overflowed": trained.overflowed}


def _players(teams: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Who watches and scores, for each value of `who`."""
    return [[j for team in teams for j in team], *teams, *teams]


def _replaced(states: tuple, j: int, state: Any) -> tuple:
    return (*states[:j], state, *states[j + 1 :])
