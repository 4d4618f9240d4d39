"""Both figures of the part."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privacy_audit.report.figure import PALETTE
from privacy_audit.reproduce.adversary_aware.tightness.response import EPSILONS, last_near_uniform
from privacy_audit.reproduce.picture import DPI, write_picture

TITLES = {
    "numbers": "uniform nine-digit numbers",
    "passwords": "nine-digit passwords (Zipf)",
    "names": "first names (US Census)",
}
CAPTIONS = {
    "response.png": "Randomized response: the bound is met at a uniform prior and left at skewed ones",
    "gaussian.png": "The idealised Gaussian Bayes-optimal attack and the bounds, both adjacencies",
}


def draw(results: Mapping[str, Any], folder: pathlib.Path) -> dict[str, str]:
    """Writes both; captions by file name."""
    write_picture(response_figure(results), folder / "response.png")
    write_picture(gaussian_figure(results), folder / "gaussian.png")
    return CAPTIONS


def response_figure(results: Mapping[str, Any]) -> Figure:
    """Success against the heavy symbol's probability, by ε."""
    figure = Figure(figsize=(6.6, 4.6), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    for epsilon, colour in zip(EPSILONS, PALETTE, strict=False):
        mine = [row for row in results["response"] if row["epsilon"] == epsilon]
        largest = [row["largest"] for row in mine]
        axes.plot(largest, [row["bound"] for row in mine], color=colour, label=f"ε = {epsilon:g}")
        axes.plot(largest, [row["attack"] for row in mine], "--", color=colour)
        axes.axvline(last_near_uniform(epsilon), color=colour, linestyle=":", linewidth=1)
    ends = [1 / results["symbols"], 0.95]
    axes.plot(ends, ends, color="0.6", linewidth=0.8, label="prior κ")
    axes.plot([], [], color="black", label="bound β(ε, κ)")
    axes.plot([], [], "--", color="black", label="best attack on the response")
    axes.plot([], [], ":", color="black", label="max p = e^ε·min p")
    axes.set(
        xlabel=f"probability κ of the heaviest of {results['symbols']} symbols (the others are equal)",
        ylabel="probability of a right guess",
        ylim=(0, 1.02),
    )
    axes.legend(fontsize=8, ncols=2, loc="lower right")
    return figure


def gaussian_figure(results: Mapping[str, Any]) -> Figure:
    """One panel a prior; success against ε on a logarithmic axis."""
    curves = results["gaussian"]
    figure = Figure(figsize=(4.4 * len(curves), 4.6), dpi=DPI, layout="constrained")
    panels = figure.subplots(1, len(curves), squeeze=False, sharey=True)[0]
    for axes, (name, found) in zip(panels, curves.items(), strict=True):
        _draw_prior(axes, found)
        axes.set(xscale="log", xlabel=f"ε at δ = {results['delta']:g}", ylim=(-0.02, 1.02))
        axes.set_xticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
        axes.minorticks_off()
        axes.set_title(f"{TITLES[name]}, κ = {found['kappa']:.2g}", fontsize=10)
    panels[0].set_ylabel("probability of a right guess")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _draw_prior(axes: Axes, found: Mapping[str, Any]) -> None:
    for adjacency, colour in (("replace_one", PALETTE[0]), ("add_remove", PALETTE[1])):
        rows = found[adjacency]["rows"]
        epsilons, word = [row["epsilon"] for row in rows], adjacency.replace("_", "-")
        axes.plot(epsilons, [row["bound"] for row in rows], color=colour, label=f"bound, {word}")
        axes.plot(
            epsilons, [row["attack"] for row in rows], "--", color=colour, label=f"optimal attack, {word}"
        )
    rows = found["replace_one"]["rows"]
    axes.plot(
        [row["epsilon"] for row in rows],
        [row["bound_whole_prior"] for row in rows],
        "-.",
        color=PALETTE[2],
        label="bound with the whole prior",
    )
    axes.plot(
        [row["epsilon"] for row in rows],
        [row["epsilon_delta_only"] for row in rows],
        ":",
        color="0.35",
        label="bound from (ε, δ) alone: β + δ",
    )
    axes.axhline(found["kappa"], color="0.6", linewidth=0.8, label="prior κ")
