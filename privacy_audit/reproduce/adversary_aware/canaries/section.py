"""What the document says of the part."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from privacy_audit.reproduce.adversary_aware.canaries.figure import figure
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
        "Recovered within k guesses, from the final model or all that were kept (ratios summed, or the largest):\n\n"
        + table((*head, "bound, 95 %"), rows)
        + f"\n\nThe bound is at or above every attack in {'every' if below else 'NOT every'} cell."
    )


def _rows(cell: Mapping[str, Any], targets: int) -> list[tuple]:
    proven, rows = cell["epsilon_proven"], []
    for k, kappa in cell["prior"].items():
        hits = {seen: _of(cell["hits"], seen)[k] for seen in ("final", "sum", "max")}
        low, high = _of(cell["intervals"], "final")[k]
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
            )
        )
    return rows


def _of(by_attack: Mapping[str, Any], seen: str) -> Mapping[str, Any]:
    """The attack that uses the prior where there is one to use."""
    return by_attack.get(f"{seen}, prior") or by_attack[f"{seen}, ratio"]


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
