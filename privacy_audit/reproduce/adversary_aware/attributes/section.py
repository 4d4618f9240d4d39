"""What the document says of the part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacy_audit.reproduce.adversary_aware.attributes.rates import attack_rate, exceeded, games_above
from privacy_audit.reproduce.markdown import table

SEX = {"prior": 56, "attack": 65, "bound": 84}
"""Paper U's row for 'SEX' at ε = 1, in %."""
FORMULAS = ("certified", "printed", "certified, from (ε, δ) alone")


def write(results: Mapping[str, Any]) -> str:
    """U's row beside ours, every cell, and what was chosen."""
    choices = "\n".join(f"* {choice}" for choice in results["ours"])
    parts = [
        "## Attributes from released marginals",
        _head(results),
        _sex(results),
        _drawn(results),
        _real(results),
        "Ours, because the summary of the paper does not say:\n\n" + choices,
    ]
    return "\n\n".join(parts)


def _head(results: Mapping[str, Any]) -> str:
    cells = [cell for cell in results["cells"].values() if cell["bounds"]]
    above, single = exceeded(results), sum(games_above(cell) for cell in cells)
    verdict = "in every cell" if not above else f"in all cells but {', '.join(above)}"
    games = len(cells) * results["games"]
    return (
        f"**{results['people']}**: {results['public']:,} public people, targets among {results['private']:,} "
        f"others; all {results['ways']}-way marginals of {len(results['attributes'])} attributes with Gaussian "
        f"noise, replace-one, δ = {results['delta']:g}; {results['games']} games of {results['targets']} "
        f"targets a cell. Rates in %, with {results['confidence']:.0%} intervals. The certified bound lies "
        f"above the attack's whole interval {verdict}; in {single} of {games} single games any attack "
        f"recovered more. {results['seconds'] / 60:.0f} minutes of wall time on {results['hardware']['cores']} cores."
    )


def _sex(results: Mapping[str, Any]) -> str:
    rows = [
        ("U, ACS", "1", *(f"{SEX[key]}" for key in ("prior", "attack")), None, None, None, None, SEX["bound"])
    ]
    for game in ("drawn", "real"):
        cell = results["cells"].get(f"{game}-SEX-eps1")
        if cell is not None:
            printed = _percent(results, cell, "printed_epsilon_delta")
            rows.append(
                (f"ours, {game} secrets", "1", *_rates(results, cell), *_formulas(results, cell), printed)
            )
    head = ("'SEX'", "ε", "prior", "attack", "projection alone", *FORMULAS, "printed, from (ε, δ) alone")
    return (
        "U's row for 'SEX' (its bound is the printed formula's for (ε, δ)-DP alone) beside ours. Our adversary knows "
        "the seven other attributes, so that its prior is higher.\n\n" + table(head, rows)
    )


def _rates(results: Mapping[str, Any], cell: Mapping[str, Any]) -> tuple[str, str, str]:
    prior = 100 * cell["prior"]
    return f"{prior:.1f}", str(attack_rate(results, cell)), str(attack_rate(results, cell, "projection"))


def _formulas(results: Mapping[str, Any], cell: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Certified and printed under Gaussian DP, and certified under (ε, δ) alone, in %."""
    return tuple(
        _percent(results, cell, name) for name in ("certified", "printed", "certified_epsilon_delta")
    )


def _percent(results: Mapping[str, Any], cell: Mapping[str, Any], formula: str) -> str | None:
    """A bound in % of the targets; none where the cell's game has no such one."""
    most = cell["bounds"].get(formula)
    return None if most is None else f"{100 * most / results['targets']:.0f}"


def _drawn(results: Mapping[str, Any]) -> str:
    head = (
        "reconstructed",
        "ε",
        "prior",
        "attack",
        "projection alone",
        *FORMULAS,
        "unknown attributes alone",
        "mean at most",
    )
    rows = []
    for cell in results["cells"].values():
        if cell["game"] != "drawn":
            continue
        names, bounds = ", ".join(cell["attributes"]), cell["bounds"]
        more: tuple[str | None, ...] = (None, None)
        if bounds:
            percent = 100 / results["targets"]
            more = (
                f"{percent * bounds['certified_unknown_only']:.0f}",
                f"{percent * min(bounds['expected'], bounds['expected_unknown_only']):.1f}",
            )
        rows.append((names, _shown(cell), *_rates(results, cell), *_formulas(results, cell), *more))
    return (
        "**Drawn secrets**: the priors are exact and the bound is `success_bound` as it is. *Certified* and "
        "*printed* use the release's whole Gaussian-DP profile; *from (ε, δ) alone* knows nothing else "
        "of it; *unknown attributes alone* uses that marginals of known attributes cannot change (closed form, "
        "unrefined). ε = ∞ releases the marginals without noise: what the attack can do.\n\n"
        + table(head, rows)
    )


def _real(results: Mapping[str, Any]) -> str:
    head = (
        "reconstructed",
        "ε",
        "prior",
        "attack",
        "projection alone",
        "κ, public half",
        "κ, upper end",
        "certified",
    )
    rows = []
    for cell in results["cells"].values():
        if cell["game"] != "real":
            continue
        bounds, shown = cell["bounds"], (None, None, None)
        if bounds:
            most = f"{100 * bounds['certified'] / results['targets']:.0f}"
            shown = (f"{100 * bounds['kappa']:.1f}", f"{100 * bounds['kappa_upper']:.1f}", most)
        rows.append((", ".join(cell["attributes"]), _shown(cell), *_rates(results, cell), *shown))
    return (
        "**Real secrets**: κ is the success of the best rule from known to unknown attributes over the "
        f"population, at most the Clopper-Pearson upper end (failure {results['failure']:g}, taken from the "
        "confidence) of the rate that the best rule *in hindsight* has on the public half, which no rule "
        "exceeds. Only that mean is known, so the bound takes every jump at its largest: min over ε of a "
        "binomial tail at β(ε, κ) plus n·δ(ε).\n\n" + table(head, rows)
    )


def _shown(cell: Mapping[str, Any]) -> str:
    return "∞" if cell["epsilon"] == "inf" else cell["epsilon"]
