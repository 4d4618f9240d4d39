"""All tables; seconds, so nothing is kept between runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from etils import epath

from privacy_audit.report.document import hardware, versions
from privacy_audit.reproduce.adversary_aware.tables.guidance import (
    ADVANTAGE,
    DELTA,
    Training,
    guidance_rows,
    head_rows,
)
from privacy_audit.risk import tables as risk


@dataclass(frozen=True)
class Settings:
    """Which noise is calibrated for the guidance, for how many guesses at a secret; whether optima are solved for."""

    training: Training
    guesses: tuple[int, ...]
    counterexamples: bool = True


SCALES = {
    "smoke": Settings(Training(0.1, 10), (1,), counterexamples=False),
    "desk": Settings(Training(0.01, 1_000), (1, 10)),
    "paper": Settings(Training(0.01, 1_000), (1, 10)),
}


def run(settings: Settings, out: epath.Path, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    """U's Tables 1 and 2 and its 'SEX' row beside ours, and guidance for real lists."""
    began = time.monotonic()
    say("tables …")
    return {
        "coverage": risk.coverage_table(),
        "protection": risk.protection_table(),
        "sex": risk.sex_table(),
        "counterexamples": risk.counterexample_table() if settings.counterexamples else [],
        "heads": head_rows(),
        "training": asdict(settings.training),
        "advantage": ADVANTAGE,
        "delta": DELTA,
        "guidance": guidance_rows(settings.training, settings.guesses),
        "seconds": round(time.monotonic() - began, 1),
        "versions": versions(),
        "hardware": hardware(),
    }


def cost(settings: Settings) -> str:
    """One line."""
    return f"tables: two tables, and noise for {3 * len(settings.guesses)} lists and limits; about a minute"
