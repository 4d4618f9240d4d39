"""Trials over devices: each device takes its share, one compiled program for all."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

AXIS = "trials"


def use_all_cores(count: int) -> None:
    """Makes a CPU host show `count` devices; harmless once JAX has started or where accelerators serve."""
    try:
        jax.config.update("jax_num_cpu_devices", count)
    except RuntimeError:
        return


def over_devices(function: Callable, devices: Sequence[jax.Device], mapped: int) -> Callable:
    """Splits the last `mapped` arguments and all outputs along their first axis over `devices`.

    The other arguments are given whole to each device. The axis must be a multiple of the device count.
    """
    mesh = Mesh(np.asarray(devices), (AXIS,))
    share, whole = PartitionSpec(AXIS), PartitionSpec()
    arguments = len(inspect.signature(function).parameters)
    in_specs = (whole,) * (arguments - mapped) + (share,) * mapped
    return _shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=share)


def _shard_map(function: Callable, **specs) -> Callable:
    """`shard_map` without the replication check, under the names of JAX 0.6 and of today."""
    shard_map = getattr(jax, "shard_map", None)
    if shard_map is None:
        from jax.experimental.shard_map import shard_map
    parameters = inspect.signature(shard_map).parameters
    unchecked = "check_vma" if "check_vma" in parameters else "check_rep"
    return shard_map(function, **specs, **{unchecked: False})
