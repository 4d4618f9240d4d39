"""The figure: bound, idealised attack, model attack and prior against ε, one panel a kind of secret."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privacy_audit.report.figure import PALETTE
from privacy_audit.reproduce.adversary_aware.canaries.game import best_use
from privacy_audit.reproduce.adversary_aware.tightness.figures import TITLES
from privacy_audit.reproduce.picture import DPI, write_picture

NO_NOISE = 400.0
"""Where ε = ∞ is drawn."""

ATTACKS = {"final": (PALETTE[2], "o", 0.93), "sum": (PALETTE[3], "s", 1.07)}
"""What is seen -> colour, mark, and by what factor it is moved so that intervals do not hide each other."""

SEEN = {"final": "model attack, final model", "sum": "model attack, all models"}


def figure(results: Mapping[str, Any], path: pathlib.Path) -> None:
    """Writes the figure as a PNG."""
    write_picture(draw(results), path)


def draw(results: Mapping[str, Any]) -> Figure:
    """One panel a kind; successes out of all targets."""
    kinds = list(results["curves"])
    shown = Figure(figsize=(4.4 * len(kinds), 5.0), dpi=DPI, layout="constrained")
    panels = shown.subplots(1, len(kinds), squeeze=False, sharey=True)[0]
    for axes, kind in zip(panels, kinds, strict=True):
        cells = [cell for cell in results["cells"].values() if cell["kind"] == kind]
        _panel(axes, cells, results["curves"][kind], results["settings"]["targets"])
        axes.set_title(f"{TITLES[kind]}, κ = {cells[0]['prior']['1']:.2g}", fontsize=10)
    panels[0].set_ylabel(f"secrets recovered, of {results['settings']['targets']}")
    handles = {}
    for axes in panels:
        handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    shown.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, fontsize=8)
    return shown


def _panel(axes: Axes, cells, curves, targets: int) -> None:
    for adjacency, colour in (("replace_one", PALETTE[0]), ("add_remove", PALETTE[1])):
        rows, word = curves[adjacency]["rows"], adjacency.replace("_", "-")
        epsilons = [row["epsilon"] for row in rows]
        for key, style, what in (("bound", "-", "bound on the mean"), ("attack", "--", "idealised Gaussian")):
            values = [targets * row[key] for row in rows]
            axes.plot(epsilons, values, style, color=colour, linewidth=1.3, label=f"{what}, {word}")
    finite = [cell for cell in cells if cell["epsilon"] != "inf"]
    places = [float(cell["epsilon"]) for cell in finite]
    bounds = [cell["bound"]["1"] for cell in finite]
    axes.plot(places, bounds, "v", color="black", markersize=7, label="bound, 95 %, replace-one")
    for seen in ATTACKS:
        _attack(axes, cells, seen, targets)
    axes.axhline(targets * cells[0]["prior"]["1"], color="0.6", linewidth=0.8, label="prior κ")
    axes.set(xscale="log", xlabel="ε at δ = 1e-5", ylim=(-0.03 * targets, 1.05 * targets))
    axes.set_xticks([1, 3, 10, 30, 100, NO_NOISE], ["1", "3", "10", "30", "100", "∞"])
    axes.minorticks_off()
    axes.axvline(200, color="0.85", linewidth=0.8)


def _attack(axes: Axes, cells, seen: str, targets: int) -> None:
    """Filled at its ε under replace-one, open at its ε under add/remove."""
    colour, mark, moved = ATTACKS[seen]
    for cell in cells:
        name = best_use(cell["hits"], seen)
        hits = cell["hits"][name]["1"]
        low, high = (targets * end for end in cell["intervals"][name]["1"])
        proven = cell["epsilon_proven"]
        place = moved * (NO_NOISE if proven is None else float(cell["epsilon"]))
        axes.errorbar(
            place,
            hits,
            [[hits - low], [high - hits]],
            fmt=mark,
            color=colour,
            markersize=5,
            capsize=3,
            label=f"{SEEN[seen]} (95 % as if independent), replace-one",
        )
        if proven is not None:
            axes.plot(
                proven["add_remove"],
                hits,
                mark,
                color=colour,
                fillstyle="none",
                markersize=5,
                label=f"{SEEN[seen]}, at its add-remove ε",
            )
