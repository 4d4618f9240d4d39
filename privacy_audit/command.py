"""What every command line of ours shares: flags in groups, readable help, one-line errors, exit codes."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Sequence

from absl import flags

BAD_INPUT = 2
WIDTH = 100


class Command:
    """A set of absl flags of its own (nothing is registered globally), shown in groups by `--help`."""

    def __init__(self, name: str, summary: str, positional: Sequence[str] = ()):
        """`name` as typed after `python -m`; `summary` opens the help text; `positional`: what must follow."""
        self.name, self.summary, self.positional = name, summary, tuple(positional)
        self.arguments: list[str] = []
        self.values = flags.FlagValues()
        self._groups: dict[str, list[str]] = {}
        flags.DEFINE_bool("help", False, "show this help", short_name="h", flag_values=self.values)

    def define(self, group: str, kind: Callable, name: str, default, text: str, **options) -> None:
        """Adds one flag, for example `define("The game", flags.DEFINE_integer, "trials", 250, "…")`."""
        self._groups.setdefault(group, []).append(name)
        kind(name, default, text, flag_values=self.values, **options)

    def given(self, name: str) -> bool:
        """Whether the user set this flag."""
        return self.values[name].present > 0

    def refuse(self, name: str, why: str) -> None:
        """Raises ValueError if the user set a flag that has no meaning for `why`."""
        if self.given(name):
            value = self.values[name].value
            raise ValueError(f"{name} must be left out for {why}, got {value}")

    def help_text(self) -> str:
        """All flags by group, with their defaults."""
        lines = [
            " ".join(["python -m", self.name, *self.positional, "[flags]"]),
            "",
            *textwrap.wrap(self.summary, WIDTH),
        ]
        for group, names in self._groups.items():
            lines += ["", f"{group}:"]
            for name in names:
                lines += self._help_lines(name)
        return "\n".join([*lines, "", "--flagfile=FILE reads flags from a file, one a line."])

    def run(self, argv: Sequence[str], body: Callable[[Command], None]) -> int:
        """Parses `argv` (program name first) and runs `body`; the exit code says how it went.

        ValueError, ArithmeticError and OSError become one line on stderr and exit code 2.
        """
        try:
            rest = self.values(list(argv))[1:]
            if self.values["help"].value:
                print(self.help_text())
                return 0
            self._take(rest)
            body(self)
        except (flags.Error, ValueError, ArithmeticError, OSError) as error:
            print(f"{self.name}: {self._one_line(error)}", file=sys.stderr)
            return BAD_INPUT
        except KeyboardInterrupt:
            print(f"{self.name}: stopped; the same command goes on from here", file=sys.stderr)
            return 130
        return 0

    def _take(self, rest: list[str]) -> None:
        if len(rest) != len(self.positional):
            wanted = (
                " ".join((*self.positional, "and flags (--name=value)"))
                if self.positional
                else "flags (--name=value)"
            )
            raise ValueError(f"arguments must be {wanted}, got {' '.join(rest) or 'none'}")
        self.arguments = rest

    def _help_lines(self, name: str) -> list[str]:
        flag = self.values[name]
        default = "" if flag.default is None else f" (default {flag.default_as_str})"
        head = f"  --{name}"
        body = textwrap.wrap(f"{flag.help}{default}", WIDTH - 28)
        first = f"{head:<27} {body[0]}" if len(head) < 27 else head
        rest = body[1:] if len(head) < 27 else body
        return [first, *(" " * 28 + line for line in rest)]

    def _one_line(self, error: Exception) -> str:
        message = re.sub(r"\s*\n\s*", " ", str(error)).strip()
        if isinstance(error, OSError) and "out" in self.values:
            return f"--out must be a folder that can be written, got {message}"
        first = message.split(" ", 1)[0]
        return f"--{message}" if first in self.values else message


def main(command: Command, body: Callable[[Command], None]) -> None:
    """Runs a command with the process's arguments and exits."""
    sys.exit(command.run(sys.argv, body))
