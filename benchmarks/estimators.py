"""Null calibration, coverage and power of the estimators, and of jax_privacy's on the same scores.

    pip install privacy-audit[peers] && python benchmarks/estimators.py

writes benchmarks/results/estimators.json and prints the tables of benchmarks/results/estimators.md. Every section
has its own seed. A share is that of repeats with ε̂ above the true ε, so at most 5% for a valid method.
"""

import functools
import importlib.metadata
import json
import os
import pathlib
import platform
import time

import numpy as np
from absl import app, flags
from jax_privacy import auditing
from scipy.special import betaincinv

from privacy_audit import estimate
from privacy_audit.bounds.calibrate import noise_multiplier_for_epsilon
from privacy_audit.bounds.profiles import GaussianDP
from privacy_audit.estimate import anytime, every
from privacy_audit.estimate.bayesian import posterior_at_most
from privacy_audit.estimate.mechanism_fit import parameter_p_value
from privacy_audit.estimate.one_run.audit import bounded_parameter, count_correct

DELTA, CONFIDENCE, FAILURE = 1e-5, 0.95, 0.05
RATE, STEPS = 0.1, 100
GAUSSIAN = estimate.gaussian_family()
SUBSAMPLED = estimate.dpsgd_family(RATE, STEPS)
SMALL = 1000
RESULTS = pathlib.Path(__file__).parent / "results"
_SECTIONS = flags.DEFINE_list("sections", "stopping,false_stops,power,null,coverage", "Which parts to run.")
_SCALE = flags.DEFINE_float("scale", 1.0, "Multiplies every number of repeats.")


def mu_for(epsilon: float) -> float:
    """μ whose Gaussian DP has this ε at DELTA."""
    low, high = 1e-3, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        below = GaussianDP(middle, adjacency="add_remove").epsilon(DELTA) < epsilon
        low, high = (middle, high) if below else (low, middle)
    return low


def gaussian_scores(rng, trials: int, mu: float):
    """Scores of the Gaussian mechanism."""
    return rng.normal(size=trials), rng.normal(mu, 1.0, size=trials)


def subsampled_scores(rng, trials: int, sigma: float):
    """Log-likelihood ratios of the dataset attack: s_t ~ N(b_t, σ²) with b_t ~ Bernoulli(q) under D'."""
    noise = rng.normal(0.0, sigma, size=(2, trials, STEPS))
    noise[1] += rng.random((trials, STEPS)) < RATE
    return np.sum(np.log1p(RATE * np.expm1((2 * noise - 1) / (2 * sigma**2))), axis=2)


def exceeds(d, d_prime, epsilon: float, family, parameter: float) -> dict[str, bool]:
    """For each method whether its bound lies above the true ε, by testing that ε alone where that is the same."""
    level = {"delta": DELTA, "confidence": CONFIDENCE}
    n = len(d)
    critical = every.critical_level(n, n, epsilon, DELTA, FAILURE / 2)
    pairs = ((d, d_prime), (-d_prime, -d))
    held_out = estimate.clopper_pearson(d, d_prime, **level)
    claims = {
        "clopper_pearson, held-out": held_out.epsilon_lower > epsilon,
        "clopper_pearson, every": min(every.loudest(*p, epsilon, DELTA).local_p for p in pairs) < critical,
        "gaussian_dp": estimate.gaussian_dp(d, d_prime, **level).epsilon_lower > epsilon,
        "mechanism_fit": parameter_p_value(d, d_prime, family, parameter) <= FAILURE,
        "bayesian (credible)": credible_claim(held_out, epsilon),
    }
    if n <= SMALL:
        chosen = estimate.clopper_pearson(d, d_prime, threshold="same-sample", **level)
        claims["clopper_pearson, same-sample (not valid)"] = chosen.epsilon_lower > epsilon
    return claims


def credible_claim(counted: estimate.Estimate, epsilon: float) -> bool:
    """Whether the posterior of these counts, under uniform priors, leaves less than FAILURE to this ε or less."""
    fp, fn, n, m = counted.false_positives, counted.false_negatives, counted.trials_d, counted.trials_d_prime
    rates = betaincinv(fp + 1, n - fp + 1, (np.arange(1000) + 0.5) / 1000)
    return posterior_at_most(epsilon, rates, (fn + 1, m - fn + 1), DELTA) < FAILURE


