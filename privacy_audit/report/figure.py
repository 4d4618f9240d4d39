"""`figure.png`: the measured ROC curves inside what the mechanism proves."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from privacy_audit.bounds.profiles import PrivacyProfile
from privacy_audit.estimate.clopper_pearson import rate_lower, rate_upper
from privacy_audit.estimate.scores import observed_thresholds
from privacy_audit.verdict import Finding, Verdict

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, told apart by colour-blind readers; line styles differ as well."""
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def draw_roc(verdict: Verdict, profile: PrivacyProfile | None) -> Figure:
    """Draws TPR against FPR on log axes, with bands, the (ε, δ) limit and the mechanism's trade-off curve.

    Each adversary is drawn by its best statistic. A band holds the true positive rate at one threshold with the
    verdict's confidence (Clopper-Pearson).
    """
    figure = Figure(figsize=(6.4, 6.6), dpi=150, layout="constrained")
    axes = figure.subplots()
    lowest = 0.5 / verdict.trials
    rates = np.geomspace(lowest, 1.0, 300)
    if profile is not None:
        _draw_proven(axes, verdict, profile, rates)
    best = [verdict.best(name) for name in verdict.adversaries]
    for finding, colour, style in zip(best, _cycle(PALETTE), _cycle(STYLES), strict=False):
        _draw_finding(axes, finding, verdict, colour, style)
    axes.plot(rates, rates, color="0.6", linewidth=0.8, label="guessing (ε = 0)")
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(lowest, 1.0),
        ylim=(lowest, 1.15),
        xlabel="false positive rate: world D guessed D'",
        ylabel="true positive rate: world D' guessed D'",
        title=f"{verdict.headline}; {verdict.confidence:.0%} bands",
    )
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=1, fontsize=8)
    return figure


def _draw_proven(axes: Axes, verdict: Verdict, profile: PrivacyProfile, rates: np.ndarray) -> None:
    most = most_true_positives(rates, verdict.epsilon_proven, verdict.delta)
    axes.fill_between(rates, most, 2.0, color="0.88", linewidth=0, label="excluded by the proven (ε, δ)")
    curve = 1 - np.asarray(profile.trade_off(rates))
    axes.plot(rates, curve, color="black", linewidth=1.2, label="the mechanism's trade-off curve")


def most_true_positives(rates: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    """Largest TPR that (ε, δ)-DP admits at these false positive rates (Kairouz 2015)."""
    with np.errstate(over="ignore"):
        growth = np.exp(epsilon)
    return np.clip(np.minimum(growth * rates + delta, 1 - (1 - delta - rates) / growth), 0.0, 1.0)


def _draw_finding(axes: Axes, finding: Finding, verdict: Verdict, colour: str, style) -> None:
    _, false_positives, false_negatives = observed_thresholds(finding.scores_d, finding.scores_d_prime)
    n, m = len(finding.scores_d), len(finding.scores_d_prime)
    fpr, tpr = (false_positives / n)[::-1], (1 - false_negatives / m)[::-1]
    hits = m - false_negatives[::-1]
    failure = (1 - verdict.confidence) / 2
    least, most = rate_lower(hits, m, failure), rate_upper(hits, m, failure)
    caveat = "" if finding.estimate.valid else " (not valid)"
    label = (
        f"{finding.adversary}/{finding.statistic}: ε̂ = {finding.estimate.epsilon_lower:.2f}{caveat}, "
        f"AUC {finding.area.point:.3f}"
    )
    axes.step(fpr, tpr, where="post", color=colour, linestyle=style, linewidth=1.6, label=label)
    axes.fill_between(fpr, least, most, step="post", color=colour, alpha=0.12, linewidth=0)


def _cycle(values):
    while True:
        yield from values
