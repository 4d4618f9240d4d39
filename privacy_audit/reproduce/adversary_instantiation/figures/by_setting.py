"""Figures 1 and 9: the six adversaries side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privacy_audit.reproduce.adversary_instantiation.figures.style import (
    COLOURS,
    EPSILON_HAT,
    WORDS,
    error_arms,
    shown_point,
    write_nothing,
)
from privacy_audit.reproduce.adversary_instantiation.settings import EPSILONS
from privacy_audit.reproduce.picture import DPI

FIGURE_1 = "mnist-eps2"
"""The cell that it shows."""


def figure_1(results: Mapping[str, Any]) -> Figure:
    """MNIST at ε = 2."""
    figure = Figure(figsize=(7, 4.8), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    _draw(axes, results, "mnist", 2.0, named=True)
    axes.set(ylabel=EPSILON_HAT)
    axes.set_title(f"{results['sources']['mnist']['title']}, target ε = 2", fontsize=11)
    _legend(figure, [axes], columns=3)
    return figure


def figure_9(results: Mapping[str, Any]) -> Figure:
    """All data sets at all ε."""
    sources = results["sources"]
    figure = Figure(figsize=(11.5, 2.9 * len(sources)), dpi=DPI, layout="constrained")
    grid = figure.subplots(len(sources), len(EPSILONS), squeeze=False, sharex=True)
    for place, (row, key) in enumerate(zip(grid, sources, strict=True)):
        for axes, epsilon in zip(row, EPSILONS, strict=True):
            _draw(axes, results, key, epsilon, named=place == len(grid) - 1)
            axes.set_title(f"{short(sources[key]['title'])}, ε = {epsilon:g}", fontsize=9)
        row[0].set_ylabel(EPSILON_HAT, fontsize=8)
    remarks = [source["title"] for source in sources.values() if short(source["title"]).endswith("*")]
    if remarks:
        figure.suptitle("* " + "; ".join(remarks), fontsize=9)
    _legend(figure, grid.flat, columns=4)
    return figure


def _legend(figure: Figure, panels: Iterable[Axes], columns: int) -> None:
    """One legend below, from the panel that explains most."""
    handles, labels = max(
        (axes.get_legend_handles_labels() for axes in panels), key=lambda found: len(found[1])
    )
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8)


def short(title: str) -> str:
    """The title without its remark: `Complete Journey*`.

    >>> short("Complete Journey (stand-in for Purchase)")
    'Complete Journey*'
    """
    return title.split(" (")[0] + ("*" if " (" in title else "")


def _draw(axes: Axes, results: Mapping[str, Any], key: str, epsilon: float, named: bool) -> None:
    axes.set_xticks(range(len(WORDS)), WORDS.values(), rotation=30, ha="right", fontsize=8)
    axes.tick_params(labelbottom=named, labelsize=8)
    axes.set_xlim(-0.6, len(WORDS) - 0.4)
    ceiling = results["ceilings"]["paper_trials"]
    axes.set_ylim(0, 1.12 * max(epsilon, ceiling))
    cell = results["cells"].get(f"{key}-eps{epsilon:g}")
    if cell is None:
        write_nothing(axes)
        return
    for place, name in enumerate(WORDS):
        if name in cell["adversaries"]:
            _draw_adversary(axes, place, name, cell["adversaries"][name])
    _draw_limits(axes, results["ceilings"], cell["epsilon_proven"])
    if "counted" in cell:
        many = f"dataset, {cell['counted']['trials_per_world']:,} trials"
        mark = {
            "marker": "D",
            "color": "black",
            "markersize": 5,
            "markerfacecolor": "white",
            "linestyle": "none",
        }
        axes.plot(len(WORDS) - 1, cell["counted"]["lower"], label=many, **mark)


def _draw_adversary(axes: Axes, place: int, name: str, found: Mapping[str, Any]) -> None:
    arms = error_arms(found)
    axes.bar(place, found["lower"], color=COLOURS[name], width=0.62)
    axes.errorbar(
        place, shown_point(found), arms, fmt="_", color="black", capsize=3, linewidth=1, markersize=8
    )
    axes.plot(place, found["same_sample"], "x", color="0.35", markersize=5)


def _draw_limits(axes: Axes, ceilings: Mapping[str, Any], proven: float) -> None:
    """Lines that ε̂ cannot pass, and what the marks mean."""
    counted = f"ceiling of {ceilings['counted_trials']} counted trials"
    axes.axhline(proven, color="black", linewidth=1.2, label="proven ε")
    axes.axhline(
        ceilings["paper_trials"], color="0.45", linestyle="--", linewidth=1, label="ceiling of 1,000 trials"
    )
    axes.axhline(ceilings["counted"], color="0.45", linestyle=":", linewidth=1, label=counted)
    axes.errorbar([], [], [[], []], fmt="_", color="black", capsize=3, label="point and 95% interval")
    axes.plot([], [], "x", color="0.35", label="same-sample (not valid)")
    axes.plot([], [], "s", color="0.6", label="bar: ε̂, held-out threshold")
