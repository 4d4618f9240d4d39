"""An adversary as a tuple of pure functions, and the access that limits what it observes."""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from ..train.dpsgd import Step
from ..train.functional import Params
from .task import Task

Target = Any
State = Any


class Access(enum.Enum):
    """What the distinguisher may read (Paper L, Table 1), besides the final model."""

    FINAL_MODEL = "final_model"
    ALL_MODELS = "all_models"
    ALL_GRADIENTS = "all_gradients"


class View(NamedTuple):
    """What one step shows to an adversary; None where its access does not reach.

    Attributes:
        params: parameters after the step.
        gradient: the noisy average gradient of the step.
        before: parameters before the step, those that the step before released.
    """

    params: Params | None
    gradient: Params | None
    before: Params | None


Contribute = Callable[[Target, State, Params, Int[Array, ""]], tuple[Params, State]]


def no_gradient(target: Target, state: State, params: Params, step: Int[Array, ""]) -> tuple[Params, State]:
    """`replaced` of an adversary whose target takes the place of a record without gradient."""
    return jax.tree.map(jnp.zeros_like, params), state


@dataclass(frozen=True)
class Adversary:
    """A crafter and its distinguisher; every function but `ground` and `craft` runs inside the compiled trial.

    Attributes:
        access: what `observe` is shown; `watch` enforces it.
        craft: (key, task) -> target. Once a run, before any trial.
        init: (target, key) -> state. At the start of a trial; the key serves the adversary's own coins.
        contribute: (target, state, params, step) -> gradient, state. What D' adds when the target is
            sampled, before clipping.
        observe: (target, state, view) -> state. After every step; never called with `FINAL_MODEL`.
        score: (target, state, final params) -> {statistic: scalar}; higher = more likely D'.
        replaced: as `contribute`: what D holds in the target's place when the game is replace-one.
        crafter: equal values mean the same crafter, whose trainings in world 1 several distinguishers may share;
            the first one's `contribute` serves all. None: its own.
        ground: the game's ground as the crafter changes it; the default leaves data and settings alone.
        reduced: (target, key, world) -> what `score` returns, with exactly the distribution that training would
            give, where that is known.
    """

    access: Access
    craft: Callable[[Key[Array, ""], Task], Target]
    init: Callable[[Target, Key[Array, ""]], State]
    contribute: Contribute
    observe: Callable[[Target, State, View], State]
    score: Callable[[Target, State, Params], dict[str, Float[Array, ""]]]
    replaced: Contribute = no_gradient
    crafter: Hashable = None
    ground: Callable[[Task], Task] | None = None
    reduced: Callable[[Target, Key[Array, ""], Int[Array, ""]], dict[str, Float[Array, ""]]] | None = None


def watch(adversary: Adversary, target: Target, state: State, step: Step) -> State:
    """Lets `adversary` observe a step, handing it no more than its access allows."""
    if adversary.access is Access.FINAL_MODEL:
        return state
    sees_gradients = adversary.access is Access.ALL_GRADIENTS
    released = step.released
    view = View(released.params, released.gradient if sees_gradients else None, step.before)
    return adversary.observe(target, state, view)


def join(
    adversary: Adversary, target: Target, state: State, params: Params, step: Int[Array, ""], world: int
) -> tuple[Params, State]:
    """The target's gradient in world 1, or that of the record it replaces in world 0.

    A crafter of `FINAL_MODEL` access keeps nothing of the parameters that its record meets on the way.
    """
    contribute = adversary.contribute if world else adversary.replaced
    gradient, after = contribute(target, state, params, step)
    return gradient, state if adversary.access is Access.FINAL_MODEL else after


def no_state(target: Target, key: Key[Array, ""]) -> State:
    """`init` of an adversary that remembers nothing."""
    return ()


def observe_nothing(target: Target, state: State, view: View) -> State:
    """`observe` of an adversary that waits for the final model."""
    return state
