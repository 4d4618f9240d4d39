"""What the document says of the part, and its figure."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from privacy_audit.reproduce.markdown import table

TITLES = {"numbers": "nine digits", "passwords": "password", "names": "first name"}

HEAD = (
    "secret",
    "κ",
    "ε",
    "steps",
    "σ",
    "recovered",
    "95 % interval*",
    "by the prior alone",
    "bound",
    "seconds",
)


def write(results: Mapping[str, Any]) -> str:
    """The table of all runs and what must be known of them."""
    settings = results["settings"]
    attack = sum(kind["seconds_attack"] for kind in results["kinds"].values())
    return "\n\n".join(
        [
            "## Canaries in SmolLM2-135M",
            f"{settings['targets']} canaries, replace-one (ε, {settings['delta']:g})-DP; "
            f"the bound is the most secrets at {settings['confidence']:.0%} confidence.",
            table(HEAD, _rows(results)),
            "\\* Clopper-Pearson's as if targets were independent; they share one training and its noise, so that "
            "it may be too narrow.",
            f"Beside the seconds of training, all attacks together took {attack:.0f} seconds. "
            + " ".join(f"{note[0].upper()}{note[1:]}." for note in results["ours"]),
        ]
    )


def _rows(results: Mapping[str, Any]) -> list[tuple]:
    return [
        (
            TITLES[kind["kind"]],
            f"{kind['kappa']:.3g}",
            run["epsilon"],
            run["steps"],
            f"{run['noise_multiplier']:.2f}",
            run["recovered"],
            "{:.1f} to {:.1f}".format(*run["interval"]),
            run["by_prior_alone"],
            run["bound"],
            f"{run['seconds_training']:.0f}",
        )
        for kind in results["kinds"].values()
        for run in kind["runs"]
    ]


def draw(results: Mapping[str, Any], folder: pathlib.Path) -> dict[str, str]:
    """No figure: six numbers make a table."""
    return {}
