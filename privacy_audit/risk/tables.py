"""`risk tables`: Paper U's tables, its 'SEX' example and the theory's tables, computed beside the printed figures."""

import math

import numpy as np
from absl import flags

from privacy_audit.bounds import (
    advantage,
    epsilon_for_advantage,
    expected_successes,
    flip_probability,
    max_successes,
    success_bound,
)
from privacy_audit.bounds.baselines import BASELINES, SETTINGS
from privacy_audit.bounds.certified import log_pure_tail
from privacy_audit.bounds.priors import uniform
from privacy_audit.bounds.profiles import ApproximateDP, GaussianDP
from privacy_audit.command import Command
from privacy_audit.risk import outputs, paper
from privacy_audit.risk.coverage import certified, covered

_SUMMARY = (
    "Computes Paper U's Tables 1 and 2 and its 'SEX' example beside the printed figures, the settings in which the "
    "printed (epsilon, delta) formula is exceeded, and successes under Gaussian DP. About a minute; --quick skips the "
    "slow column."
)


def make_command() -> Command:
    """The subcommand with its flags."""
    command = Command("privacy_audit.risk tables", _SUMMARY)
    command.define("Tables", flags.DEFINE_list, "only", None, f"some of {', '.join(_TABLES)}; by default all")
    command.define(
        "Tables", flags.DEFINE_bool, "quick", False, "leave out the refined certified bound under f-DP"
    )
    command.define("Output", flags.DEFINE_bool, "json", False, "print JSON instead of tables")
    return command


def body(command: Command) -> None:
    """Prints the tables."""
    only = command.values["only"].value
    if only is not None and not only:
        raise ValueError(f"only must be some of {', '.join(_TABLES)}, got nothing")
    names = only or list(_TABLES)
    for name in names:
        if name not in _TABLES:
            raise ValueError(f"only must be some of {', '.join(_TABLES)}, got {name!r}")
    quick, as_json = command.values["quick"].value, command.values["json"].value
    made = {}
    for name in names:
        title, make = _TABLES[name]
        made[name] = make(quick)
        if not as_json:
            print(f"{title}\n\n{outputs.table(made[name])}\n", flush=True)
    if as_json:
        print(outputs.as_json(made))


def coverage_table(quick: bool = False) -> list[outputs.Row]:
    """U's Table 1: which settings each bound covers; where the paper differs its entry follows in brackets."""
    bounds = {**{baseline.name: baseline for baseline in BASELINES}, "ours": certified}
    rows = []
    for name, bound in bounds.items():
        found, printed = covered(bound), paper.CARD_TABLE_1.get(name)
        row = {"bound": name}
        for setting in SETTINGS:
            ours = "✓" if setting in found else "–"
            theirs = ours if printed is None else "✓" if paper.COLUMNS[setting] in printed else "–"
            row[setting] = ours if ours == theirs else f"{ours} (U: {theirs})"
        rows.append(row)
    return rows


def protection_table(quick: bool = False) -> list[outputs.Row]:
    """U's Table 2: ε that keeps the advantage at 0.05, and advantages at ε = 1 and 10, under pure DP."""
    rows = []
    for secrets, kappa, *printed in paper.TABLE_2:
        gains = [float(advantage(flip_probability(epsilon, kappa), kappa)) for epsilon in (1.0, 10.0)]
        rows.append(
            {
                "secrets": secrets,
                "κ": kappa,
                "ε for Adv ≤ 0.05": float(epsilon_for_advantage(0.05, kappa)),
                "U": printed[0],
                "Adv at ε = 1": gains[0],
                "U ": printed[1],
                "Adv at ε = 10": gains[1],
                "U  ": printed[2],
            }
        )
    return rows


def sex_table(quick: bool = False) -> list[outputs.Row]:
    """The 'SEX' attribute of 100 census records: the largest number recovered at 95 %."""
    profile = ApproximateDP(paper.SEX_EPSILON, paper.SEX_DELTA, adjacency="replace_one")
    priors = [paper.SEX_PRIOR] * paper.SEX_SECRETS
    return [
        {
            "method": method,
            "at most recovered": max_successes(profile, priors, method=method),
            "U": paper.SEX_PRINTED,
            "expected at most": expected_successes(profile, priors),
        }
        for method in ("certified", "printed")
    ]


def counterexample_table(quick: bool = False) -> list[outputs.Row]:
    """Pr[L >= v] where the printed formula τ + α·n·δ is below the exact optimum: it is not a bound."""
    rows = []
    for secrets, symbols, epsilon, delta, v in paper.COUNTEREXAMPLES:
        profile = ApproximateDP(epsilon, delta, adjacency="replace_one")
        priors = [uniform(symbols)] * secrets
        bounds = {m: float(success_bound(v, profile, priors, m)) for m in ("optimal", "printed", "certified")}
        beta = np.full(secrets, float(flip_probability(epsilon, 1 / symbols)))
        tail = math.exp(log_pure_tail(np.array([v]), beta)[0])
        rows.append(
            {"n": secrets, "k": symbols, "ε": epsilon, "δ": delta, "v": v}
            | {
                "optimum": bounds["optimal"],
                "printed": bounds["printed"],
                "τ": tail,
                "certified": bounds["certified"],
            }
        )
    return rows


def gaussian_table(quick: bool = False) -> list[outputs.Row]:
    """Largest number recovered of n = 100 at 95 % under μ-Gaussian DP, by each method, and the mean."""
    rows = []
    for mu, symbols in paper.GAUSSIAN_ROWS:
        profile, priors = GaussianDP(mu, adjacency="replace_one"), [uniform(symbols)] * 100
        row = {"μ": mu, "k": symbols, "printed, best ε": max_successes(profile, priors, method="printed")}
        if not quick:
            row["certified"] = max_successes(profile, priors)
        row["optimum"] = max_successes(profile, priors, method="optimal")
        row["100·(1 - f(κ))"] = 100 * (1 - float(profile.trade_off(1 / symbols)))
        row["mean at most"] = expected_successes(profile, priors)
        rows.append(row)
    return rows


_TABLES = {
    "coverage": ("Settings that each bound covers (U, Table 1; found by calling the code)", coverage_table),
    "protection": ("ε that protects, and advantage (U, Table 2; pure DP)", protection_table),
    "sex": ("'SEX' of 100 records: κ = 0.56, ε = 1, δ = 1e-5, 95 %", sex_table),
    "counterexamples": ("Pr[L >= v]: the printed formula is exceeded by exact optima", counterexample_table),
    "gaussian": ("Gaussian DP, n = 100: most recovered at 95 %", gaussian_table),
}
