"""Bars of examples per second, one panel a network."""

from __future__ import annotations

import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from .measure import OURS as OUR_PROGRAMS
from .summary import row_of

OURS, XLA, PEER = "#0072B2", "#E69F00", "#999999"  # Okabe-Ito


def draw(report: dict, path: pathlib.Path) -> None:
    """Writes the picture of `report` to `path`."""
    networks = list(dict.fromkeys(row["network"] for row in report["rows"]))
    figure, axes = plt.subplots(1, len(networks), figsize=(6.2 * len(networks), 5.2), squeeze=False)
    for axis, network in zip(axes[0], networks, strict=True):
        good = [r for r in report["rows"] if r["network"] == network and "error" not in r]
        smallest = min(r["batch"] for r in good)
        shown = sorted((r for r in good if r["batch"] == smallest), key=lambda r: r["best"])
        colours = [_colour(r["program"]) for r in shown]
        names = [row_of(r).name.replace(f", batch {smallest}", "") for r in shown]
        bars = axis.barh(names, [r["best"] for r in shown], color=colours)
        axis.bar_label(bars, [f"{r['best']:,.0f}" for r in shown], padding=3, fontsize=8)
        axis.set(xscale="log", xlabel="examples per second", title=f"{network}, batch {smallest}")
        axis.set_xlim(right=3 * max(r["best"] for r in shown))
        axis.spines[["top", "right"]].set_visible(False)
    machine = report["machine"]
    figure.suptitle(
        f"{machine['cpu']}, {machine['cores']} cores, JAX {machine['versions']['jax']}", fontsize=10
    )
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def _colour(program: str) -> str:
    if program in OUR_PROGRAMS:
        return OURS
    return XLA if program == "non_private" else PEER
