"""Prior, attack and bound, by attribute and by number of attributes."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privacy_audit.report.figure import PALETTE
from privacy_audit.reproduce.adversary_aware.attributes.rates import attack_rate
from privacy_audit.reproduce.picture import DPI, write_picture

BLUE, VERMILLION, GREEN, PURPLE = PALETTE[:4]


def draw(results: Mapping[str, Any], folder: pathlib.Path) -> dict[str, str]:
    """Writes the figure; its caption by file name."""
    write_picture(attribute_figure(results), folder / "attributes.png")
    return {"attributes.png": f"Attributes from released marginals: {results['people']}"}


def attribute_figure(results: Mapping[str, Any]) -> Figure:
    """A row for each finite ε of the drawn games with few enough panels to read: the smallest two."""
    drawn = [cell for cell in results["cells"].values() if cell["game"] == "drawn"]
    epsilons = list(dict.fromkeys(cell["epsilon"] for cell in drawn if cell["bounds"]))[:2]
    ones = list(dict.fromkeys(tuple(c["attributes"]) for c in drawn if len(c["attributes"]) == 1))
    more = list(dict.fromkeys(tuple(c["attributes"]) for c in drawn if len(c["attributes"]) > 1))
    groups = [found for found in ones if more and found[0] == more[0][0]] + more
    figure = Figure(figsize=(12, 0.6 + 3.7 * len(epsilons)), dpi=DPI, layout="constrained")
    shares = {"width_ratios": [max(len(ones), 2), max(len(groups), 2)]}
    grid = figure.subplots(len(epsilons), 2, squeeze=False, sharey=True, gridspec_kw=shares)
    for row, epsilon in zip(grid, epsilons, strict=True):
        _panel(row[0], results, epsilon, ones, [names[0] for names in ones])
        _panel(row[1], results, epsilon, groups, [str(len(names)) for names in groups])
        row[0].set(
            ylabel=f"of {results['targets']} targets reconstructed, %", title=f"one attribute, ε = {epsilon}"
        )
        row[1].set(title=f"d attributes at once, ε = {epsilon}", xlabel="d")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    return figure


def _panel(
    axes: Axes, results: Mapping[str, Any], epsilon: str, sets: Sequence[tuple[str, ...]], labels: list[str]
) -> None:
    for place, names in enumerate(sets):
        cells = {
            game: results["cells"].get(f"{game}-{'-'.join(names)}-eps{epsilon}") for game in ("drawn", "real")
        }
        silent = results["cells"].get(f"drawn-{'-'.join(names)}-epsinf")
        _draw_cell(axes, results, place, cells, silent, named=place == 0)
    axes.set_xticks(range(len(sets)), labels)
    axes.tick_params(axis="x", labelsize=8)
    axes.set(ylim=(0, 104), xlim=(-0.6, len(sets) - 0.4))
    axes.grid(axis="y", alpha=0.3)


def _draw_cell(axes: Axes, results, place: int, cells, silent, named: bool) -> None:
    def label(text: str) -> str | None:
        return text if named else None

    drawn, real, percent = cells["drawn"], cells["real"], 100 / results["targets"]
    bounds, ends, flat = drawn["bounds"], (place - 0.35, place + 0.35), {"linestyle": "none"}
    axes.hlines(100 * drawn["prior"], *ends, color="0.5", linewidth=2, label=label("prior (drawn)"))
    axes.hlines(
        percent * bounds["expected"], *ends, color=BLUE, linestyle=":", label=label("bound on the mean")
    )
    most = percent * bounds["certified"]
    axes.plot(place, most, "v", color=BLUE, markersize=8, label=label("bound, 95 %"), **flat)
    rate, text = attack_rate(results, drawn), label("attack, drawn secrets (95 %)")
    _draw_rate(axes, rate, place - 0.14, VERMILLION, "o", text)
    if real is not None:
        _draw_real(axes, results, place + 0.14, real, label)
    if silent is not None:
        height = 100 * attack_rate(results, silent).point
        axes.plot(
            place - 0.14, height, "D", color=PURPLE, fillstyle="none", label=label("attack, no noise"), **flat
        )


def _draw_real(axes: Axes, results, at: float, cell, label) -> None:
    rate, text = attack_rate(results, cell), label("attack, real secrets (95 %)")
    _draw_rate(axes, rate, at, GREEN, "s", text)
    upper = 100 * cell["bounds"]["certified"] / results["targets"]
    style = {"linestyle": "none", "fillstyle": "none", "color": GREEN}
    axes.plot(at, upper, "^", label=label("bound, real secrets, 95 %"), **style)


def _draw_rate(axes: Axes, found, at: float, colour: str, mark: str, label: str | None) -> None:
    arms = [[100 * (found.point - found.lower)], [100 * (found.upper - found.point)]]
    axes.errorbar(at, 100 * found.point, arms, fmt=mark, color=colour, capsize=3, markersize=5, label=label)
