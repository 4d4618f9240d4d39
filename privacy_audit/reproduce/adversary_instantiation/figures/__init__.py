"""Every figure of the reproduction, drawn from its results alone."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from privacy_audit.reproduce.adversary_instantiation.figures.accountants import accountants_figure
from privacy_audit.reproduce.adversary_instantiation.figures.by_adversary import NUMBERS, adversary_figure
from privacy_audit.reproduce.adversary_instantiation.figures.by_setting import FIGURE_1, figure_1, figure_9
from privacy_audit.reproduce.adversary_instantiation.figures.sandwich import sandwich_figure
from privacy_audit.reproduce.picture import write_picture

CAPTIONS = {
    "figure_1": "Figure 1: the six adversaries at ε = 2 on MNIST, or on what stands for it",
    **{f"figure_{n}": f"Figure {n}: {name.replace('_', ' ')}" for name, n in NUMBERS.items()},
    "figure_9": "Figure 9: all data sets and ε",
    "accountants": "Three analyses of MNIST's training",
}


def draw_all(results: Mapping[str, Any], folder: pathlib.Path) -> dict[str, str]:
    """Writes all figures that show something as PNG.

    Returns:
        Captions by file name, in the order in which they are shown.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cells = results["cells"]
    figures = {"figure_1": figure_1(results)} if FIGURE_1 in cells else {}
    figures |= {
        f"figure_{number}": adversary_figure(results, name)
        for name, number in NUMBERS.items()
        if any(name in cell["adversaries"] for cell in cells.values())
    }
    figures |= {"figure_9": figure_9(results), "accountants": accountants_figure(results)}
    written = {f"{name}.png": CAPTIONS[name] for name in figures}
    for name, cell in cells.items():
        figures[f"sandwich-{name}"] = sandwich_figure(results, cell)
        written[f"sandwich-{name}.png"] = f"The sandwich: {name}"
    for name, figure in figures.items():
        write_picture(figure, folder / f"{name}.png")
    return written
