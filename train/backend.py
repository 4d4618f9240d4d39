"""What depends on the kind of device, in one place: how much at once, compiler options."""

from __future__ import annotations

import jax

CACHE_BYTES = 4 * 2**20
"""What a CPU core works on at once (measured: its caches and some more)."""

DEVICE_BYTES = 2 * 2**30
"""What an accelerator works on at once."""


def is_cpu() -> bool:
    """Whether JAX computes on the host's own cores."""
    return jax.default_backend() == "cpu"


def trials_at_once() -> int:
    """How many trials one device trains side by side; more only pays where cores are many and small."""
    return 1 if is_cpu() else 32


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