def peers(d, d_prime) -> dict[str, float]:
    """jax_privacy's numbers on the same scores."""
    auditor = auditing.CanaryScoreAuditor(d_prime, d)
    return {
        "jax_privacy, Bonferroni": auditor.epsilon_clopper_pearson(FAILURE, DELTA, one_sided=False),
        "jax_privacy, epsilon_from_gdp": auditor.epsilon_from_gdp(FAILURE, DELTA),
    }


def shares(draw, repeats: int, seed: int, epsilon: float, family, parameter: float, with_peers: bool) -> dict:
    """Share of repeats in which each method claims more than the truth."""
    rng, claimed = np.random.default_rng(seed), {}
    for _ in range(repeats):
        d, d_prime = draw(rng)
        found = exceeds(d, d_prime, epsilon, family, parameter)
        if with_peers:
            found |= {name: value > epsilon for name, value in peers(d, d_prime).items()}
        for name, value in found.items():
            claimed[name] = claimed.get(name, 0) + bool(value)
    limit = FAILURE + 2 * np.sqrt(FAILURE * (1 - FAILURE) / repeats)
    return {"repeats": repeats, "limit": limit, "shares": {k: v / repeats for k, v in claimed.items()}}


def null(scale: float) -> dict:
    """Identical worlds at three sizes."""
    result = {}
    for trials in (100, 1000, 10_000):
        draw = functools.partial(gaussian_scores, trials=trials, mu=0.0)
        repeats = max(2, round(2000 * scale))
        result[str(trials)] = shares(draw, repeats, trials, 0.0, GAUSSIAN, GAUSSIAN.lowest, trials <= SMALL)
    return result


def coverage(scale: float) -> dict:
    """True ε of 1 and 4, Gaussian and subsampled scores, 1,000 trials."""
    result, repeats = {}, max(2, round(2000 * scale))
    for epsilon in (1.0, 4.0):
        mu = mu_for(epsilon)
        sigma = noise_multiplier_for_epsilon(epsilon, DELTA, RATE, STEPS)
        draws = {
            "Gaussian": (functools.partial(gaussian_scores, trials=1000, mu=mu), GAUSSIAN, mu),
            "subsampled": (
                functools.partial(subsampled_scores, trials=1000, sigma=sigma),
                SUBSAMPLED,
                1 / sigma,
            ),
        }
        for name, (draw, family, parameter) in draws.items():
            result[f"{name}, ε = {epsilon:g}"] = shares(draw, repeats, 7, epsilon, family, parameter, False)
    return result


@functools.lru_cache(maxsize=1024)
def _one_run(method: str, correct: int, guesses: int, canaries: int) -> float:
    family = estimate.approximate_dp_family(DELTA) if method == "steinke" else GAUSSIAN
    parameter = bounded_parameter(method, correct, guesses, canaries, family, DELTA, FAILURE)
    return float(family.profile(parameter).epsilon(DELTA)) if parameter > 0 else 0.0


def one_run(d, d_prime, guesses: int = 100) -> dict[str, float]:
    """All trials as the canaries of one run; 100 guesses, half on either side."""
    scores = np.concatenate([d, d_prime])
    included = np.arange(len(scores)) >= len(d)
    correct = count_correct(scores, included, guesses, True)
    auditor = auditing.CanaryScoreAuditor(d_prime, d)
    return {
        f"one_run, {method}": _one_run(method, correct, guesses, len(scores))
        for method in ("steinke", "mahloujifar", "optimal")
    } | {"jax_privacy, epsilon_one_run_fdp": auditor.epsilon_one_run_fdp(FAILURE, DELTA)}


