"""Poisson-binomial tails and sweeps of the success bound: ours beside scipy, fast-poibin and NumPy, in one run.

    pip install privacy-audit[benchmarks] && python benchmarks/bounds.py

writes benchmarks/results/bounds.json. Times are medians of warm runs on unequal probabilities; errors are measured
on equal ones, where the truth is a binomial tail known to 60 digits. Noise calibration against riskcal is
`benchmarks/calibration.py`.
"""

import importlib.metadata
import json
import math
import os
import pathlib
import platform
import time

import fast_poibin
import mpmath
import numpy as np
import scipy.optimize
import scipy.signal
import scipy.stats

from privacy_audit.bounds import poisson_binomial, sweep_max_successes, sweep_success_bound

RESULT = pathlib.Path(__file__).parent / "results" / "bounds.json"
SIZES = (10**3, 10**4, 10**5, 10**6)
LEVELS = (1e-5, 1e-12, 1e-50, 1e-200)
EQUAL = 0.3
SETTINGS, SECRETS, COUNT, LOOPED = 100_000, 100, 60, 100
SEED = 0


def ours(k: int, p: np.ndarray) -> float:
    """log Pr[S >= k]."""
    return float(poisson_binomial.logsf(k - 1, p))


def by_scipy(k: int, p: np.ndarray) -> float:
    return _log(scipy.stats.poisson_binom.sf(k - 1, p))


def by_fast_poibin(k: int, p: np.ndarray) -> float:
    return _log(1 - fast_poibin.PoiBin(p.tolist()).cdf[k - 1])


def by_tilted_fft(k: int, p: np.ndarray) -> float:
    """The textbook remedy in NumPy: tilt so that k is the mean, multiply polynomials by FFT, undo the tilt."""
    logit = np.log(p) - np.log1p(-p)
    theta = scipy.optimize.brentq(lambda t: np.sum(scipy.special.expit(logit + t)) - k, 0, 100)
    q = scipy.special.expit(logit + theta)
    factors = [np.array([1 - x, x]) for x in q]
    while len(factors) > 1:
        pairs = [
            scipy.signal.fftconvolve(a, b) if len(a) > 256 else np.convolve(a, b)
            for a, b in zip(factors[::2], factors[1::2], strict=False)
        ]
        factors = pairs + ([factors[-1]] if len(factors) % 2 else [])
    mass = np.maximum(factors[0][k:], 0)
    tail = np.sum(mass * np.exp(-theta * np.arange(len(mass))))
    return float(np.sum(np.log1p(p * np.expm1(theta))) - theta * k + np.log(tail))


# Largest n that each finishes in seconds.
METHODS = {
    "privacy-audit": (ours, 10**6),
    "scipy poisson_binom.sf": (by_scipy, 10**4),
    "fast-poibin": (by_fast_poibin, 10**6),
    "NumPy tilted FFT": (by_tilted_fft, 10**6),
}


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


def true_log_tail(k: int, n: int) -> float:
    """log Pr[Binomial(n, .3) >= k] for k above the mean: the first mass in 60 digits, the others by their ratios."""
    with mpmath.workdps(60):
        first = (
            mpmath.log(mpmath.binomial(n, k))
            + k * mpmath.log(EQUAL)
            + (n - k) * mpmath.log1p(-mpmath.mpf(EQUAL))
        )
    above = np.arange(k, min(n, k + 100_000))
    return float(first) + np.log1p(np.sum(np.cumprod((n - above) / (above + 1) * (EQUAL / (1 - EQUAL)))))


def count_at(level: float, n: int) -> int:
    """Smallest k with Pr[S >= k] <= level."""
    low, high = int(EQUAL * n) + 1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if true_log_tail(middle, n) <= math.log(level) else (middle, high)
    return high


def seconds(call, least: float = 0.3) -> float:
    """Median of warm runs that fill `least` seconds together."""
    call()
    times = []
    while sum(times) < least or len(times) < 3:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        if sum(times) > 20:
            break
    return float(np.median(times))


def one_tail() -> list[dict]:
    """Time and relative error of Pr, by size, level and method."""
    rows = []
    for n in SIZES:
        unequal = 0.1 + 0.4 * np.modf((np.arange(n) + 1) * 0.6180339887498949)[0]
        for level in LEVELS:
            k = count_at(level, n)
            truth = true_log_tail(k, n)
            for name, (method, largest) in METHODS.items():
                if n > largest:
                    continue
                got = method(k, np.full(n, EQUAL))
                error = abs(math.expm1(got - truth)) if math.isfinite(got) else 1.0
                rows.append({"n": n, "level": level, "k": k, "method": name, "relative_error": error})
                if level == LEVELS[1]:
                    rows[-1]["seconds"] = seconds(lambda call=method, k=k, p=unequal: call(k, p))
                print(rows[-1], flush=True)
    return rows


def looped(epsilon: float, delta: float, kappa: float) -> float:
    """The closed form for one setting, with scipy."""
    beta = 1 / (1 + (1 / kappa - 1) * math.exp(-epsilon))
    trials = np.arange(SECRETS - 1, -1, -1)
    mode = np.minimum(np.floor((trials + 1) * beta), trials)
    added = delta * np.sum(scipy.stats.binom.pmf(mode, trials, beta))
    return min(1.0, scipy.stats.poisson_binom.sf(COUNT - 1, np.full(SECRETS, beta)) + added)


def sweep() -> dict:
    """10⁵ settings (ε, δ, κ) at n = 100, and a Python loop over scipy on the first of them."""
    rng = np.random.default_rng(SEED)
    settings = (
        rng.uniform(0, 4, SETTINGS),
        10 ** rng.uniform(-9, -3, SETTINGS),
        rng.uniform(0.01, 0.9, SETTINGS),
    )
    bound = np.asarray(sweep_success_bound(COUNT, *settings, SECRETS))
    loop = [looped(*(float(x[i]) for x in settings)) for i in range(LOOPED)]
    start = time.perf_counter()
    for i in range(LOOPED):
        looped(*(float(x[i]) for x in settings))
    each = (time.perf_counter() - start) / LOOPED
    ours_seconds = seconds(lambda: np.asarray(sweep_success_bound(COUNT, *settings, SECRETS)))
    most_seconds = seconds(lambda: np.asarray(sweep_max_successes(*settings, SECRETS)))
    return {
        "settings": SETTINGS,
        "secrets": SECRETS,
        "v": COUNT,
        "seconds": ours_seconds,
        "max_successes_seconds": most_seconds,
        "loop_seconds_per_setting": each,
        "loop_settings_timed": LOOPED,
        "loop_times_slower": each * SETTINGS / ours_seconds,
        "largest_difference": float(np.max(np.abs(bound[:LOOPED] - loop))),
    }


def main() -> None:
    """Runs everything, prints it and writes the result."""
    result = {
        "command": "python benchmarks/bounds.py",
        "seed": SEED,
        "one_tail": one_tail(),
        "sweep": sweep(),
        "versions": {n: importlib.metadata.version(n) for n in ("jax", "numpy", "scipy", "fast-poibin")}
        | {"python": platform.python_version()},
        "hardware": {"cores": os.cpu_count(), "machine": platform.machine()},
    }
    print(result["sweep"])
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
