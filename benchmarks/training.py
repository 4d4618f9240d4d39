"""Speed of training, side by side: our engines, XLA without privacy, jax_privacy, Opacus, a Python loop.

    pip install -e ".[peers]" && python benchmarks/training.py

Every row is its own process; the rows are gone through several times, so that a disturbance of the machine
meets all of them. Results: benchmarks/results/training.json and training.png.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from speed.measure import OURS, machine, measure
from speed.picture import draw
from speed.summary import ratios, table
from speed.workloads import Row

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
PEERS = ("jax_privacy", "opacus_hooks", "opacus_ew", "opacus_ghost", "loop")


def rows(networks: list[str], trials: list[int], batch: int, large: int, peers: list[str]) -> list[Row]:
    """Every measurement, in the order of one round."""
    wanted = []
    for network in networks:
        wanted += [Row(network, "non_private", batch=batch)]
        wanted += [Row(network, engine, t, batch) for t in trials for engine in OURS]
        wanted += [Row(network, "book_keeping", trials[-1], batch, poisson=True)]
        wanted += [Row(network, peer, batch=batch) for peer in peers]
        wanted += [Row(network, program, batch=large) for program in ("non_private", "book_keeping")]
    return wanted


def one_row(row: Row, seconds: float, cores: int) -> dict:
    """Measures `row` in a fresh process."""
    arguments = [
        "--row",
        json.dumps(dataclasses.asdict(row)),
        "--seconds",
        str(seconds),
        "--cores",
        str(cores),
    ]
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "Error" in line]
        return {"error": (lines or ["no message"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def best_of(rounds: list[dict]) -> dict:
    """The fastest round, with every round's median beside it."""
    good = [one for one in rounds if "error" not in one]
    if not good:
        return rounds[-1]
    fastest = max(good, key=lambda one: one["best"])
    return fastest | {"medians": [one["median"] for one in good]}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=["fully_connected", "cnn"])
    parser.add_argument("--trials", nargs="+", type=int, default=[1, 16, 64])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--large_batch", type=int, default=4096)
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--cores", type=int, default=machine()["cores"])
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS / "training")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        row = Row(**json.loads(options.row))
        if row.program in OURS:
            from privacy_audit.devices import use_all_cores

            use_all_cores(options.cores)
        print(json.dumps(measure(row, options.seconds)))
        return
    wanted = rows(options.networks, options.trials, options.batch, options.large_batch, options.peers)
    found: dict[Row, list[dict]] = {row: [] for row in wanted}
    described = machine()
    for number in range(options.rounds):
        for row in wanted:
            found[row].append(one_row(row, options.seconds, options.cores))
            print(f"round {number + 1}: {row.network}, {row.name}: {found[row][-1]}", flush=True)
    results = [dataclasses.asdict(row) | best_of(rounds) for row, rounds in found.items()]
    report = {"machine": described, "options": vars(options) | {"out": None}, "rows": results}
    report["ratios"] = ratios(results)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
    draw(report, options.out.with_suffix(".png"))
    print(table(report))


if __name__ == "__main__":
    main()
