"""An adversary as a tuple of pure functions, and the access that limits what it observes."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

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
    """

    params: Params | None
    gradient: Params | None


@dataclass(frozen=True)
class Adversary:
    """A crafter and its distinguisher; every function but `craft` runs inside the compiled trial.

    Attributes:
        access: what `observe` is shown; `watch` enforces it.
        craft: (key, task) -> target. Once a run, before any trial.
        init: target -> state. At the start of a trial.
        contribute: (target, state, params, step) -> gradient, state. What D' adds when the target is
            sampled, before clipping.
        observe: (target, state, view) -> state. After every step; never called with `FINAL_MODEL`.
        score: (target, state, final params) -> {statistic: scalar}; higher = more likely D'.
    """

    access: Access
    craft: Callable[[Key[Array, ""], Task], Target]
    init: Callable[[Target], State]
    contribute: Callable[[Target, State, Params, Int[Array, ""]], tuple[Params, State]]
    observe: Callable[[Target, State, View], State]
    score: Callable[[Target, State, Params], dict[str, Float[Array, ""]]]


def watch(adversary: Adversary, target: Target, state: State, step: Step) -> State:
    """Lets `adversary` observe a step, handing it no more than its access allows."""
    if adversary.access is Access.FINAL_MODEL:
        return state
    sees_gradients = adversary.access is Access.ALL_GRADIENTS
    released = step.released
    view = View(released.params, released.gradient if sees_gradients else None)
    return adversary.observe(target, state, view)


def no_state(target: Target) -> State:
    """`init` of an adversary that remembers nothing."""
    return ()


def observe_nothing(target: Target, state: State, view: View) -> State:
    """`observe` of an adversary that waits for the final model."""
    return state
