"""Our numbers beside the printed ones, with agreement or the reason for the difference, by fixed rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from privacy_audit.reproduce.adversary_instantiation.printed import (
    ACCURACY,
    CLAIMS,
    MOST_EPSILON,
    RATES,
    Claim,
)

WITHIN = {"mnist": 1.5, "cifar10": 5.0}
"""Percentage points within which an accuracy counts as reproduced."""


class Row(NamedTuple):
    """One printed number and ours."""

    where: str
    what: str
    printed: str
    ours: str | None
    interval: str | None
    same_sample: str | None
    trials: str | None
    verdict: str


def claim_rows(results: Mapping[str, Any]) -> list[Row]:
    """All that the text prints; one row for each of our data sets where it does not name one."""
    ceiling, rates = results["ceilings"]["paper_trials"], results["printed_rates"]["epsilon"]
    rows = [
        _computed("§3.3", "most that 1,000 trials can show", MOST_EPSILON, ceiling),
        _computed("§4.1", f"ε̂ of TPR {RATES['tpr']}, FPR {RATES['fpr']}, by eq. 5", RATES["epsilon"], rates),
    ]
    for claim in CLAIMS:
        rows += _claim_rows(results, claim)
    return rows


def _claim_rows(results: Mapping[str, Any], claim: Claim) -> list[Row]:
    """One row for all data sets of which the same is found."""
    titles: dict[Row, list[str]] = {}
    for dataset in [claim.dataset] if claim.dataset else results["sources"]:
        titles.setdefault(_claim(results, claim, dataset), []).append(results["sources"][dataset]["title"])
    return [
        row._replace(what=f"{claim.adversary}, {' / '.join(same)}, ε = {claim.epsilon:g}")
        for row, same in titles.items()
    ]


def _computed(where: str, what: str, printed: float, ours: float) -> Row:
    agrees = abs(printed - ours) < 0.005
    reason = "agrees" if agrees else f"differs by {ours - printed:+.3f}; the printed rates are rounded"
    return Row(where, what, f"{printed:.2f}", f"{ours:.3f}", None, None, "1,000", reason)


def _claim(results: Mapping[str, Any], claim: Claim, dataset: str) -> Row:
    cell = results["cells"].get(f"{dataset}-eps{claim.epsilon:g}")
    if cell is None or claim.adversary not in cell["adversaries"]:
        return Row(claim.where, "", f"{claim.value:.2f}", None, None, None, None, "not played yet")
    many = claim.adversary == "dataset" and "counted" in cell
    found = cell["counted"] if many else cell["adversaries"][claim.adversary]
    counted = found["trials_per_world"] if many else found["counted"]
    ends = [_shown(found[end]) for end in ("point", "lower", "upper")]
    return Row(
        claim.where,
        "",
        f"{claim.value:.2f}",
        _shown(found["lower"]),
        f"{ends[0]} ({ends[1]} to {ends[2]})",
        _shown(found["same_sample"]),
        f"{counted:,}",
        _verdict(results, claim, found, cell),
    )


def _shown(value: float | None) -> str:
    return "∞" if value is None else f"{value:.2f}"


def _verdict(
    results: Mapping[str, Any], claim: Claim, found: Mapping[str, Any], cell: Mapping[str, Any]
) -> str:
    """The printed bound beside ours of the same kind, same-sample; then whether our interval excludes it."""
    if found["lower"] >= claim.value:
        return "reached, with a held-out threshold too"
    if found["same_sample"] >= claim.value:
        return "reached as L counts (same-sample); not by the valid bound"
    upper = float("inf") if found["upper"] is None else found["upper"]
    if claim.value <= upper:
        why = "more trials could reach it: it lies in our interval"
    elif "counted" in found and claim.value > results["ceilings"]["counted"]:
        why = f"out of reach of {found['counted']} trials (at most {results['ceilings']['counted']:.2f})"
    else:
        why = "L's batch and steps are not stated"
    game = f"{cell['steps']} steps, N = {cell['num_examples']:,}, proven ε = {cell['epsilon_proven']:.2f}"
    return f"smaller by {claim.value - found['same_sample']:.2f} as L counts; {why} ({game})"


def order_rows(results: Mapping[str, Any]) -> list[tuple]:
    """One row a pair and cell."""
    return [
        (
            name,
            f"{pair['stronger']} − {pair['weaker']}",
            " − ".join(pair["statistics"]) + ("†" if pair["ours"] else ""),
            _interval(pair),
            _found(pair),
        )
        for name, cell in results["cells"].items()
        for pair in cell["order"]
    ]


def average_rows(results: Mapping[str, Any]) -> list[tuple]:
    """One row a data set and pair of adversaries; AUC differences by the paper's statistics and by ours."""
    rows = []
    for key, order in results["order"].items():
        if order is None:
            continue
        title = f"{results['sources'][key]['title']}, {len(order['epsilons'])} ε"
        for theirs, ours in zip(order["paper"], order["matched_filter"], strict=True):
            pair = f"{theirs['stronger']} − {theirs['weaker']}"
            rows.append((title, pair, _interval(theirs), _found(theirs), _interval(ours), _found(ours)))
    return rows


