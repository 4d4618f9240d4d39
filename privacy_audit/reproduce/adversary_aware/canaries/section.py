"""What the document says of the part."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from privacy_audit.reproduce.adversary_aware.canaries.figure import figure
from privacy_audit.reproduce.adversary_aware.canaries.game import best_use
from privacy_audit.reproduce.adversary_aware.canaries.settings import CHOSEN_AT
from privacy_audit.reproduce.adversary_aware.tightness.figures import TITLES
from privacy_audit.reproduce.markdown import number, table

CAPTION = (
    "Canaries in a DP language model: bound, idealised Gaussian attack, model attack and prior against ε"
)


def draw(results: Mapping[str, Any], folder: pathlib.Path) -> dict[str, str]:
    """Writes the figure; its caption by file name."""
    figure(results, folder / "canaries.png")
    return {"canaries.png": CAPTION}


def write(results: Mapping[str, Any]) -> str:
    """Tables of the games and of the joined runs."""
    return "\n\n".join(
        ["## Canaries in a DP language model", _about(results), _games(results), _joined(results)]
    )


def _about(results: Mapping[str, Any]) -> str:
    settings, model = results["settings"], results["model"]
    return (
        f"A GPT-2 of {model['weights']:,} weights (perplexity {number(model['perplexity'])} per token on held-out "
        f"public text) is fine-tuned on {settings['targets']} canaries by DP-SGD with Adam: {settings['steps']} steps, "
        f"expected batch {settings['batch_size']:g}, δ = {settings['delta']:g}, σ calibrated under replace-one. "
        f"{results['seconds'] / 60:.0f} minutes on {results['hardware']['cores']} cores.\n\n"
        + "\n".join(f"* {choice}" for choice in results["ours"])
    )


def _games(results: Mapping[str, Any]) -> str:
    """Successes by what the adversary sees; the interval is that of the attack on the final model."""
    head = ("secret", "ε replace-one", "ε add/remove", "k", "prior", "final", "interval", "sum", "max")
    rows = [row for cell in results["cells"].values() for row in _rows(cell, results["settings"]["targets"])]
    below = all(_respected(cell) for cell in results["cells"].values())
    return (
        "Recovered within k guesses, from the final model or all that were kept (ratios summed, or the largest). "
        "Intervals are Clopper-Pearson's at 95 % *as if targets were independent*: they share one training and its "
        "noise, so that they may be too narrow. ε at least: what the best guesses from the sum refute under "
        f"replace-one, whatever the mechanism, at 95 % each. {_fresh(results['seed'])}\n\n"
        + table((*head, "bound, 95 %", "ε at least"), rows)
        + f"\n\nThe bound is at or above every attack in {'every' if below else 'NOT every'} cell."
    )


def _fresh(seed: int) -> str:
    """Whether attacks were settled before these secrets and this noise were drawn."""
    if seed == CHOSEN_AT:
        return f"Attacks were still mended after a run at seed {seed}, so that these lower bounds confirm nothing."
    return (
        f"Attacks were settled at seed {CHOSEN_AT}, before anything was drawn at seed {seed}: lower bounds hold as "
        "stated."
    )


def _rows(cell: Mapping[str, Any], targets: int) -> list[tuple]:
    proven, rows = cell["epsilon_proven"], []
    for k, kappa in cell["prior"].items():
        hits = {seen: cell["hits"][best_use(cell["hits"], seen)][k] for seen in ("final", "sum", "max")}
        low, high = cell["intervals"][best_use(cell["hits"], "final")][k]
        rows.append(
            (
                TITLES[cell["kind"]],
                "∞" if proven is None else cell["epsilon"],
                number(proven and proven["add_remove"]),
                k,
                f"{targets * kappa:.2g}",
                hits["final"],
                f"{targets * low:.1f}–{targets * high:.1f}",
                hits["sum"],
                hits["max"],
                cell["bound"][k],
                number(cell["epsilon_lower"]["epsilon_lower"]) if k == "1" else None,
            )
        )
    return rows


def _respected(cell: Mapping[str, Any]) -> bool:
    return all(count <= cell["bound"][k] for hits in cell["hits"].values() for k, count in hits.items())


def _joined(results: Mapping[str, Any]) -> str:
    head = ("ε replace-one", "ε add/remove", "canaries in", "bound from", "adjacency", "ε at least (95 %)")
    rows = [
        (
            run["epsilon"],
            number(run["epsilon_proven"]["add_remove"]),
            run["included"],
            what,
            found["adjacency"].replace("_", "-"),
            number(found["epsilon_lower"]),
        )
        for run in results["joined"].values()
        for what, found in run["bounds"].items()
    ]
    return (
        "**Both papers joined.** One run in which every canary also has a coin: lower bounds on ε from the secrets "
        "guessed (U's bound inverted), from the members told (Steinke et al.), and from the noisy gradients (Paper L's "
        "watermark against the same mechanism, as scalars without leakage, each trial a training of its own):\n\n"
        + table(head, rows)
    )
