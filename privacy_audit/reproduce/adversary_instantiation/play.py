"""Plays the cells one after the other, each in its own ledger; a run that is stopped goes on from there."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence

import jax
from etils import epath

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.config import AuditConfig
from privacy_audit.dry_run import Cost, measure_cost
from privacy_audit.reproduce.adversary_instantiation.cells import Cell, audit_config
from privacy_audit.reproduce.adversary_instantiation.settings import Scale
from privacy_audit.reproduce.adversary_instantiation.stored import report_of
from privacy_audit.run import run_audit

MEASURED_STEPS = 10


@dataclasses.dataclass(frozen=True)
class Session:
    """Where and how a reproduction runs.

    Attributes:
        adversaries: who plays; what the others would show is left open.
    """

    scale: Scale
    out: epath.Path
    data_dir: str | None
    seed: int
    adversaries: tuple[str, ...] = tuple(ADVERSARIES)

    def config(self, cell: Cell) -> AuditConfig:
        """Of a cell's adversaries."""
        whole = audit_config(cell, self.scale, self.data_dir, self.seed)
        options = {name: whole.options[name] for name in self.adversaries}
        return dataclasses.replace(whole, adversaries=self.adversaries, options=options)

    def counted_config(self, cell: Cell) -> AuditConfig:
        """Of the dataset adversary alone, at the number of trials that the paper gives it."""
        config = self.config(cell)
        return dataclasses.replace(
            config,
            adversaries=("dataset",),
            options={"dataset": config.options["dataset"]},
            trials=self.scale.dataset_trials,
            threshold="explicit",
        )

    def folder(self, cell: Cell) -> epath.Path:
        """The ledger of a cell; of some adversaries alone it is another one."""
        some = "" if self.adversaries == tuple(ADVERSARIES) else "-only-" + "+".join(self.adversaries)
        return self.out / "cells" / (cell.name + some)

    def counted_folder(self, cell: Cell) -> epath.Path:
        """The ledger of its dataset adversary at many trials."""
        return self.out / "cells" / f"{cell.name}-dataset"

    def audits(self, cell: Cell) -> list[tuple[epath.Path, Callable[[], AuditConfig]]]:
        """All that is played of a cell, each in its folder; the last is the counted one, where there is any."""
        many = (
            [(self.counted_folder(cell), functools.partial(self.counted_config, cell))]
            if "dataset" in self.adversaries
            else []
        )
        return [(self.folder(cell), functools.partial(self.config, cell)), *many]


def play_cells(session: Session, cells: Sequence[Cell], minutes: float, say: Callable[[str], None]) -> None:
    """Plays what has no report yet of these cells; after `minutes` no further one is begun."""
    began = time.monotonic()
    for cell in cells:
        for folder, make in session.audits(cell):
            if report_of(folder, make) is not None:
                continue
            if time.monotonic() - began > 60 * minutes:
                say(f"{minutes:g} minutes are over; the same command goes on with {cell.name}")
                return
            say(f"{folder.name} …")
            run_audit(make(), folder, say=say)


@dataclasses.dataclass(frozen=True)
class Outlook:
    """What a cell costs, from a measurement of its first steps.

    Attributes:
        steps: of the cell's training; `cost` was measured on fewer.
    """

    cell: Cell
    steps: int
    cost: Cost

    @property
    def hours(self) -> float:
        """Of all trainings, in proportion to the steps; without crafting."""
        measured = self.cost.config.steps
        return self.cost.trainings * self.cost.seconds_per_training * self.steps / measured / 3600

    def __str__(self) -> str:
        cost, config = self.cost, self.cost.config
        per_step = cost.seconds_per_training / config.steps
        return (
            f"{self.cell.name:<14} {self.steps:>6} steps, N = {config.num_examples}, q = "
            f"{config.plan.sampling_rate:.4g}, σ = {config.noise_multiplier:g}: {cost.trainings} trainings, "
            f"{self.hours:.3g} h ({1e3 * per_step:.3g} ms a step), {cost.bytes_at_work / 2**20:.0f} MiB a device, "
            f"{cost.seconds_preparing:.0f} s of preparation at {config.steps} steps"
        )


def outlook(session: Session, cells: Sequence[Cell]) -> list[Outlook]:
    """Measured on two small chunks of `MEASURED_STEPS` steps of each cell."""
    devices = jax.local_devices()
    found = []
    for cell in cells:
        config = session.config(cell)
        short = dataclasses.replace(config, steps=min(config.steps, MEASURED_STEPS))
        found.append(Outlook(cell, config.steps, measure_cost(short, len(devices), devices)))
    return found