def power(scale: float) -> dict:
    """Median ε̂ at μ = 1 (ε = 4.377), 1,000 trials per world."""
    rng, found = np.random.default_rng(11), {}
    repeats, level = max(2, round(100 * scale)), {"delta": DELTA, "confidence": CONFIDENCE}
    for _ in range(repeats):
        d, d_prime = gaussian_scores(rng, 1000, 1.0)
        values = {
            "clopper_pearson, held-out": estimate.clopper_pearson(d, d_prime, **level).epsilon_lower,
            "clopper_pearson, best fixed threshold": estimate.clopper_pearson(
                d, d_prime, threshold=2.2, **level
            ).epsilon_lower,
            "clopper_pearson, every": estimate.clopper_pearson(
                d, d_prime, threshold="every", **level
            ).epsilon_lower,
            "gaussian_dp": estimate.gaussian_dp(d, d_prime, **level).epsilon_lower,
            "mechanism_fit": estimate.mechanism_fit(d, d_prime, **level).epsilon_lower,
            "bayesian (credible)": estimate.bayesian(d, d_prime, **level).epsilon_lower,
        }
        for name, value in (values | one_run(d, d_prime) | peers(d, d_prime)).items():
            found.setdefault(name, []).append(float(value))
    medians = {name: float(np.median(values)) for name, values in found.items()}
    return {
        "repeats": repeats,
        "true": float(GaussianDP(1.0, adjacency="add_remove").epsilon(DELTA)),
        "medians": medians,
    }


def fixed_number(sigma: float, above: float) -> int:
    """Smallest number of trials with 90% power at the best threshold, which is known here from 10⁶ scores."""
    d, d_prime = (np.sort(world) for world in subsampled_scores(np.random.default_rng(3), 400_000, sigma))
    best = []
    for level in np.geomspace(0.002, 0.3, 16):
        cut = d[-int(level * len(d))]
        rates = {"false_positive_rate": level, "false_negative_rate": np.searchsorted(d_prime, cut) / len(d)}
        try:
            best.append(estimate.trials_needed(above, delta=DELTA, confidence=CONFIDENCE, **rates))
        except ValueError:
            continue
    return min(best)


def stopping_time(rng, sigma: float, above: float, pilot: int, chunk: int, most: int) -> int:
    """Trials per world, the pilot's included, until ε > above is shown."""
    d, d_prime = subsampled_scores(rng, most, sigma)
    audit, seen = anytime.start(d[:pilot], d_prime[:pilot], delta=DELTA), pilot
    while seen < most and not anytime.should_stop(audit, above=above):
        audit = anytime.update(audit, d[seen : seen + chunk], d_prime[seen : seen + chunk])
        seen += chunk
    return seen


def stopping(scale: float) -> dict:
    """Trials to show ε > 1 at true ε = 4, against the fixed number; planned for ε = 4 and for ε = 3."""
    rng, repeats = np.random.default_rng(13), max(2, round(200 * scale))
    sigma = noise_multiplier_for_epsilon(4.0, DELTA, RATE, STEPS)
    weaker = noise_multiplier_for_epsilon(3.0, DELTA, RATE, STEPS)
    times = np.array([stopping_time(rng, sigma, 1.0, 64, 32, 20_064) for _ in range(repeats)])
    result = {"repeats": repeats, "median": float(np.median(times)), "p90": float(np.quantile(times, 0.9))}
    for name, planned in (("planned for the true attack", sigma), ("planned for ε = 3", weaker)):
        fixed = fixed_number(planned, 1.0)
        ratios = {q: float(np.quantile(times / fixed, p)) for q, p in (("median", 0.5), ("p90", 0.9))}
        result[name] = {"fixed": fixed, "ratio": ratios}
    return result


def false_stops(scale: float) -> dict:
    """Peeking after every 32 trials at the claim ε > 1, which is false by a hair: randomized response with ε = 1."""
    rng, repeats, trials = np.random.default_rng(17), max(2, round(1000 * scale)), 2000
    wrong, stops = 1 / (1 + np.e), 0
    for _ in range(repeats):
        d, d_prime = (rng.random(trials) < wrong) + 0.0, (rng.random(trials) >= wrong) + 0.0
        d, d_prime = d + rng.random(trials), d_prime + rng.random(trials)
        audit, seen = anytime.start(d[:64], d_prime[:64], delta=0.0), 64
        while seen < trials and not anytime.should_stop(audit, above=1.0):
            audit = anytime.update(audit, d[seen : seen + 32], d_prime[seen : seen + 32])
            seen += 32
        stops += anytime.should_stop(audit, above=1.0)
    return {"repeats": repeats, "trials": trials, "share": stops / repeats}


