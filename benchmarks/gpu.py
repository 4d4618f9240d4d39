"""Speed of training on an accelerator, in one process and under ten minutes; prints one table last.

    python benchmarks/gpu.py

Peers are measured where they are installed. `--small` makes the numbers meaningless and the run short (tests).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from speed.measure import machine, measure
from speed.summary import ratios, table
from speed.workloads import Row


def rows(trials: list[int], batch: int) -> list[Row]:
    """What matters first, first: the time may run out."""
    wanted = []
    for network in ("cnn", "fully_connected"):
        wanted += [Row(network, "non_private", batch=batch)]
        wanted += [Row(network, "book_keeping", t, batch) for t in trials]
        wanted += [Row(network, "book_keeping", trials[-1], batch, poisson=True)]
        wanted += [Row(network, "vmap_grad", t, batch) for t in trials]
        wanted += [
            Row(network, peer, batch=batch) for peer in ("jax_privacy", "opacus_hooks", "opacus_ghost")
        ]
    return wanted


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="tiny batches, one trial")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    parser.add_argument("--limit", type=float, default=540.0, help="seconds after which no row is begun")
    parser.add_argument("--out", type=pathlib.Path, default=None, help="JSON file to write")
    options = parser.parse_args()
    import jax

    began, results = time.monotonic(), []
    for row in rows([1] if options.small else [1, 64, 512], 8 if options.small else 256):
        if time.monotonic() - began > options.limit:
            break
        try:
            found = measure(row, options.seconds)
        except Exception as error:  # a peer that is missing or out of memory must not end the run
            found = {"error": f"{type(error).__name__}: {error}"[:200]}
        results.append(dataclasses.asdict(row) | found)
        print(f"{time.monotonic() - began:4.0f} s: {row.network}, {row.name}: {found}", flush=True)
    described = machine() | {"device": jax.devices()[0].device_kind}
    report = {"machine": described, "rows": results, "ratios": ratios(results)}
    if options.out is not None:
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(described)
    print(table(report))


if __name__ == "__main__":
    main()
