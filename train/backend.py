"""What depends on the kind of device, in one place: how much at once, compiler options."""

from __future__ import annotations

import os
from collections.abc import Callable

import jax

CACHE_BYTES = 4 * 2**20
"""What a CPU core works on at once (measured: its caches and some more)."""

FREE_FROM = 0.9
"""The share of a device's memory that a program may need."""

DEVICE_BYTES = 2 * 2**30
"""What an accelerator works on at once."""


def is_cpu() -> bool:
    """Whether JAX computes on the host's own cores."""
    return jax.default_backend() == "cpu"


def most_trials_at_once() -> int:
    """How many trials one device trains side by side; more only pays where cores are many and small."""
    return 1 if is_cpu() else 32


def trials_at_once(bytes_for: Callable[[int], int], memory: int) -> int:
    """As many as are of use and leave a tenth of a device's memory free.

    Args:
        bytes_for: trials side by side -> bytes that their program needs on a device; NotImplementedError where JAX
            cannot train several (it does not vmap every gradient of a convolution).
        memory: bytes of a device.

    Raises:
        ValueError: not even one fits.
    """
    most = most_trials_at_once()
    if most == 1:  # a host's memory is not asked for: its system decides
        return 1
    trials = most
    while trials and not _fits(bytes_for, trials, memory):
        trials //= 2
    if not trials:
        needs = f"{bytes_for(1) / 2**20:.0f} MiB for one trial"
        raise ValueError(f"model and batch must fit {memory / 2**20:.0f} MiB of device memory, got {needs}")
    return trials


def _fits(bytes_for: Callable[[int], int], trials: int, memory: int) -> bool:
    try:
        return bytes_for(trials) <= FREE_FROM * memory
    except NotImplementedError:
        return False


def memory_of(device: jax.Device) -> int:
    """Bytes that a device holds, or its host where it has no memory of its own."""
    known = device.memory_stats() or {}
    return known.get("bytes_limit") or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def examples_at_once(bytes_of_an_example: int) -> int:
    """How many examples of a batch are worked on at once, given the bytes that one needs."""
    budget, most = (CACHE_BYTES, 256) if is_cpu() else (DEVICE_BYTES, 65_536)
    fitting = budget // max(bytes_of_an_example, 1)
    return max(8, min(most, fitting // 8 * 8))


def compiler_options() -> dict[str, str | bool]:
    """Options for `jax.jit` of a training program.

    On a CPU, XLA drops optimisation barriers before it fuses, and then computes what they protect
    several times over; kept, they make the convolutional network 1.25 times as fast.
    """
    return {"xla_disable_hlo_passes": "cse_barrier_expander"} if is_cpu() else {}
