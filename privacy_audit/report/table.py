"""The table that an audit ends with on the terminal."""

from __future__ import annotations

from privacy_audit.verdict import Finding, Verdict, compare_pairs

HEADER = ("adversary", "statistic", "ε̂ (valid)", "same-sample*", "AUC", "threshold", "FP", "FN", "counted")


def render_table(verdict: Verdict) -> str:
    """One row a statistic; the proven ε above, what must be known about the numbers below."""
    header = HEADER if verdict.valid else tuple(name.replace("(valid", "(not valid") for name in HEADER)
    rows = [header, *(_row(finding) for finding in verdict.findings)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join([verdict.headline, "", *lines, "", *_notes(verdict)])


def _row(finding: Finding) -> tuple[str, ...]:
    estimate = finding.estimate
    return (
        finding.adversary,
        finding.statistic,
        f"{estimate.epsilon_lower:.3f}",
        f"{finding.same_sample.epsilon_lower:.3f}",
        f"{finding.area.point:.3f} ({finding.area.lower:.3f}–{finding.area.upper:.3f})",
        f"{estimate.threshold:.4g}",
        str(estimate.false_positives),
        str(estimate.false_negatives),
        f"{estimate.trials_d}+{estimate.trials_d_prime}",
    )


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    """Names to the left, numbers to the right."""
    cells = zip(row, widths, strict=True)
    return "  ".join(cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(cells))


def _notes(verdict: Verdict) -> list[str]:
    level = f"{verdict.confidence:.0%}"
    method = verdict.findings[0].estimate.method
    notes = [
        f"ε̂: lower bound on ε at {level} confidence ({method})."
        if verdict.valid
        else f"ε̂: not a valid bound ({method}).",
        "* same-sample: the threshold was chosen on the trials that are counted: not a valid bound.",
    ]
    if len(verdict.findings) > 1 and verdict.valid:
        best, count = verdict.best_of_all, len(verdict.findings)
        lower = best.among_all.epsilon_lower
        shown = f"ε̂ = {lower:.3f}, {best.adversary}/{best.statistic}" if lower > 0 else "none shows ε > 0"
        notes.append(f"best of all at {level}, corrected for choosing among {count} statistics: {shown}.")
    for pair in compare_pairs(verdict):
        gap = pair.interval
        between = f"{gap.point:+.3f} ({gap.lower:+.3f} to {gap.upper:+.3f}, {level})"
        notes.append(f"AUC of {pair.first} − AUC of {pair.second}: {between}")
    for finding in verdict.findings:
        notes += [f"{finding.adversary}/{finding.statistic}: {note}" for note in finding.estimate.notes]
    if verdict.nonfinite:
        notes.append(f"{verdict.nonfinite} per-example gradients were not finite; each added zero.")
    return notes
