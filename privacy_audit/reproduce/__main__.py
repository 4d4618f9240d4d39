"""`python -m privacy_audit.reproduce --paper=… --scale=smoke|desk|paper`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from absl import flags

from privacy_audit.command import Command
from privacy_audit.config import one_of, require
from privacy_audit.devices import start_jax
from privacy_audit.reproduce.paper import Paper
from privacy_audit.reproduce.papers import PAPERS

DEFAULT = next(iter(PAPERS))


def run(argv: Sequence[str]) -> int:
    """Runs the command; `argv` starts with the program's name. Returns the exit code."""
    paper = PAPERS.get(asked_for(argv), PAPERS[DEFAULT])
    return make_command(paper).run(argv, lambda command: _body(paper, command))


def asked_for(argv: Sequence[str]) -> str:
    """The paper that the flags name, which decides what other flags there are.

    >>> asked_for(["reproduce", "--scale=desk", "--paper=adversary_aware"])
    'adversary_aware'
    """
    values = flags.FlagValues()
    flags.DEFINE_string("paper", DEFAULT, "", flag_values=values)
    try:
        values(list(argv), known_only=True)
    except flags.Error:  # said by the command itself, in its own words
        return DEFAULT
    return values.paper


def make_command(paper: Paper) -> Command:
    """The command with the flags that all papers share and this paper's own, set to their defaults."""
    command = Command("privacy_audit.reproduce", paper.summary)
    add, what, running = command.define, "What", "Running"
    add(what, flags.DEFINE_string, "paper", DEFAULT, f"one of {', '.join(PAPERS)}; its flags follow")
    add(what, flags.DEFINE_string, "scale", "desk", f"one of {', '.join(paper.scales)}")
    add(what, flags.DEFINE_list, "parts", ",".join(paper.usual), f"some of {', '.join(paper.parts)}")
    add(what, flags.DEFINE_integer, "seed", 0, "of all randomness")
    paper.define(command)
    add(running, flags.DEFINE_float, "minutes", float("inf"), "begin nothing further after so many minutes")
    add(
        running,
        flags.DEFINE_integer,
        "cpu_devices",
        os.cpu_count() or 1,
        "devices that a CPU host is split into",
    )
    add(running, flags.DEFINE_bool, "dry_run", False, "print what it costs; write nothing")
    return command


def _body(paper: Paper, command: Command) -> None:
    values = command.values
    one_of("paper", values.paper, PAPERS)
    paper.check(values.scale, values.parts)
    require(values.minutes >= 0, "minutes", ">= 0", values.minutes)
    require(values.cpu_devices >= 1, "cpu_devices", ">= 1", values.cpu_devices)
    start_jax(values.cpu_devices)
    paper.run(command)


if __name__ == "__main__":
    sys.exit(run(sys.argv))
