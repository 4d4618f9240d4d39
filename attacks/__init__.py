"""Adversaries: crafter and distinguisher pairs (Paper L, Table 1).

A new one is one file, with a factory `(trainer, options) -> Adversary` and a frozen `Options`, and one line
here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..train.dpsgd import Plan
from ..train.trial import Trainer
from . import adaptive_poison, api_access, dataset, gradient, intermediate_poison, static_poison
from .adversary import Access, Adversary, View, join, watch
from .mixture_law import Law
from .task import Task, check_task


class Entry(NamedTuple):
    """How an adversary is made, the options that become flags, and its score's law where that is known.

    Attributes:
        law: (plan, options) -> exact distribution of its statistic `likelihood_ratio`, or None.
    """

    make: Callable[[Trainer, Any], Adversary]
    options: type
    law: Callable[[Plan, Any], Law | None] = lambda plan, options: None


ADVERSARIES: dict[str, Entry] = {
    "api_access": Entry(api_access.api_access, api_access.Options),
    "static_poison": Entry(static_poison.static_poison, static_poison.Options),
    "intermediate_poison": Entry(intermediate_poison.intermediate_poison, intermediate_poison.Options),
    "adaptive_poison": Entry(adaptive_poison.adaptive_poison, adaptive_poison.Options),
    "gradient": Entry(gradient.gradient, gradient.Options),
    "dataset": Entry(dataset.dataset, dataset.Options, dataset.law),
}
"""name -> Entry, from the weakest to the strongest (Paper L, Table 1)."""

__all__ = [
    "ADVERSARIES",
    "Access",
    "Adversary",
    "Entry",
    "Law",
    "Task",
    "View",
    "check_task",
    "join",
    "watch",
]
