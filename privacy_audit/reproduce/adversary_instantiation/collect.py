"""From the ledgers to one JSON: every number that the figures and the document show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privacy_audit.estimate.clopper_pearson import epsilon_from_counts, epsilon_from_rates, rate_upper
from privacy_audit.estimate.result import finite_or_none
from privacy_audit.ledger import Ledger
from privacy_audit.report.document import hardware, versions
from privacy_audit.reproduce.adversary_instantiation import accountants, printed
from privacy_audit.reproduce.adversary_instantiation.accuracy import trained_cell
from privacy_audit.reproduce.adversary_instantiation.cells import Cell, all_cells
from privacy_audit.reproduce.adversary_instantiation.order import (
    WHITE_BOX,
    order_of,
    order_on_average,
    statistic_for,
)
from privacy_audit.reproduce.adversary_instantiation.play import Session
from privacy_audit.reproduce.adversary_instantiation.sandwich import bounds_of, roc_band
from privacy_audit.reproduce.adversary_instantiation.settings import CONFIDENCE, DELTA, OURS, TRIALS
from privacy_audit.reproduce.adversary_instantiation.stored import report_of

SCHEMA_VERSION = 1
ROC_SHOWN = ("api_access", "gradient", "dataset")


def collect(session: Session) -> dict[str, Any]:
    """Everything that has been played so far; what has not is listed as missing."""
    scale = session.scale
    stored = {cell: [report_of(*audit) for audit in session.audits(cell)] for cell in all_cells(scale)}
    played = [cell for cell, (report, *_) in stored.items() if report is not None]
    cells = {cell.name: _cell(session, cell, *stored[cell]) for cell in played}
    trained = {
        cell.name: trained_cell(cell, scale, session.seed, session.out / "accuracy")
        for cell in all_cells(scale)
    }
    models = {name: model for name, model in trained.items() if model is not None}
    document = {
        "schema_version": SCHEMA_VERSION,
        "paper": "arXiv 2101.04535 (L)",
        "scale": scale.name,
        "seed": session.seed,
        "adversaries": session.adversaries,
        "confidence": CONFIDENCE,
        "delta": DELTA,
        "ours": OURS,
        "sources": {key: vars(source) for key, source in scale.sources.items()},
        "cells": cells,
        "order": {key: _averages(session, [c for c in played if c.dataset == key]) for key in scale.sources},
        "missing": [cell.name for cell in all_cells(scale) if cell not in played],
        "accuracy": models,
        "accuracy_missing": [cell.name for cell in all_cells(scale) if cell.name not in models],
        "budgets": accountants.budget_rows(scale),
        "accountants": accountants.compare(),
        "ceilings": _ceilings(scale.trials),
        "printed_rates": _printed_rates(),
        "seconds": sum(cell["seconds"] for cell in cells.values())
        + sum(m["seconds"] for m in models.values()),
        "versions": versions(),
        "hardware": hardware(),
    }
    return finite_or_none(document)


def _cell(
    session: Session, cell: Cell, report: Mapping[str, Any], entry: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """One cell's numbers; `entry`: the report of its dataset adversary at many trials, where there is one."""
    config, players = session.config(cell), session.adversaries
    worlds = Ledger(session.folder(cell)).read_all(config.trials)
    found = {
        "dataset": cell.dataset,
        "epsilon": cell.epsilon,
        "epsilon_proven": report["epsilon_proven"],
        "adjacency": report["adjacency"],
        "num_examples": config.num_examples,
        "batch_size": config.batch_size,
        "steps": config.steps,
        "noise_multiplier": config.noise_multiplier,
        "clipping_norm": config.clipping_norm,
        "learning_rate": config.learning_rate,
        "trials_per_world": config.trials,
        "identity": report["identity"],
        "seconds": report["seconds"] + (entry["seconds"] if entry else 0.0),
        "hardware": report["hardware"],
        "adversaries": {name: _adversary(report["adversaries"][name]) for name in players},
        "order": order_of(worlds, cell.epsilon, players),
        "roc": _rocs(worlds, players, config.confidence),
        "bounds": bounds_of(config),
    }
    return found | ({"counted": _counted(entry)} if entry else {})


def _averages(session: Session, played: Sequence[Cell]) -> dict[str, Any] | None:
    """The order over all ε of a data set that were played; None where these are fewer than two."""
    players = session.adversaries
    if len(played) < 2 or len(players) < 2:
        return None
    games = {
        cell.epsilon: Ledger(session.folder(cell)).read_all(session.config(cell).trials) for cell in played
    }
    return {
        "epsilons": list(games),
        "paper": order_on_average(games, players, white_box=False),
        "matched_filter": order_on_average(games, players, white_box=True),
    }


def _adversary(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The best of the paper's statistics, and every statistic; each ε̂ is corrected for their number."""
    statistics = {name: _numbers(found) for name, found in entry["statistics"].items()}
    theirs = [name for name in statistics if name != WHITE_BOX]
    best = max(theirs, key=lambda name: statistics[name]["lower"])
    return {"statistic": best, **statistics[best], "statistics": statistics}


def _numbers(found: Mapping[str, Any]) -> dict[str, Any]:
    estimate = found["estimate"]
    return {
        "lower": estimate["epsilon_lower"],
        "point": estimate["epsilon_point"],
        "upper": estimate["epsilon_upper"],
        "same_sample": found["same_sample"]["epsilon_lower"],
        "counted": estimate["trials_d"],
        "false_positives": estimate["false_positives"],
        "false_negatives": estimate["false_negatives"],
        "auc": [found["auc"][end] for end in ("lower", "point", "upper")],
    }


def _counted(report: Mapping[str, Any]) -> dict[str, Any]:
    entry = report["adversaries"]["dataset"]
    estimate = entry["estimate"]
    return {
        "trials_per_world": entry["trials_per_world"],
        "lower": estimate["epsilon_lower"],
        "point": estimate["epsilon_point"],
        "upper": estimate["epsilon_upper"],
        "same_sample": entry["same_sample"]["epsilon_lower"],
        "threshold": "explicit, from the score's exact law",
    }


def _rocs(worlds, players: Sequence[str], confidence: float) -> dict[str, Any]:
    shown = {name: f"{name}/{statistic_for(name, 1.0)}" for name in ROC_SHOWN if name in players}
    return {name: roc_band(worlds[0][key], worlds[1][key], confidence) for name, key in shown.items()}


def _ceilings(trials: int) -> dict[str, float]:
    """The most that any attack can show: with the paper's trials, and with those that we count."""
    counted = trials - -(-trials // 5)
    return {
        "paper_trials": float(epsilon_from_counts(0, 0, TRIALS, delta=DELTA)),
        "counted": float(epsilon_from_counts(0, 0, counted, delta=DELTA)),
        "counted_trials": counted,
    }


def _printed_rates() -> dict[str, float]:
    """ε̂ of the rates that the paper prints, by its own equation 5."""
    missed, wrong = 1 - printed.RATES["tpr"], printed.RATES["fpr"]
    highest = [rate_upper(round(rate * TRIALS), TRIALS, (1 - CONFIDENCE) / 2) for rate in (wrong, missed)]
    return {
        "epsilon": float(epsilon_from_rates(*highest, DELTA)),
        **{f"printed_{k}": v for k, v in printed.RATES.items()},
    }
