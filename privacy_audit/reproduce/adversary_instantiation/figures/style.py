"""What all figures share: sizes, words, and a mark for each adversary and data set."""

from __future__ import annotations

from matplotlib.axes import Axes

from privacy_audit.report.figure import PALETTE

WORDS = {
    "api_access": "API access",
    "static_poison": "static poison",
    "intermediate_poison": "intermediate poison",
    "adaptive_poison": "adaptive poison",
    "gradient": "gradient",
    "dataset": "dataset",
}
COLOURS = dict(zip(WORDS, PALETTE, strict=False))
DATA_MARKS = {"mnist": ("#0072B2", "o"), "cifar10": ("#D55E00", "s"), "purchase": ("#009E73", "^")}
EPSILON_HAT = "ε̂: lower bound on ε (95%)"
NOTHING = "not played yet"


def write_nothing(axes: Axes, text: str = NOTHING) -> None:
    """Says in an empty panel why it is empty."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="0.45")


def error_arms(found) -> list[list[float]]:
    """Distances from the point estimate to both ends, as matplotlib wants them; open ends are cut at the point."""
    point = shown_point(found)
    upper = found["upper"] if found["upper"] is not None else point
    return [[max(point - found["lower"], 0.0)], [max(upper - point, 0.0)]]


def shown_point(found) -> float:
    """The point estimate; the lower end where it is infinite or undefined."""
    return found["lower"] if found["point"] is None else max(found["point"], found["lower"])