def _interval(pair: Mapping[str, Any]) -> str:
    return f"{pair['point']:+.3f} ({pair['lower']:+.3f} to {pair['upper']:+.3f})"


def _found(pair: Mapping[str, Any]) -> str:
    return pair["found"] if pair["found"] != "weaker" else "**reversed**"


def order_lines(results: Mapping[str, Any]) -> list[str]:
    """What each cell says of the order, pairs that are not separated named."""
    return [
        f"{name}, {label}: {_order_in_words([pair for pair in cell['order'] if pair['ours'] == ours])}"
        for name, cell in results["cells"].items()
        for label, ours in (("the paper's statistics", False), ("matched filter†", True))
        if any(pair["ours"] == ours for pair in cell["order"])
    ]


def _order_in_words(pairs: list[Mapping[str, Any]]) -> str:
    found = {kind: [] for kind in ("stronger", "weaker", "not separated")}
    for pair in pairs:
        found[pair["found"]].append(f"{pair['stronger']}/{pair['weaker']}")
    parts = [
        f"reversed: {', '.join(found['weaker'])}" if found["weaker"] else "no pair contradicts L's order",
        f"as in L: {', '.join(found['stronger'])}" if found["stronger"] else "",
        f"not separated: {', '.join(found['not separated'])}" if found["not separated"] else "",
    ]
    return "; ".join(part for part in parts if part)


def accuracy_rows(results: Mapping[str, Any]) -> list[tuple]:
    """Printed and ours; models that are missing say so."""
    rows = []
    for dataset, source in results["sources"].items():
        for epsilon, printed in ACCURACY[dataset].items():
            model = results["accuracy"].get(f"{dataset}-eps{epsilon:g}")
            if model is None:
                rows.append(
                    (
                        source["title"],
                        f"{epsilon:g}",
                        *[None] * 5,
                        f"{printed:g}",
                        "not trained yet",
                        None,
                        None,
                    )
                )
                continue
            gap = model["accuracy"] - printed
            limit = WITHIN.get(dataset)
            mark = "" if limit is None else " (within {:g})" if abs(gap) <= limit else " (beyond {:g})"
            rows.append(
                (
                    model["title"],
                    f"{epsilon:g}",
                    f"{model['epsilon_proven']:.2f}",
                    model["num_examples"],
                    model["batch_size"],
                    f"{model['steps'] * model['batch_size'] / model['num_examples']:.1f}",
                    f"{model['noise_multiplier']:g}",
                    f"{printed:g}",
                    f"{model['accuracy']:.2f}",
                    f"{gap:+.1f}" + mark.format(limit),
                    f"{model['seconds'] / 60:.1f}",
                )
            )
    return rows
