"""An adversary's options: fields of a frozen dataclass, each with the text that its flag shows and its rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple


class Rule(NamedTuple):
    """What an option's value must be, in words, and whether a value is so."""

    text: str
    holds: Callable[[Any], bool]


def at_least(least: int) -> Rule:
    """Counts."""
    return Rule(f">= {least}", lambda value: value >= least)


def among(*names: str) -> Rule:
    """Choices."""
    return Rule(f"one of {', '.join(names)}", lambda value: value in names)


STEP_SIZE = Rule("in (0, 1]", lambda value: 0 < value <= 1)
"""A change of inputs that lie in [0, 1]."""


def option(default: Any, text: str, rule: Rule | None = None) -> Any:
    """A dataclass field with a default, one line of help and what its value must be."""
    return dataclasses.field(default=default, metadata={"help": text, "rule": rule})


class Checked:
    """Base of options.

    Raises:
        ValueError: an option breaks its rule.
    """

    def __post_init__(self):
        for field in dataclasses.fields(self):
            rule, value = field.metadata["rule"], getattr(self, field.name)
            if rule is not None and not rule.holds(value):
                raise ValueError(f"{field.name} must be {rule.text}, got {value}")
