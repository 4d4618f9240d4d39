"""`python -m privacy_audit.compare RUN1 RUN2`: two ledgers or reports side by side, and whether they differ."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from absl import flags
from etils import epath
from scipy import stats

from privacy_audit.command import Command, main
from privacy_audit.estimate.auc import Interval, auc_difference
from privacy_audit.estimate.result import finite_or_none
from privacy_audit.ledger import SCHEMA_VERSION, CorruptBlock, Ledger

SUMMARY = (
    "Sets two runs side by side: RUN1 and RUN2 are folders of an audit, or report.json files. Where both have their "
    "scores, it tests for each statistic whether they differ, in either world and in AUC."
)


@dataclass(frozen=True)
class Run:
    """A run as it lies on disk; `scores` is None where only the report is there."""

    where: str
    report: dict[str, Any]
    scores: tuple[dict[str, np.ndarray], dict[str, np.ndarray]] | None


@dataclass(frozen=True)
class Row:
    """One statistic in both runs.

    Attributes:
        p_value: that the scores of both worlds have the same distributions in both runs: the smaller of two
            Kolmogorov-Smirnov p-values, doubled; None without scores.
        area: AUC of the first run minus that of the second; None without scores.
    """

    adversary: str
    statistic: str
    epsilon_lower: tuple[float, float]
    p_value: float | None
    area: Interval | None

    def to_json(self) -> dict[str, Any]:
        """The fields as strict JSON values."""
        area = None if self.area is None else self.area.to_json()
        return finite_or_none({**self.__dict__, "area": area})


def read_run(where: str) -> Run:
    """Reads a run's report and, where they are there, its scores.

    Raises:
        ValueError: there is no readable report of this schema.
    """
    path = epath.Path(where)
    file = path / "report.json" if path.is_dir() else path
    try:
        report = json.loads(file.read_text())
        version, adversaries = report["schema_version"], report["adversaries"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"run must be a finished audit's folder or report.json, got {where} ({type(error).__name__})"
        ) from None
    if version != SCHEMA_VERSION:
        raise ValueError(f"run must be of report schema {SCHEMA_VERSION}, got schema {version} in {where}")
    kept = any("statistics" in entry for entry in adversaries.values())
    if not (path.is_dir() and kept):
        return Run(where, report, None)
    trials = next(iter(adversaries.values()))["trials_per_world"]
    try:
        return Run(where, report, Ledger(path).read_all(trials))
    except CorruptBlock:
        return Run(where, report, None)


def compare(first: Run, second: Run, confidence: float = 0.95) -> list[Row]:
    """One row a statistic that both runs have.

    Raises:
        ValueError: they have none in common.
    """
    rows = []
    one, two = _lower_bounds(first), _lower_bounds(second)
    for name in one:
        if name in two:
            p_value, area = _tested(first, second, name, confidence)
            rows.append(Row(*name.split("/"), (one[name], two[name]), p_value, area))
    if not rows:
        raise ValueError(
            f"runs must have a statistic in common, got none in {first.where} and {second.where}"
        )
    return rows


def _lower_bounds(run: Run) -> dict[str, float]:
    """ε̂ by adversary/statistic; an adversary whose trials were only counted has one statistic."""
    found = {}
    for adversary, entry in run.report["adversaries"].items():
        for statistic, each in entry.get("statistics", {entry["statistic"]: entry}).items():
            found[f"{adversary}/{statistic}"] = each["estimate"]["epsilon_lower"]
    return found


def only_in_one(first: Run, second: Run) -> list[str]:
    """Which statistics only one of the runs has, in words."""
    has, other = set(_lower_bounds(first)), set(_lower_bounds(second))
    parts = ((1, sorted(has - other)), (2, sorted(other - has)))
    return [f"only in {number}: {', '.join(names)}" for number, names in parts if names]


def render(first: Run, second: Run, rows: list[Row], level: float = 0.05) -> str:
    """The comparison as text; with k rows a difference is called at level/k."""
    lines = [f"1: {first.where}", f"2: {second.where}", "", *_settings(first, second), ""]
    header = f"{'adversary/statistic':<36}{'ε̂ 1':>8}{'ε̂ 2':>8}   {'AUC 1 − AUC 2':<26}{'p':>9}  differ?"
    lines += [header, "─" * len(header)]
    for row in rows:
        lines.append(_line(row, level / len(rows)))
    lines += [
        "",
        *only_in_one(first, second),
        *_same_seed(first, second),
        f"p: the scores of both worlds are distributed alike in both runs; differ: p < {level:g}/{len(rows)}.",
    ]
    return "\n".join(lines)


def _same_seed(first: Run, second: Run) -> list[str]:
    """Runs of one seed share draws; tests for independent runs are then off, mostly too careful."""
    one, two = (run.report.get("config", {}).get("seed") for run in (first, second))
    if one is None or one != two:
        return []
    return [f"both runs have seed {one} and may share draws: p and intervals are those of independent runs"]


def _tested(first: Run, second: Run, name: str, confidence: float) -> tuple[float | None, Interval | None]:
    if first.scores is None or second.scores is None:
        return None, None
    worlds = [(first.scores[world][name], second.scores[world][name]) for world in (0, 1)]
    smallest = min(stats.ks_2samp(*pair).pvalue for pair in worlds)
    (d_1, d_2), (d_prime_1, d_prime_2) = worlds
    return min(1.0, 2 * smallest), auc_difference(
        d_1, d_prime_1, d_2, d_prime_2, paired=False, confidence=confidence
    )


def _settings(first: Run, second: Run) -> list[str]:
    """What was proven, and every setting that differs; of options, those of adversaries that both have."""
    facts = [("proven ε", *(run.report["epsilon_proven"] for run in (first, second)))]
    one, two = ({**run.report.get("config", {})} for run in (first, second))
    options = [run.pop("options", {}) for run in (one, two)]
    for adversary in sorted(set(options[0]) & set(options[1])):
        for run, of_all in zip((one, two), options, strict=True):
            run |= {f"{adversary}.{name}": value for name, value in of_all[adversary].items()}
    facts += [
        (key, one.get(key), two.get(key))
        for key in sorted(set(one) | set(two))
        if one.get(key) != two.get(key)
    ]
    return [f"{name}: {_short(a)} | {_short(b)}" for name, a, b in facts]


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) and math.isfinite(value) else str(value)


def _line(row: Row, level: float) -> str:
    name = f"{row.adversary}/{row.statistic}"
    start = f"{name:<36}{row.epsilon_lower[0]:>8.3f}{row.epsilon_lower[1]:>8.3f}   "
    if row.p_value is None or row.area is None:
        return f"{start}{'no scores':<26}{'':>9}  ?"
    area = f"{row.area.point:+.3f} ({row.area.lower:+.3f} to {row.area.upper:+.3f})"
    return f"{start}{area:<26}{row.p_value:>9.2g}  {'yes' if row.p_value < level else 'no'}"


def make_command() -> Command:
    """The command with its flags."""
    command = Command("privacy_audit.compare", SUMMARY, positional=("RUN1", "RUN2"))
    command.define(
        "Output", flags.DEFINE_bool, "json", False, "print the comparison as the last line of stdout"
    )
    return command


def body(command: Command) -> None:
    """Reads both runs and prints the comparison."""
    first, second = (read_run(where) for where in command.arguments)
    rows = compare(first, second)
    print(render(first, second, rows))
    if command.values.json:
        print(json.dumps([row.to_json() for row in rows], ensure_ascii=False))


if __name__ == "__main__":
    main(make_command(), body)
