"""A paper that can be reproduced, as the command line knows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privacy_audit.command import Command
from privacy_audit.config import one_of, require


@dataclass(frozen=True)
class Paper:
    """One entry of the registry.

    Attributes:
        summary: what is made, at which scales; opens the help text.
        scales: names of its scales.
        parts: what can be asked for; `usual` is the default.
        define: adds the flags that only this paper has.
        run: does what the flags ask for; they are checked as far as this class can.
    """

    summary: str
    scales: tuple[str, ...]
    parts: tuple[str, ...]
    usual: tuple[str, ...]
    define: Callable[[Command], None]
    run: Callable[[Command], None]

    def check(self, scale: str, parts: Sequence[str]) -> None:
        """Raises ValueError unless the scale and every part are among the paper's."""
        one_of("scale", scale, self.scales)
        require(len(parts) > 0, "parts", f"some of {', '.join(self.parts)}", "none")
        for part in parts:
            one_of("parts", part, self.parts)
