"""Devices and hosts: each device takes its share of a chunk, each process its share of the blocks."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from privacy_audit.train.data import cache_folder

AXIS = "trials"


@dataclass(frozen=True)
class Hosts:
    """The processes that share a run; each plays its own blocks on its own devices.

    Attributes:
        coordinator: address of process 0 for `jax.distributed`; None where hosts need not know each other.
        count: number of processes.
        index: this one's number.
    """

    coordinator: str | None = None
    count: int = 1
    index: int = 0

    def __post_init__(self):
        if self.count < 1:
            raise ValueError(f"num_processes must be >= 1, got {self.count}")
        if not 0 <= self.index < self.count:
            raise ValueError(f"process_id must be in 0 … {self.count - 1}, got {self.index}")

    def mine(self, items: Sequence) -> list:
        """Every `count`-th item, from this process's number on."""
        return list(items[self.index :: self.count])


def use_all_cores(count: int) -> None:
    """Makes a CPU host show `count` devices; harmless once JAX has started or where accelerators serve."""
    with contextlib.suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", count)


def start_jax(cpu_devices: int, hosts: Hosts = Hosts()) -> None:
    """Sets up JAX for a command: all cores of a CPU host, a persistent compilation cache, other hosts.

    Must come before JAX's first computation; where that is past, what is running is kept.
    """
    use_all_cores(cpu_devices)
    if jax.config.jax_compilation_cache_dir is None:
        jax.config.update("jax_compilation_cache_dir", str(cache_folder() / "xla"))
    if hosts.coordinator is not None:
        if hasattr(jax.config, "jax_enable_recoverability"):  # a host may die and come back
            jax.config.update("jax_enable_recoverability", True)
        jax.distributed.initialize(hosts.coordinator, hosts.count, hosts.index)


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
