"""Steinke, Nasr and Jagielski 2023, arXiv 2305.08846: (ε, δ)-DP from one run."""

import numpy as np
from scipy.special import expit
from scipy.stats import binom


def p_value(correct: int, guesses: int, candidates: int, epsilon: float, delta: float) -> float:
    """Bound on Pr[at least `correct` of `guesses` right] under (ε, δ)-DP (theorem 3.3).

    Guesses abstain on the other of `candidates`, membership of each is a fair coin, and the guesses may name
    either side. With β the binomial tail at success e^ε/(e^ε + 1): β + 2mδ·max_i (Pr[W >= v − i] − β)/i.
    """
    if correct <= 0:
        return 1.0
    success = expit(epsilon)
    tail = binom.sf(correct - 1, guesses, success)
    fewer = np.arange(1, correct + 1)
    gain = np.max((binom.sf(correct - fewer - 1, guesses, success) - tail) / fewer)
    return float(min(tail + 2 * candidates * delta * gain, 1.0))
