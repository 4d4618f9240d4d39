"""What a run would cost, without playing it: two chunks are measured, nothing is written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np

from privacy_audit.config import AuditConfig
from privacy_audit.match import Match, compile_match
from privacy_audit.prepare import craft_all, prepare_task
from privacy_audit.train.backend import memory_of


@dataclass(frozen=True)
class Cost:
    """What `--dry_run` prints.

    Attributes:
        chunk: trials per call of the compiled program.
        bytes_at_work: memory of one call on each device, as the compiler states it.
        bytes_there: what a device has.
        trainings: in the whole run.
        seconds_preparing: measured: crafting and compiling.
        seconds_per_training: measured on the second of two chunks in each world.
    """

    config: AuditConfig
    devices: int
    chunk: int
    bytes_at_work: int
    bytes_there: int
    trainings: int
    seconds_preparing: float
    seconds_per_training: float

    def __str__(self) -> str:
        config, plan = self.config, self.config.plan
        proven = float(config.profile.epsilon(config.delta))
        total = self.seconds_preparing + self.trainings * self.seconds_per_training
        return "\n".join(
            [
                f"proven ε            {proven:.4g} at δ = {config.delta:g} ({config.adjacency}, {config.accountant})",
                f"training            {plan.steps} steps, N = {plan.num_examples}, q = {plan.sampling_rate:.4g}, "
                f"C = {plan.clipping_norm:g}, σ = {plan.noise_multiplier:.4g}",
                f"trainings           {self.trainings} in all, {config.trials} trials per world",
                f"trials per chunk    {self.chunk} on {self.devices} device(s)",
                f"memory              {self.bytes_at_work / 2**20:.0f} of {self.bytes_there / 2**20:.0f} MiB a device",
                f"time                {total:.0f} s ({self.seconds_preparing:.0f} s of preparation, "
                f"{self.seconds_per_training * 1e3:.3g} ms a training)",
            ]
        )


def measure_cost(config: AuditConfig, chunk: int, devices: Sequence[jax.Device]) -> Cost:
    """Prepares and compiles a run, plays two chunks of each world and throws them away."""
    began = time.monotonic()
    task = prepare_task(config)
    match = compile_match(task, craft_all(config, task), config.seed, devices)
    needs = max((game.bytes_for(chunk) for game in match.games), default=0)
    _played(match, 0, chunk)
    preparing = time.monotonic() - began
    seconds = _played(match, chunk, chunk)
    return Cost(
        config=config,
        devices=len(devices),
        chunk=chunk,
        bytes_at_work=needs,
        bytes_there=memory_of(devices[0]),
        trainings=max(match.trained, 1) * config.trials,
        seconds_preparing=preparing,
        seconds_per_training=seconds / (chunk * max(match.trained, 1)),
    )


def _played(match: Match, first: int, chunk: int) -> float:
    """Seconds that one chunk of every joiner takes."""
    began = time.monotonic()
    trials = np.arange(first, first + chunk, dtype=np.int32)
    for who in range(match.joiners + 1):
        jax.block_until_ready(match(who, trials))
    return time.monotonic() - began
