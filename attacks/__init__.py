"""Adversaries: crafter and distinguisher pairs (Paper L, Table 1).

A new one is one file, with a factory `(trainer, options) -> Adversary` and a frozen `Options`, and one line
here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..train.trial import Trainer
from . import api_access, gradient
from .adversary import Access, Adversary, View, watch
from .task import Task


class Entry(NamedTuple):
    """How an adversary is made, and the options that become flags."""

    make: Callable[[Trainer, Any], Adversary]
    options: type


ADVERSARIES: dict[str, Entry] = {
    "api_access": Entry(api_access.api_access, api_access.Options),
    "gradient": Entry(gradient.gradient, gradient.Options),
}

__all__ = ["ADVERSARIES", "Access", "Adversary", "Entry", "Task", "View", "watch"]
