"""What depends on the kind of device, in one place: how many trials at once, compiler options."""

from __future__ import annotations

import jax


def is_cpu() -> bool:
    """Whether JAX computes on the host's own cores."""
    return jax.default_backend() == "cpu"


def trials_at_once() -> int:
    """How many trials one device trains side by side; more only pays where cores are many and small."""
    return 1 if is_cpu() else 32


def compiler_options() -> dict[str, str | bool]:
    """Options for `jax.jit` of a training program."""
    return {}
