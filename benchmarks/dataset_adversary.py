"""The dataset adversary at 10⁶ and 10⁸ trials per world: ε̂ of every seed, by a valid and by the papers' convention.

    python benchmarks/dataset_adversary.py --out=benchmarks/results/dataset_adversary.json

Proven ε = 4, δ = 1e-5, two-sided 95%. The threshold comes from the score's exact law, before any trial; beside it the
one that the counted trials themselves prefer (not a valid bound). At q = 1 and T = 4 the best test expects
3.08 and 3.79.
"""

import dataclasses
import json
import statistics
import tempfile
import time

import jax
from absl import app, flags

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.config import AuditConfig, calibrated_noise
from privacy_audit.counted import counted_document, play_counted
from privacy_audit.devices import use_all_cores
from privacy_audit.estimate.result import finite_or_none
from privacy_audit.ledger import open_ledger
from privacy_audit.report.document import hardware, versions

OUT = flags.DEFINE_string("out", None, "JSON file; it is kept up to date after every seed", required=True)
SMALL_SEEDS = flags.DEFINE_integer("small_seeds", 20, "seeds at 10⁶ trials per world")
LARGE_SEEDS = flags.DEFINE_integer("large_seeds", 5, "seeds at 10⁸ trials per world")
EPSILON, DELTA = 4.0, 1e-5


def configuration(batch_size: int, steps: int, trials: int, seed: int) -> AuditConfig:
    """N = 1000 at q = batch_size/N."""
    sigma = calibrated_noise(EPSILON, DELTA, batch_size / 1000, steps, "pld")
    return AuditConfig(
        dataset="mnist5k",
        data_dir=None,
        model="cnn",
        adversaries=("dataset",),
        options={"dataset": ADVERSARIES["dataset"].options()},
        num_examples=1000,
        batch_size=batch_size,
        steps=steps,
        clipping_norm=1.0,
        noise_multiplier=sigma,
        learning_rate=0.0,
        delta=DELTA,
        accountant="pld",
        initialization="fixed",
        trials=trials,
        confidence=0.95,
        threshold="explicit",
        seed=seed,
    )


def play(config: AuditConfig) -> dict:
    """One seed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ledger = open_ledger(folder, {"identity": config.identity, "config": config.to_json()})
        entry = counted_document(*play_counted(config, ledger, jax.devices()), config)
    kept = ("threshold", "false_positives", "false_negatives", "epsilon_lower", "epsilon_point")
    return {
        "seed": config.seed,
        "explicit": {name: entry["estimate"][name] for name in kept},
        "same_sample_not_valid": {name: entry["same_sample"][name] for name in kept},
        "auc": entry["auc"],
        "seconds": round(time.monotonic() - began, 1),
    }


def main(argv):
    """Plays all rows, writing after every seed."""
    del argv
    use_all_cores(2)
    rows = [
        (1000, 4, 10**6, SMALL_SEEDS.value),
        (100, 100, 10**6, max(1, SMALL_SEEDS.value // 4)),
        (1000, 4, 10**8, LARGE_SEEDS.value),
    ]
    report = {
        "command": __doc__.split("\n\n")[1].strip(),
        "versions": versions(),
        "hardware": hardware(),
        "rows": [],
    }
    for batch_size, steps, trials, seeds in rows:
        config = configuration(batch_size, steps, trials, 0)
        row = {
            "sampling_rate": config.plan.sampling_rate,
            "steps": steps,
            "trials_per_world": trials,
            "epsilon_proven": float(config.profile.epsilon(DELTA)),
            "config": config.to_json(),
            "seeds": [],
        }
        report["rows"].append(row)
        for seed in range(seeds):
            row["seeds"].append(play(dataclasses.replace(config, seed=seed)))
            for rule in ("explicit", "same_sample_not_valid"):
                row[f"median_{rule}"] = statistics.median(s[rule]["epsilon_lower"] for s in row["seeds"])
            with open(OUT.value, "w") as file:
                json.dump(finite_or_none(report), file, indent=1, ensure_ascii=False)
        print(trials, steps, row["median_explicit"], row["median_same_sample_not_valid"], flush=True)


if __name__ == "__main__":
    app.run(main)
