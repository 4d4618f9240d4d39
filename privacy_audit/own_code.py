"""Whether a user's functions are still those whose trials lie in a ledger, as far as their source tells."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from typing import Any

from etils import epath


def code_of(*functions: Callable) -> str:
    """A hash of where the functions are defined and of their source; what they call is not looked at.

    >>> code_of(code_of) == code_of(code_of) != code_of(inspect.getsource)
    True
    """
    parts = [(f.__module__, getattr(f, "__qualname__", type(f).__qualname__), _source(f)) for f in functions]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def has_changed(folder: epath.Path, code: str) -> bool:
    """Whether `run.json` in the folder names other code."""
    return json.loads((folder / "run.json").read_text()).get("code", code) != code


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function if inspect.isroutine(function) else type(function))
    except (OSError, TypeError):
        return ""
