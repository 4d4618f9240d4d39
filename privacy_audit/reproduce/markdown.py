"""Markdown that the generated documents share."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence]) -> str:
    """A Markdown table; None is shown as a dash.

    >>> print(table(("a", "b"), [(1, None)]))
    | a | b |
    |---|---|
    | 1 | – |
    """
    lines = [head, ("---",) * len(head), *rows]
    shown = [" | ".join("–" if cell is None else str(cell) for cell in line) for line in lines]
    shown[1] = shown[1].replace(" ", "")
    return "\n".join(f"|{line}|" if i == 1 else f"| {line} |" for i, line in enumerate(shown))


def number(value: float | None, digits: int = 2) -> str:
    """The number, or what stands for an infinite or undefined one."""
    return "∞" if value is None else f"{value:.{digits}f}"
