"""`python -m privacy_audit.audit`: a lower bound on the ε of a DP-SGD run, beside its proven ε."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

import jax
from etils import epath

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.audit_flags import make_command
from privacy_audit.command import Command, main
from privacy_audit.config import (
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


def configs_from_flags(command: Command) -> dict[str, AuditConfig]:
    """Builds and checks a configuration for each σ, or ε to which noise is calibrated; by name of its run."""
    values = command.values
    calibrate = values.noise_multiplier is None
    require(
        calibrate or not command.given("epsilon"),
        "noise_multiplier",
        "left out where epsilon is given",
        ",".join(values.noise_multiplier or []),
    )
    name = "epsilon" if calibrate else "noise_multiplier"
    numbers = _numbers(name, values[name].value)
    config = _config(command, 1.0 if calibrate else numbers[0])
    sigmas = [_calibrated(config, epsilon) for epsilon in numbers] if calibrate else numbers
    return {
        f"{name}-{number:g}": dataclasses.replace(config, noise_multiplier=sigma)
        for number, sigma in zip(numbers, sigmas, strict=True)
    }


def _config(command: Command, noise_multiplier: float) -> AuditConfig:
    """The configuration at one σ."""
    values = command.values
    asked = tuple(ADVERSARIES if values.adversary == ["all"] else dict.fromkeys(values.adversary))
    for name in asked:
        one_of("adversary", name, ADVERSARIES)
    one_of("dataset", values.dataset, DATASETS)
    return AuditConfig(
        dataset=values.dataset,
        data_dir=values.data_dir,
        model=values.model or ("fully_connected" if values.dataset in VECTORS else "cnn"),
        adversaries=asked,
        options={name: _options_of(command, name) for name in asked},
        num_examples=values.num_examples,
        batch_size=values.batch_size,
        steps=values.steps,
        clipping_norm=values.clipping_norm,
        noise_multiplier=noise_multiplier,
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


def _numbers(name: str, texts: list[str]) -> list[float]:
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        raise ValueError(f"{name} must be a number or several, got {','.join(texts)}") from None
    require(bool(numbers), name, "a number or several", "none")
    shown = {f"{number:g}" for number in numbers}
    require(len(shown) == len(numbers), name, "numbers that differ in six digits", ",".join(texts))
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
