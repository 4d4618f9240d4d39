"""Noise for an advantage of 0.1 (q = 0.002, T = 10,000): ours beside riskcal, in one run.

    pip install privacy-audit[benchmarks] && python benchmarks/calibration.py

writes benchmarks/results/calibration.json. Both start cold (no cached profile) every time. The advantage at
either σ is recomputed by dp_accounting on a finer grid.
"""

import importlib.metadata
import json
import os
import pathlib
import platform
import time

import numpy as np
import riskcal
from dp_accounting.pld import privacy_loss_distribution

from privacy_audit.bounds.calibrate_risk import noise_multiplier_for_advantage
from privacy_audit.bounds.profiles import dpsgd

ADVANTAGE, SAMPLING_RATE, STEPS, REPETITIONS = 0.1, 0.002, 10_000, 3
RESULT = pathlib.Path(__file__).parent / "results" / "calibration.json"


def timed(calibrate, repetitions: int = REPETITIONS) -> dict:
    """σ and the seconds of each repetition."""
    seconds = []
    for _ in range(repetitions):
        dpsgd._composed.cache_clear()
        start = time.perf_counter()
        sigma = float(calibrate())
        seconds.append(time.perf_counter() - start)
    return {"sigma": sigma, "seconds": seconds, "median_seconds": float(np.median(seconds))}


def advantage_at(sigma: float) -> float:
    """Advantage at σ by dp_accounting on a grid ten times finer than riskcal's default, slightly above the truth."""
    one = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sampling_prob=SAMPLING_RATE, value_discretization_interval=1e-5
    )
    return float(one.self_compose(STEPS).get_delta_for_epsilon(0.0))


def main() -> None:
    """Runs both, prints and writes the comparison."""
    peer_call = riskcal.calibration.find_noise_multiplier_for_advantage_dpsgd
    ours = timed(lambda: noise_multiplier_for_advantage(ADVANTAGE, SAMPLING_RATE, STEPS))
    result = {
        "config": {"advantage": ADVANTAGE, "sampling_rate": SAMPLING_RATE, "steps": STEPS},
        "command": "python benchmarks/calibration.py",
        "ours": ours | {"advantage": advantage_at(ours["sigma"])},
        "versions": {
            name: importlib.metadata.version(name) for name in ("riskcal", "dp-accounting", "numpy", "scipy")
        }
        | {"python": platform.python_version()},
        "hardware": {"cores": os.cpu_count(), "machine": platform.machine(), "processor": _processor()},
    }
    for name, options in (("riskcal", {}), ("riskcal, tolerance 1e-5", {"advantage_tol": 1e-5})):
        peer = timed(lambda options=options: peer_call(ADVANTAGE, SAMPLING_RATE, STEPS, **options))
        result[name] = peer | {"advantage": advantage_at(peer["sigma"])}
        result[name]["relative_sigma_difference"] = abs(peer["sigma"] / ours["sigma"] - 1)
        result[name]["times_slower_than_ours"] = peer["median_seconds"] / ours["median_seconds"]
    text = json.dumps(result, indent=1)
    print(text)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text + "\n")


def _processor() -> str:
    info = pathlib.Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


if __name__ == "__main__":
    main()
