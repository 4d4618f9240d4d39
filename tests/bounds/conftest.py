"""Independent twins that the tests of the bounds compare with."""

import itertools
import json
import pathlib

import mpmath
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

REFERENCE = pathlib.Path(__file__).parents[1] / "reference"


@pytest.fixture(scope="session")
def reference():
    """Values to 60 digits, by file name."""
    return lambda name: json.loads((REFERENCE / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def probability_vector():
    """Rebuilds the probability vectors of `poisson_binomial.json`."""

    def build(kind: str, n: int, a: float) -> np.ndarray:
        index = np.arange(n)
        u = np.modf((index + 1) * a)[0]
        if kind == "edge":
            return np.where(index % 10 == 0, 0.0, np.where(index % 10 == 1, 1.0, u))
        return {"weyl": 0.001 + 0.998 * u, "log": 10 ** (-6 * u), "half": 0.45 + 0.1 * u}[kind]

    return build


@pytest.fixture(scope="session")
def exact_masses():
    """Pr[S = 0..n] in 60 digits, one trial after another."""

    def masses(p) -> list:
        with mpmath.workdps(60):
            mass = [mpmath.mpf(1)]
            for x in map(mpmath.mpf, map(float, p)):
                mass = [a * (1 - x) + b * x for a, b in zip([*mass, 0], [0, *mass], strict=True)]
            return mass

    return masses


@pytest.fixture(scope="session")
def full_program():
    """The largest Pr[L >= v] over every mechanism, by the linear program over the whole table M(z | x)."""
    return _full_program


def _full_program(v: int, priors: list, points: list, matches=None) -> float:
    """`priors`: one distribution per record; `points`: (ε, δ) pairs; `matches[i][x, z]`: whether z succeeds at x."""
    matches = matches or [np.eye(len(p)) for p in priors]
    inputs = list(itertools.product(*(range(len(p)) for p in priors)))
    outputs = list(itertools.product(*(range(m.shape[1]) for m in matches)))
    width = len(outputs)
    chance = [np.prod([p[a] for p, a in zip(priors, x, strict=True)]) for x in inputs]
    gain = np.array(
        [
            c * (sum(m[a, b] for m, a, b in zip(matches, x, z, strict=True)) >= v)
            for x, c in zip(inputs, chance, strict=True)
            for z in outputs
        ]
    )
    pairs = [
        (i, j)
        for i, x in enumerate(inputs)
        for j, y in enumerate(inputs)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    ]
    rows, limits, budgets = [], [], []
    one = scipy.sparse.identity(width)
    pick = scipy.sparse.identity(len(inputs)).tocsr()
    for epsilon, delta in points:
        for i, j in pairs:
            rows.append(scipy.sparse.kron(pick[i] - np.exp(epsilon) * pick[j], one))
            budgets.append(delta)
    table = scipy.sparse.vstack(rows)
    excess = table.shape[0]
    limits = scipy.sparse.kron(scipy.sparse.identity(len(budgets)), np.ones((1, width)))
    upper = scipy.sparse.bmat([[table, -scipy.sparse.identity(excess)], [None, limits]]).tocsr()
    total = scipy.sparse.hstack(
        [
            scipy.sparse.kron(scipy.sparse.identity(len(inputs)), np.ones((1, width))),
            scipy.sparse.csr_matrix((len(inputs), excess)),
        ]
    )
    found = scipy.optimize.linprog(
        np.concatenate([-gain, np.zeros(excess)]),
        A_ub=upper,
        b_ub=np.concatenate([np.zeros(excess), budgets]),
        A_eq=total,
        b_eq=np.ones(len(inputs)),
        method="highs-ds",
    )
    assert found.status == 0, found.message
    return -found.fun
