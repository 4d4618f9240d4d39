"""Figures 3 to 8: one adversary each, ε̂ against the target ε on every data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privacy_audit.reproduce.adversary_instantiation.figures.style import (
    DATA_MARKS,
    EPSILON_HAT,
    WORDS,
    error_arms,
    shown_point,
    write_nothing,
)
from privacy_audit.reproduce.adversary_instantiation.settings import EPSILONS
from privacy_audit.reproduce.picture import DPI

NUMBERS = dict(zip(WORDS, range(3, 9), strict=True))


def adversary_figure(results: Mapping[str, Any], adversary: str) -> Figure:
    """The adversary's figure in the paper; ε̂ is that of its best statistic, corrected for their number."""
    figure = Figure(figsize=(6.2, 4.2), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    drawn = [_draw(axes, results, adversary, place, key) for place, key in enumerate(results["sources"])]
    axes.plot(range(len(EPSILONS)), EPSILONS, color="black", linewidth=1, marker="_", label="target ε")
    axes.axhline(
        results["ceilings"]["paper_trials"],
        color="0.45",
        linestyle="--",
        linewidth=1,
        label="ceiling of 1,000 trials",
    )
    axes.set(
        ylabel=EPSILON_HAT, xlabel="target ε (δ = 1e-5)", ylim=(0, 10.8), xlim=(-0.5, len(EPSILONS) - 0.5)
    )
    axes.set_xticks(range(len(EPSILONS)), [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.set_title(f"Figure {NUMBERS[adversary]}: {WORDS[adversary]}", fontsize=11)
    if not any(drawn):
        write_nothing(axes)
    axes.legend(loc="upper left", fontsize=8)
    return figure


def _draw(axes: Axes, results: Mapping[str, Any], adversary: str, place: int, key: str) -> bool:
    colour, mark = DATA_MARKS[key]
    label = results["sources"][key]["title"]
    found = False
    for x, epsilon in enumerate(EPSILONS):
        cell = results["cells"].get(f"{key}-eps{epsilon:g}")
        if cell is None or adversary not in cell["adversaries"]:
            continue
        at = x + 0.14 * (place - 1)
        entry = cell["adversaries"][adversary]
        style = {"color": colour, "capsize": 3, "linewidth": 1.2}
        axes.errorbar(at, shown_point(entry), error_arms(entry), fmt="none", **style)
        axes.plot(
            at, entry["lower"], mark, color=colour, markersize=7, label=None if found else f"{label}: ε̂"
        )
        if adversary == "dataset" and "counted" in cell:
            many = f"{label}: ε̂ of {cell['counted']['trials_per_world']:,} trials"
            axes.plot(
                at,
                cell["counted"]["lower"],
                "D",
                color=colour,
                markerfacecolor="white",
                label=None if found else many,
            )
        found = True
    return found
