"""How far the certified and the printed bound lie from the optimum, and whether certified ever falls below it.

    python benchmarks/tightness.py

writes benchmarks/results/tightness.json (more than 3,000 (ε, δ) settings and a sweep over Gaussian DP) and
tightness.png beside it.
"""

import importlib.metadata
import itertools
import json
import os
import pathlib
import platform
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from privacy_audit.bounds import max_successes, success_bound
from privacy_audit.bounds.priors import uniform
from privacy_audit.bounds.profiles import ApproximateDP, GaussianDP

RESULTS = pathlib.Path(__file__).parent / "results"
SECRETS, SYMBOLS = (5, 10, 20, 30), (2, 5, 10, 100)
EPSILONS, DELTAS = (0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0), (1e-5, 1e-3, 1e-2, 0.1)
COUNTS = 12
MUS, LARGE = (0.5, 1.0), 100
METHODS = ("optimal", "certified", "printed")
# Okabe-Ito.
COLOURS = {"certified": "#0072B2", "printed": "#D55E00"}


def counts(n: int, pure: np.ndarray) -> np.ndarray:
    """At most twelve counts over the range where the pure bound falls from .999 to 1e-6."""
    inside = np.flatnonzero((pure < 0.999) & (pure > 1e-6)) + 1
    inside = inside if len(inside) else np.array([n])
    return np.unique(inside[np.linspace(0, len(inside) - 1, COUNTS).round().astype(int)])


def grid() -> list[dict]:
    """All methods over n, k, ε, δ and v."""
    rows = []
    for n, k, epsilon, delta in itertools.product(SECRETS, SYMBOLS, EPSILONS, DELTAS):
        profile, priors = ApproximateDP(epsilon, delta, adjacency="replace_one"), [uniform(k)] * n
        pure = success_bound(
            np.arange(1, n + 1), ApproximateDP(epsilon, 0.0, adjacency="replace_one"), priors
        )
        v = counts(n, pure)
        values = {method: success_bound(v, profile, priors, method) for method in METHODS}
        for i, count in enumerate(v.tolist()):
            row = {"n": n, "k": k, "epsilon": epsilon, "delta": delta, "v": count}
            rows.append(row | {method: float(value[i]) for method, value in values.items()})
        print(n, k, epsilon, delta, flush=True)
    return rows


def gaussian() -> list[dict]:
    """The counts left possible at 95 % and all bounds near there, n = 100 under Gaussian DP."""
    rows = []
    for mu, k in itertools.product(MUS, (10, 2)):
        profile, priors = GaussianDP(mu, adjacency="replace_one"), [uniform(k)] * LARGE
        most = {method: max_successes(profile, priors, method=method) for method in METHODS}
        v = np.unique(
            np.linspace(most["optimal"] - 8, min(most["printed"] + 2, LARGE), 6).round().astype(int)
        )
        values = {method: success_bound(v, profile, priors, method).tolist() for method in METHODS}
        rows.append({"mu": mu, "n": LARGE, "k": k, "max_successes": most, "v": v.tolist()} | values)
        print(rows[-1], flush=True)
    return rows


def summary(rows: list[dict]) -> dict:
    """Smallest, median and largest ratio to the optimum, and how often a bound lies below it."""
    optimal = np.array([row["optimal"] for row in rows])
    result = {}
    for method in COLOURS:
        ratio = np.array([row[method] for row in rows]) / optimal
        result[method] = {
            "smallest": float(ratio.min()),
            "median": float(np.median(ratio)),
            "largest": float(ratio.max()),
            "below_the_optimum": int(np.sum(ratio < 1 - 1e-8)),
        }
    return {"settings": len(rows)} | result


def figure(rows: list[dict], gaussians: list[dict]) -> None:
    """Ratios against the optimum, by δ; and the bounds themselves under Gaussian DP."""
    fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for shift, (method, colour) in zip((-0.18, 0.18), COLOURS.items(), strict=True):
        ratios = [[r[method] / r["optimal"] for r in rows if r["delta"] == delta] for delta in DELTAS]
        boxes = axes[0].boxplot(
            ratios,
            positions=np.arange(len(DELTAS)) + shift,
            widths=0.3,
            whis=(0, 100),
            patch_artist=True,
            medianprops={"color": "black"},
        )
        for box in boxes["boxes"]:
            box.set(facecolor=colour, alpha=0.7)
        axes[0].plot([], [], "s", color=colour, label=f"{method} / optimal")
    axes[0].axhline(1, color="black", lw=0.8)
    axes[0].set_xticks(range(len(DELTAS)), [f"{delta:g}" for delta in DELTAS])
    axes[0].set(
        xlabel="δ", ylabel="bound / optimum", yscale="log", title="(ε, δ)-DP: whole range over n, k, ε, v"
    )
    ticks = [0.8, 1, 1.5, 2, 3, 4]
    axes[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes[0].minorticks_off()
    axes[0].legend()
    for case, style in zip([c for c in gaussians if c["mu"] == 1.0], ("-", "--"), strict=True):
        for method, colour in {"optimal": "black", **COLOURS}.items():
            axes[1].semilogy(case["v"], case[method], style, color=colour, label=f"{method}, k = {case['k']}")
    axes[1].axhline(0.05, color="grey", lw=0.8)
    axes[1].set(xlabel="v of n = 100 secrets", ylabel="bound on Pr[L ≥ v]", title="Gaussian DP, μ = 1")
    axes[1].legend(fontsize=8)
    fig.savefig(RESULTS / "tightness.png", dpi=150)


def main() -> None:
    """Computes, checks, writes and draws."""
    start = time.time()
    gaussians, rows = gaussian(), grid()
    result = {
        "command": "python benchmarks/tightness.py",
        "grid": {"n": SECRETS, "k": SYMBOLS, "epsilon": EPSILONS, "delta": DELTAS, "v_each": COUNTS},
        "summary": summary(rows),
        "gaussian": gaussians,
        "rows": rows,
        "seconds": round(time.time() - start),
        "versions": {n: importlib.metadata.version(n) for n in ("jax", "numpy", "scipy")}
        | {"python": platform.python_version()},
        "hardware": {"cores": os.cpu_count(), "machine": platform.machine()},
    }
    print(result["summary"])
    (RESULTS / "tightness.json").write_text(json.dumps(result) + "\n")
    figure(rows, gaussians)


if __name__ == "__main__":
    main()
