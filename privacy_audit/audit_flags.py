"""The flags of `python -m privacy_audit.audit`, in groups; the adversaries' options are flags of the same names."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from absl import flags

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.command import Command
from privacy_audit.config import ACCOUNTANTS
from privacy_audit.train.datasets import DATASETS
from privacy_audit.train.models import MODELS

SUMMARY = (
    "Plays the differential-privacy game: trains with DP-SGD on D or on D' = D + one example, many times, lets "
    "adversaries guess which, and turns their errors into a lower bound on epsilon. Writes run.json, the scores, "
    "report.json and figure.png to --out; the same command resumes a run that was stopped."
)


def make_command() -> Command:
    """The command with its flags, set to their defaults."""
    command = Command("privacy_audit.audit", SUMMARY)
    _define_data(command)
    _define_training(command)
    _define_game(command)
    for option, flag in _adversary_options().items():
        command.define("Adversaries", flag.define, option, flag.default, flag.text)
    _define_running(command)
    return command


def _define_data(command: Command) -> None:
    """What is trained on."""
    add, data = command.define, "Data and model"
    names = ", ".join
    add(data, flags.DEFINE_string, "dataset", "mnist5k", f"one of {names(DATASETS)}")
    add(data, flags.DEFINE_string, "data_dir", None, "where tensorflow-datasets keeps prepared data")
    add(data, flags.DEFINE_string, "model", None, f"one of {names(MODELS)}; by default what suits the data")
    add(data, flags.DEFINE_integer, "num_examples", 1000, "N, the size of D")


def _define_training(command: Command) -> None:
    """How DP-SGD trains."""
    add, training = command.define, "Training (DP-SGD)"
    names = ", ".join
    add(training, flags.DEFINE_integer, "batch_size", 100, "expected batch size qN of Poisson sampling")
    add(training, flags.DEFINE_integer, "steps", 20, "T")
    add(training, flags.DEFINE_float, "clipping_norm", 1.0, "C, the largest norm of a per-example gradient")
    add(training, flags.DEFINE_float, "learning_rate", 0.15, "of SGD")
    several = "several, as in 1,2,4, are several runs, each in its own folder below --out"
    add(
        training,
        flags.DEFINE_list,
        "epsilon",
        "4",
        f"proven epsilon, to which noise is calibrated; {several}",
    )
    add(training, flags.DEFINE_list, "noise_multiplier", None, "sigma, one or several, instead of --epsilon")
    add(training, flags.DEFINE_float, "delta", 1e-5, "of the proven and of the measured epsilon")
    add(training, flags.DEFINE_string, "accountant", "pld", f"one of {names(ACCOUNTANTS)}")
    add(
        training,
        flags.DEFINE_string,
        "initialization",
        "fixed",
        "fixed: initial weights that the adversary knows; random: new ones each trial",
    )


def _define_game(command: Command) -> None:
    """Who plays, how often, and what is concluded."""
    add, game = command.define, "The game"
    names = ", ".join
    add(game, flags.DEFINE_list, "adversary", "gradient,api_access", f"all, or some of {names(ADVERSARIES)}")
    add(
        game,
        flags.DEFINE_integer,
        "trials",
        250,
        "trainings per world and adversary, held-out trials included",
    )
    add(game, flags.DEFINE_float, "confidence", 0.95, "coverage of each adversary's bound")
    add(
        game,
        flags.DEFINE_string,
        "threshold",
        "held-out",
        "held-out (the first fifth of the trials chooses it), explicit (theory gives it where it can, before "
        "any trial), every (all at once, corrected), anytime (valid whatever stops the run), same-sample (as "
        "the papers do; not a valid bound), or a number fixed beforehand",
    )
    add(
        game,
        flags.DEFINE_string,
        "adjacency",
        "add_remove",
        "add_remove: D' has one example more; replace_one: D has another in its place",
    )
    add(game, flags.DEFINE_float, "stop_when_above", None, "stop as soon as some bound exceeds this epsilon")
    add(game, flags.DEFINE_float, "stop_when_width", None, "stop as soon as every interval is so narrow")
    add(game, flags.DEFINE_integer, "seed", 0, "of all randomness")


def _define_running(command: Command) -> None:
    """Where and on what the run is played."""
    add, run = command.define, "Running"
    add(run, flags.DEFINE_string, "out", None, "folder or bucket of the ledger; by default runs/audit-<hash>")
    add(
        run,
        flags.DEFINE_integer,
        "chunk",
        0,
        "trials per call of the compiled program; 0: what suits the devices",
    )
    add(
        run, flags.DEFINE_integer, "cpu_devices", os.cpu_count() or 1, "devices that a CPU host is split into"
    )
    add(
        run,
        flags.DEFINE_bool,
        "dry_run",
        False,
        "print memory, proven epsilon and expected time; write nothing",
    )
    add(run, flags.DEFINE_string, "coordinator_address", None, "host:port of process 0, for jax.distributed")
    add(run, flags.DEFINE_integer, "num_processes", 1, "hosts that share the run and its ledger")
    add(run, flags.DEFINE_integer, "process_id", 0, "this host's number, from 0")
    add(run, flags.DEFINE_bool, "json", False, "print the report as the last line of stdout")


@dataclasses.dataclass(frozen=True)
class _Option:
    define: Any
    default: Any
    text: str


def _adversary_options() -> dict[str, _Option]:
    """The adversaries' options as flags; an option that several share is one flag."""
    kinds = {
        bool: flags.DEFINE_bool,
        int: flags.DEFINE_integer,
        float: flags.DEFINE_float,
        str: flags.DEFINE_string,
    }
    users: dict[str, list[str]] = {}
    fields = {}
    for name, entry in ADVERSARIES.items():
        for field in dataclasses.fields(entry.options):
            users.setdefault(field.name, []).append(name)
            fields[field.name] = field
    return {
        name: _Option(
            kinds[type(field.default)], field.default, f"({', '.join(users[name])}) {_described(field)}"
        )
        for name, field in fields.items()
    }


def _described(field: dataclasses.Field) -> str:
    """Its help, and the rule that its value obeys."""
    text, rule = field.metadata["help"], field.metadata["rule"]
    return text if rule is None else f"{text}; {rule.text}"
