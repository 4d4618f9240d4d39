"""Stopwatch and memory of one program in one process."""

from __future__ import annotations

import contextlib
import os
import pathlib
import platform
import re
import statistics
import time
from importlib import metadata

from .workloads import Row

OURS = ("book_keeping", "vmap_grad", "plain_vmap_grad")
"""`plain_vmap_grad`: all examples of a batch at once, as one writes it in JAX; our engine takes cached pieces."""


def programs() -> dict:
    """name -> constructor of (run, lower)."""
    from . import jax_rows, ours, torch_rows

    own = {name: lambda row: ours.program(row, ours.devices_of(row)) for name in OURS}
    return own | {
        "non_private": jax_rows.non_private,
        "jax_privacy": jax_rows.jax_privacy,
        "loop": jax_rows.loop,
        "opacus_hooks": torch_rows.opacus("hooks"),
        "opacus_ew": torch_rows.opacus("ew"),
        "opacus_ghost": torch_rows.opacus("ghost"),
    }


def measure(row: Row, seconds: float) -> dict:
    """Examples per second (best and median of the runs), seconds to compile, peak memory in MiB.

    `temporary_mib` is what XLA plans for beside arguments and results; `peak_mib` is the growth of the
    process while it trains.
    """
    run, lower = programs()[row.program](row)
    began = time.perf_counter()
    run()
    first = time.perf_counter() - began
    _reset_peak()
    before = _status("VmRSS")
    rates, began = [], time.perf_counter()
    while len(rates) < 3 or time.perf_counter() - began < seconds:
        start = time.perf_counter()
        count = run()
        rates.append(count / (time.perf_counter() - start))
    result = {
        "best": max(rates),
        "median": statistics.median(rates),
        "compile_s": max(0.0, first - count / statistics.median(rates)),
        "peak_mib": max(0.0, _status("VmHWM") - before),
    }
    if lower is not None:
        analysis = lower().compile().memory_analysis()
        result["temporary_mib"] = analysis.temp_size_in_bytes / 2**20 if analysis else None
    return result


def machine() -> dict:
    """What the numbers were measured on."""
    cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    names = ("jax", "jaxlib", "jax_privacy", "torch", "opacus", "numpy", "objax")
    versions = {}
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "cpu": cpu.group(1) if cpu else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load_average_at_start": os.getloadavg()[0],
        "versions": versions,
    }


def _status(field: str) -> float:
    text = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s*(\d+)", text).group(1)) / 1024


def _reset_peak() -> None:
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/clear_refs").write_text("5")
