"""How time and memory of an audit grow with trials and steps, on one core.

    python benchmarks/growth.py

Seconds of the processor, not of the clock, so that other work on the machine matters little; the straight line is the
least-squares one in relative error. Result: benchmarks/results/growth.json.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import sys
import time
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import jax
import numpy as np
from speed.measure import machine

from privacy_audit.config import AuditConfig
from privacy_audit.game import Game, compile_game
from privacy_audit.prepare import craft_all, prepare_task

TRIALS, STEPS = (32, 64, 128, 256), (8, 16, 32, 64)
CHUNK, REPEATS = 32, 5
RESULT = pathlib.Path(__file__).resolve().parent / "results" / "growth.json"


def config(steps: int) -> AuditConfig:
    """A convolutional network on real digits, watched by one adversary."""
    return AuditConfig(
        dataset="mnist5k",
        data_dir=None,
        model="cnn",
        adversaries=("api_access",),
        options={},
        num_examples=200,
        batch_size=20,
        steps=steps,
        clipping_norm=1.0,
        noise_multiplier=1.0,
        learning_rate=0.15,
        delta=1e-5,
        accountant="pld",
        initialization="fixed",
        trials=max(TRIALS),
        confidence=0.95,
        threshold="held-out",
        seed=0,
    )


def game(steps: int) -> Game:
    """Compiled for one core."""
    settings = config(steps)
    task = prepare_task(settings)
    return compile_game(task, craft_all(settings, task), settings.seed, jax.devices()[:1])


def seconds(play: Game, trials: int) -> float:
    """Of the processor, for so many trials in chunks; the least of several runs."""
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        for first in range(0, trials, CHUNK):
            jax.block_until_ready(play(0, np.arange(first, first + CHUNK, dtype=np.int32)))
        found.append(time.process_time() - began)
    return min(found)


def misfit(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Largest relative distance from the best straight line."""
    x, y = np.asarray(sizes, float), np.asarray(times)
    line = np.polynomial.Polynomial.fit(x, y, 1, w=1 / y)
    return float(np.max(np.abs(line(x) / y - 1)))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=RESULT)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {0})
    games = {steps: game(steps) for steps in STEPS}
    for play in games.values():
        seconds(play, CHUNK)
    by_steps = {steps: seconds(play, CHUNK) for steps, play in games.items()}
    resident = [_peak_mib()]
    by_trials = {trials: seconds(games[STEPS[0]], trials) for trials in TRIALS}
    resident.append(_peak_mib())
    report = {
        "machine": machine(),
        "seconds_by_steps": by_steps,
        "seconds_by_trials": by_trials,
        "misfit_of_line": {
            "steps": misfit(STEPS, list(by_steps.values())),
            "trials": misfit(TRIALS, list(by_trials.values())),
        },
        "program_mib_by_steps": {steps: play.bytes_for(CHUNK) / 2**20 for steps, play in games.items()},
        "peak_mib_before_and_after_many_trials": resident,
    }
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
