"""All numbers of the part; minutes, so nothing is kept between runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from etils import epath

from privacy_audit.report.document import hardware, versions
from privacy_audit.reproduce.adversary_aware.secrets import kinds
from privacy_audit.reproduce.adversary_aware.tightness.gaussian import DELTA, SHIFTS, curve, many_secrets
from privacy_audit.reproduce.adversary_aware.tightness.response import SYMBOLS, response_rows, widest_gaps


@dataclass(frozen=True)
class Settings:
    """Numbers of points along the curves, and the ε at which 100 secrets are counted.

    A uniform prior costs little and rises steeply: it has points of its own.
    """

    response_points: int
    uniform_points: int
    gaussian_points: int
    counted: tuple[float, ...]


SCALES = {
    "smoke": Settings(5, 3, 3, ()),
    "desk": Settings(41, 121, 31, (1.0, 10.0, 20.0, 50.0, 100.0)),
    "paper": Settings(200, 401, 201, (1.0, 10.0, 20.0, 50.0, 100.0)),
}


def run(settings: Settings, out: epath.Path, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Randomized response and the idealised Gaussian attack beside the bounds; nothing is drawn at random."""
    began = time.monotonic()
    rows = response_rows(settings.response_points)
    curves = {}
    for name, prior in kinds().items():
        say(f"tightness: {name} …")
        points = settings.gaussian_points if prior.candidates else settings.uniform_points
        epsilons = np.geomspace(1.0, 100.0, points)
        curves[name] = {
            "kappa": prior.bound_prior().largest,
            "candidates": len(prior.candidates) or prior.bound_prior().symbols,
            **{adjacency: curve(prior, adjacency, epsilons) for adjacency in SHIFTS},
            "of_100": many_secrets(prior, settings.counted),
        }
    return {
        "delta": DELTA,
        "symbols": SYMBOLS,
        "response": rows,
        "response_gaps": widest_gaps(rows),
        "gaussian": curves,
        "seconds": round(time.monotonic() - began, 1),
        "versions": versions(),
        "hardware": hardware(),
    }


def cost(settings: Settings) -> str:
    """One line."""
    return f"tightness: {settings.gaussian_points} points on each curve; a minute or two of one core at desk scale"
