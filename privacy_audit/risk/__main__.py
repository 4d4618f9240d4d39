"""`python -m privacy_audit.risk SUBCOMMAND [flags]`."""

import sys
from collections.abc import Sequence

from privacy_audit.command import BAD_INPUT
from privacy_audit.risk import calibrate, success, sweep, tables

_SUBCOMMANDS = {
    "success": (success, "how many of n secrets any attack can recover from a mechanism"),
    "calibrate": (calibrate, "the epsilon or the noise that keeps that below a limit"),
    "sweep": (sweep, "the same over a grid of epsilon, delta and prior, to a file or a plot"),
    "tables": (tables, "the paper's tables and the counterexamples, computed anew"),
}
_USAGE = "\n".join(
    [
        "python -m privacy_audit.risk SUBCOMMAND [flags]",
        "",
        *(f"  {name:<10} {text}" for name, (_, text) in _SUBCOMMANDS.items()),
        "",
        "SUBCOMMAND --help shows its flags.",
    ]
)


def run(argv: Sequence[str]) -> int:
    """Runs one subcommand; `argv` starts with the program's name. Returns the exit code."""
    name = argv[1] if len(argv) > 1 else ""
    if name in ("--help", "-h", "--helpfull", "-help"):
        print(_USAGE)
        return 0
    if name not in _SUBCOMMANDS:
        known = ", ".join(_SUBCOMMANDS)
        print(f"privacy_audit.risk: subcommand must be one of {known}, got {name!r}", file=sys.stderr)
        return BAD_INPUT
    module, _ = _SUBCOMMANDS[name]
    return module.make_command().run([argv[0], *argv[2:]], module.body)


if __name__ == "__main__":
    sys.exit(run(sys.argv))
