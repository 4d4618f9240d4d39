"""`python -m privacy_audit.audit`: a lower bound on the ε of a DP-SGD run, beside its proven ε."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from typing import Any

import jax
from absl import flags
from etils import epath

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.command import Command, main
from privacy_audit.config import (
    ACCOUNTANTS,
    AuditConfig,
    calibrated_noise,
    one_of,
    require,
)
from privacy_audit.devices import Hosts, start_jax
from privacy_audit.dry_run import measure_cost
from privacy_audit.run import chunk_size, run_audits
from privacy_audit.stopping import StopRule, check_beyond_pilot
from privacy_audit.train.datasets import DATASETS, VECTORS
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
            kinds[type(field.default)], field.default, f"({', '.join(users[name])}) {field.metadata['help']}"
        )
        for name, field in fields.items()
    }


def configs_from_flags(command: Command) -> dict[str, AuditConfig]:
    """Builds and checks a configuration for each σ, or ε to which noise is calibrated; by name of its run."""
    values = command.values
    asked = tuple(ADVERSARIES if values.adversary == ["all"] else dict.fromkeys(values.adversary))
    for name in asked:
        one_of("adversary", name, ADVERSARIES)
    one_of("dataset", values.dataset, DATASETS)
    calibrate = values.noise_multiplier is None
    require(
        calibrate or not command.given("epsilon"),
        "noise_multiplier",
        "left out where epsilon is given",
        ",".join(values.noise_multiplier or []),
    )
    name, texts = "noise_multiplier", values.noise_multiplier
    if calibrate:
        name, texts = "epsilon", values.epsilon
    numbers = _numbers(name, texts)
    config = AuditConfig(
        dataset=values.dataset,
        data_dir=values.data_dir,
        model=values.model or ("fully_connected" if values.dataset in VECTORS else "cnn"),
        adversaries=asked,
        options={name: _options_of(command, name) for name in asked},
        num_examples=values.num_examples,
        batch_size=values.batch_size,
        steps=values.steps,
        clipping_norm=values.clipping_norm,
        noise_multiplier=1.0 if calibrate else numbers[0],
        learning_rate=values.learning_rate,
        delta=values.delta,
        accountant=values.accountant,
        initialization=values.initialization,
        trials=values.trials,
        confidence=values.confidence,
        threshold=_threshold(command),
        seed=values.seed,
        adjacency=values.adjacency,
    )
    sigmas = [_calibrated(config, epsilon) for epsilon in numbers] if calibrate else numbers
    return {
        f"{name}-{number:g}": dataclasses.replace(config, noise_multiplier=sigma)
        for number, sigma in zip(numbers, sigmas, strict=True)
    }


def _numbers(name: str, texts: list[str]) -> list[float]:
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        raise ValueError(f"{name} must be a number or several, got {','.join(texts)}") from None
    require(bool(numbers), name, "a number or several", "none")
    require(len(set(numbers)) == len(numbers), name, "different numbers", ",".join(texts))
    return numbers


def _calibrated(config: AuditConfig, epsilon: float) -> float:
    rate = config.plan.sampling_rate
    return calibrated_noise(epsilon, config.delta, rate, config.steps, config.accountant, config.adjacency)


def _options_of(command: Command, adversary: str) -> Any:
    """An adversary's options as the flags give them."""
    kind = ADVERSARIES[adversary].options
    return kind(**{field.name: command.values[field.name].value for field in dataclasses.fields(kind)})


def stop_from_flags(command: Command, config: AuditConfig) -> StopRule | None:
    """The rule that ends the run early; None where neither flag is given."""
    above, width = command.values.stop_when_above, command.values.stop_when_width
    if above is None and width is None:
        return None
    for name, value in (("stop_when_above", above), ("stop_when_width", width)):
        require(value is None or value >= 0, name, ">= 0", value)
    check_beyond_pilot(config.trials)
    return StopRule(above, width, config.delta, config.confidence)


def _threshold(command: Command) -> str | float:
    text = command.values.threshold
    if command.values.stop_when_above is not None or command.values.stop_when_width is not None:
        free = text == "anytime" or not command.given("threshold")
        require(free, "threshold", "anytime where a stop rule is given (no other survives it)", text)
        return "anytime"
    rules = ("held-out", "explicit", "every", "anytime", "same-sample")
    if text in rules:
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"threshold must be a number or one of {', '.join(rules)}, got {text}") from None


def body(command: Command) -> None:
    """The command: flags → configuration → run → report."""
    values = command.values
    require(values.cpu_devices >= 1, "cpu_devices", ">= 1", values.cpu_devices)
    require(values.chunk >= 0, "chunk", ">= 0", values.chunk)
    hosts = Hosts(values.coordinator_address, values.num_processes, values.process_id)
    start_jax(values.cpu_devices, hosts)
    configs = configs_from_flags(command)
    first = next(iter(configs.values()))
    stop = stop_from_flags(command, first)
    if values.dry_run:
        devices, chunk = jax.local_devices(), chunk_size(values.chunk, first.trials, len(jax.local_devices()))
        for config in configs.values():
            print(measure_cost(config, chunk, devices))
        return
    documents = run_audits(
        list(configs.values()),
        _folders(values.out, configs),
        stop=stop,
        hosts=hosts,
        chunk=values.chunk,
        say=lambda line: print(line, file=sys.stderr),
    )
    for document in documents:
        if values.json and document:
            print(json.dumps(document, ensure_ascii=False))


def _folders(out: str | None, configs: dict[str, AuditConfig]) -> list[epath.Path]:
    """A ledger for each run: `out` itself where there is one, folders below it where there are several."""
    folder = epath.Path(out or f"runs/audit-{next(iter(configs.values())).identity[:12]}")
    return [folder / name for name in configs] if len(configs) > 1 else [folder]


if __name__ == "__main__":
    main(make_command(), body)
