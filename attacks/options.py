"""An adversary's options: fields of a frozen dataclass, each with the text that its flag shows."""

from __future__ import annotations

import dataclasses
from typing import Any


def option(default: Any, text: str) -> Any:
    """A dataclass field with a default and one line of help."""
    return dataclasses.field(default=default, metadata={"help": text})
