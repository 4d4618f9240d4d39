"""What the document says of the part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacy_audit.reproduce.adversary_aware.secrets import left_out
from privacy_audit.reproduce.adversary_aware.tightness.figures import TITLES
from privacy_audit.reproduce.markdown import table


def write(results: Mapping[str, Any]) -> str:
    """Table 1, Table 2, the formula that is no bound, and the guidance."""
    parts = [
        "## Table 1: which settings each bound covers",
        "Found by calling the code; where U's entry differs it follows in brackets. U's row of "
        "Cummings et al. is left out: no formula of theirs is implemented here.",
        _as_printed(results["coverage"]),
        "## Table 2: ε that protects",
        "Pure DP; U's figures beside ours. U's row of names mixes two priors: 2.37 belongs to κ ≈ 0.0054 and 0.08 to "
        "κ ≈ 0.051, so both are shown.",
        _as_printed(results["protection"]),
        "## 'SEX' of 100 records",
        "κ = 0.56, ε = 1, δ = 1e-5, 95 %: the largest number that any attack recovers.",
        _as_printed(results["sex"]),
        "## The printed (ε, δ) formula against exact optima",
        f"Pr[L ≥ v] for uniform priors: the exact optimum beside τ + α·n·δ as the summary of U prints it and beside "
        f"the certified bound, which is the default. {_verdict(results['counterexamples'])}".strip(),
        _as_printed(results["counterexamples"]),
        "## Guidance for real lists",
        _heads(results),
        _guidance(results),
    ]
    return "\n\n".join(parts)


def _verdict(rows: list[Mapping[str, Any]]) -> str:
    """How often the optimum lies above each formula."""
    above = {name: sum(row["optimum"] > row[name] for row in rows) for name in ("printed", "certified")}
    if not rows:
        return ""
    return (
        f"The optimum lies above the printed formula in {above['printed']} of {len(rows)} rows, above the certified "
        f"bound in {above['certified']}."
    )


def _as_printed(rows: list[Mapping[str, Any]]) -> str:
    if not rows:
        return "Left out at this scale."
    return table(
        tuple(head.strip() for head in rows[0]), [tuple(_cell(v) for v in row.values()) for row in rows]
    )


def _cell(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _heads(results: Mapping[str, Any]) -> str:
    head = ("list", "candidates", "likeliest", "its probability", "best 10", "best 100")
    rows = [
        (
            TITLES[row["secrets"]],
            row["candidates"],
            f"`{row['likeliest']}`",
            *(f"{row[f'head_{count}']:.3f}" for count in (1, 10, 100)),
        )
        for row in results["heads"]
    ]
    return (
        "How much probability the head of each list holds. The password list gives ranks, so that their Zipf law "
        "(exponent 1) is an assumption; names have census frequencies.\n\n" + table(head, rows)
    )


def _guidance(results: Mapping[str, Any]) -> str:
    training, shown = results["training"], {row["secrets"] for row in results["guidance"]}
    head = ("secret", "guesses", "κ", "ε (pure DP)", "σ", "its ε, replace-one", "its ε, add/remove")
    rows = [
        (
            TITLES[row["secrets"]],
            row["guesses"],
            f"{row['kappa']:.3g}",
            f"{row['pure_epsilon']:.3g}",
            f"{row['noise_multiplier']:.3g}",
            f"{row['epsilon_replace_one']:.3g}",
            f"{row['epsilon_add_remove']:.3g}",
        )
        for row in results["guidance"]
    ]
    return (
        f"What keeps the advantage on one secret at {results['advantage']:g} or less: ε if that is all that is known "
        f"of the mechanism, and the noise multiplier σ of DP-SGD with q = {training['sampling_rate']:g} and "
        f"{training['steps']} steps, calibrated on its whole trade-off curve, with the ε at δ = "
        f"{results['delta']:g} that it amounts to.{left_out(shown)}\n\n" + table(head, rows)
    )