def tables(result: dict) -> str:
    """Markdown from the JSON; sections that were not run are left out."""
    head = "Made by `python benchmarks/estimators.py`. δ = 1e-5, confidence 95%, two worlds of equal size."
    titles = {
        "null": "Share of ε̂ > 0 on identical worlds, by trials",
        "coverage": "Share of ε̂ > ε, 1,000 trials",
    }
    parts = [_shares_table(titles[name], result[name]) for name in titles if name in result]
    parts += [_power_table(result["power"])] if "power" in result else []
    parts += [_stopping_table(result["stopping"])] if "stopping" in result else []
    if "false_stops" in result:
        wrong = result["false_stops"]
        claim = f"False stops under peeking after every 32 of {wrong['trials']} trials, {wrong['repeats']} repeats"
        parts.append(f"{claim}: {wrong['share']:.2%}.")
    return "\n\n".join([head, *parts]) + "\n"


def _shares_table(title: str, section: dict) -> str:
    columns = {name: cell for name, cell in section.items() if isinstance(cell, dict)}
    names = list(dict.fromkeys(name for cell in columns.values() for name in cell["shares"]))
    lines = [
        f"**{title}**",
        "",
        "| method | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name in names:
        cells = [cell["shares"].get(name) for cell in columns.values()]
        lines.append(f"| {name} | " + " | ".join("" if c is None else f"{c:.2%}" for c in cells) + " |")
    limits = " | ".join(f"{cell['limit']:.2%}" for cell in columns.values())
    return "\n".join([*lines, f"| limit (5% + 2 standard errors) | {limits} |"])


def _power_table(section: dict) -> str:
    title = f"**Median ε̂ at μ = 1 (ε = {section['true']:.3f}), 1,000 trials, {section['repeats']} repeats**"
    shown = sorted(section["medians"].items(), key=lambda item: -item[1])
    return "\n".join([title, "", "| method | ε̂ |", "|---|---|", *(f"| {n} | {v:.3f} |" for n, v in shown)])


def _stopping_table(section: dict) -> str:
    title = (
        f"**Trials per world until ε > 1 is shown, true ε = 4, pilots counted, {section['repeats']} repeats**"
    )
    head = [
        "| fixed number with 90% power | trials | stopping / fixed, median | 90th percentile |",
        "|---|---|---|---|",
    ]
    rows = [
        f"| {n} | {section[n]['fixed']} | {section[n]['ratio']['median']:.2f} | {section[n]['ratio']['p90']:.2f} |"
        for n in ("planned for the true attack", "planned for ε = 3")
    ]
    return "\n".join([title, "", *head, *rows])


SECTIONS = {
    "stopping": stopping,
    "false_stops": false_stops,
    "power": power,
    "null": null,
    "coverage": coverage,
}


def main(arguments) -> None:
    """Runs the chosen sections, keeps the others as they were, and writes both files."""
    del arguments
    path = RESULTS / "estimators.json"
    result = json.loads(path.read_text()) if path.is_file() else {}
    for name in _SECTIONS.value:
        begun = time.perf_counter()
        result[name] = SECTIONS[name](_SCALE.value) | {"scale": _SCALE.value}
        result[name]["seconds"] = round(time.perf_counter() - begun, 1)
        print(name, json.dumps(result[name], ensure_ascii=False), flush=True)
    packages = ("numpy", "scipy", "dp-accounting", "jax-privacy")
    result |= {
        "config": {"delta": DELTA, "confidence": CONFIDENCE, "sampling_rate": RATE, "steps": STEPS},
        "command": "python benchmarks/estimators.py",
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "hardware": {
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
    }
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    (RESULTS / "estimators.md").write_text(tables(result))


if __name__ == "__main__":
    app.run(main)
