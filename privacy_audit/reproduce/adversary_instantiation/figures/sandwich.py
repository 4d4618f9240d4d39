"""One setting from both sides: measured ROC bands under the proven curve, and what any attack could recover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privacy_audit.reproduce.adversary_instantiation.figures.style import COLOURS, WORDS
from privacy_audit.reproduce.picture import DPI


def sandwich_figure(results: Mapping[str, Any], cell: Mapping[str, Any]) -> Figure:
    """Left: the game. Right: Paper U's bounds for the same mechanism."""
    figure = Figure(figsize=(11, 4.6), dpi=DPI, layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_game(left, cell)
    _draw_bounds(right, cell)
    title = results["sources"][cell["dataset"]]["title"]
    figure.suptitle(
        f"{title}: proven ε = {cell['epsilon_proven']:.3g} at δ = 1e-5, σ = {cell['noise_multiplier']:g}, "
        f"q = {cell['batch_size'] / cell['num_examples']:.3g}, {cell['steps']} steps",
        fontsize=11,
    )
    return figure


def _draw_game(axes: Axes, cell: Mapping[str, Any]) -> None:
    bounds, lowest = cell["bounds"], 0.5 / cell["trials_per_world"]
    rates = np.array(bounds["fpr"])
    axes.fill_between(
        rates, bounds["tpr"], 1.3, color="0.88", linewidth=0, label="no attack reaches this (proven)"
    )
    axes.plot(rates, bounds["tpr"], color="black", linewidth=1.2, label="proven trade-off curve")
    for (name, roc), style in zip(cell["roc"].items(), ("-.", "--", "-"), strict=False):
        lower = cell["adversaries"][name]["lower"]
        label = f"{WORDS[name]}: ε̂ = {lower:.2f}"
        axes.step(roc["fpr"], roc["tpr"], where="post", color=COLOURS[name], linestyle=style, label=label)
        axes.fill_between(
            roc["fpr"], roc["lower"], roc["upper"], step="post", color=COLOURS[name], alpha=0.18
        )
    axes.plot(rates, rates, color="0.6", linewidth=0.8, label="guessing")
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(lowest, 1),
        ylim=(lowest, 1.25),
        xlabel="false positive rate",
        ylabel="true positive rate",
    )
    axes.set_title("From below: the game (bands: 95% at one threshold)", fontsize=10)
    axes.legend(fontsize=8, loc="lower right")


def _draw_bounds(axes: Axes, cell: Mapping[str, Any]) -> None:
    bounds = cell["bounds"]
    priors = np.array([1 / row["values"] for row in bounds["curve"]])
    most = [row["bound"] for row in bounds["curve"]]
    label = f"most that any attack recovers (replace-one ε = {bounds['epsilon_replace_one']:.3g})"
    axes.plot(priors, most, color="#0072B2", label=label)
    axes.plot(priors, priors, color="0.6", linewidth=0.8, label="without the model: the prior κ")
    for secret, mark in zip(bounds["secrets"], ("o", "s", "^"), strict=True):
        name = f"{secret['secret']}: {secret['bound']:.2g}"
        axes.plot(1 / secret["values"], secret["bound"], mark, color="#D55E00", markersize=8, label=name)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="prior success κ of a guess",
        ylabel="probability of a right guess",
        ylim=(5e-10, 2),
    )
    axes.set_title("From above: one secret of one person (Paper U)", fontsize=10)
    axes.legend(fontsize=8, loc="lower right")
