"""The paper's last comparison: ε of the same training by three analyses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from privacy_audit.reproduce.picture import DPI

ANALYSES = {
    "rdp": ("Rényi DP (upper bound)", "#D55E00", "s"),
    "pld": ("privacy loss distribution (upper bound, tight)", "#0072B2", "o"),
    "clt": ("Gaussian DP, central limit (approximation)", "#009E73", "^"),
}


def accountants_figure(results: Mapping[str, Any]) -> Figure:
    """q = 256/60000, 60 epochs."""
    figure = Figure(figsize=(6.2, 4.2), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    rows = results["accountants"]
    for name, (label, colour, mark) in ANALYSES.items():
        sigmas = [row["noise_multiplier"] for row in rows]
        axes.plot(
            sigmas,
            [row[name] for row in rows],
            marker=mark,
            color=colour,
            label=label,
            markerfacecolor="none",
        )
    axes.set(
        yscale="log",
        xlabel="noise multiplier σ",
        ylabel="ε at δ = 1e-5",
        title="q = 256/60000, 60 epochs",
    )
    axes.set_yticks([2, 3, 5, 10, 20], ["2", "3", "5", "10", "20"])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure
