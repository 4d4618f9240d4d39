"""What an earlier run left in its folder."""

from __future__ import annotations

import json
from typing import Any

from etils import epath


def read_stored(path: epath.Path, identity: str, what: str) -> dict[str, Any] | None:
    """The file's content; None where it is missing or was cut off.

    Args:
        identity: hash of the settings that it must have been made with.
        what: the folder should hold, as in `games of these settings`.

    Raises:
        ValueError: it was made with others.
    """
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text())
    except json.JSONDecodeError:
        return None
    if found.get("identity") != identity:
        raise ValueError(f"out must hold {what} or none, got another's {path.name}")
    return found
