"""`report.json`: every number of an audit, how it was made, and what it assumes."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
from collections.abc import Mapping
from typing import Any

import jax

from privacy_audit.estimate.result import finite_or_none
from privacy_audit.verdict import Difference, Finding, Verdict, compare_pairs

SCHEMA_VERSION = 1
VERSIONED = ("privacy-audit", "jax", "jaxlib", "objax", "optax", "numpy", "scipy", "dp-accounting")


def report_document(verdict: Verdict, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The report as strict JSON values.

    Args:
        facts: of the run, beside its verdict: configuration, wall time, what was resumed.
    """
    document = {
        "schema_version": SCHEMA_VERSION,
        "epsilon_proven": verdict.epsilon_proven,
        "delta": verdict.delta,
        "nonfinite_gradients": verdict.nonfinite,
        "adversaries": {name: _entry(verdict, verdict.best(name)) for name in verdict.adversaries},
        "best_of_all": _best_of_all(verdict),
        "auc_differences": [_difference(pair) for pair in compare_pairs(verdict)],
        "versions": versions(),
        "hardware": hardware(),
        **facts,
    }
    return finite_or_none(document)


def versions() -> dict[str, str]:
    """Of what the numbers depend on."""
    found = {name: importlib.metadata.version(name) for name in VERSIONED}
    return {"python": platform.python_version(), **found}


def hardware() -> dict[str, Any]:
    """The devices that JAX computes on, and the host's processor and cores."""
    devices = jax.devices()
    return {
        "platform": devices[0].platform,
        "kind": devices[0].device_kind,
        "devices": len(devices),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    """The processor's name where the host tells it, else its architecture."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _best_of_all(verdict: Verdict) -> dict[str, Any]:
    best = verdict.best_of_all
    return {
        "epsilon_lower": best.among_all.epsilon_lower,
        "confidence": verdict.confidence,
        "valid": best.among_all.valid,
        "adversary": best.adversary,
        "statistic": best.statistic,
        "correction": f"Bonferroni, {len(verdict.findings)} statistics",
        "estimate": best.among_all.to_json(),
    }


def _entry(verdict: Verdict, best: Finding) -> dict[str, Any]:
    statistics = [finding for finding in verdict.findings if finding.adversary == best.adversary]
    return {
        "epsilon_lower": best.estimate.epsilon_lower,
        "epsilon_proven": verdict.epsilon_proven,
        "confidence": verdict.confidence,
        "trials_per_world": verdict.trials,
        "method": best.estimate.method,
        "valid": best.estimate.valid,
        "statistic": best.statistic,
        "statistics": {finding.statistic: _statistic(finding) for finding in statistics},
    }


def _statistic(finding: Finding) -> dict[str, Any]:
    return {
        "estimate": finding.estimate.to_json(),
        "same_sample": finding.same_sample.to_json(),
        "auc": finding.area.to_json(),
    }


def _difference(pair: Difference) -> dict[str, Any]:
    return {"first": pair.first, "second": pair.second, **pair.interval.to_json()}
