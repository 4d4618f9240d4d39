"""The optimum over all mechanisms and attacks, for uniform priors.

By symmetry the best mechanism releases guesses z with probability f(d), d the number of wrong positions.
With g of k symbols named at each of n secrets and m_d the probability of d wrong positions it solves the
linear program

    maximise Σ_{d <= n-v} m_d   subject to   Σ m_d = 1,  m >= 0,  and for every ε of a grid
    Σ_{d<n} [u_d - e^ε·w_d]_+ + [w_d - e^ε·u_d]_+ <= δ(ε),
    u_d = m_d·(n - d)/n·(k - g)/(k - 1),    w_d = m_{d+1}·(d + 1)/n·g/(k - 1).

It is exact for (ε, δ)-DP; under f-DP it is a bound that tightens with the grid.
"""

from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse as sparse
from jaxtyping import Float

from .grid import Grid
from .priors import Prior

# Beyond it e^ε no longer fits beside 1 in the solver's matrix; the certified bound is as good there.
_LARGEST_EPSILON = 18.0


class Solution(NamedTuple):
    """`bound` is never below the optimum; `wrong[d]` is the probability of d wrong positions, near it."""

    bound: float
    wrong: Float[np.ndarray, "n+1"]


def solve(count: int, secrets: int, prior: Prior, grid: Grid) -> Solution | None:
    """The optimum of Pr[L >= count], or None where the solver cannot help.

    Args:
        count: v in 1..n.
        secrets: n >= 1.
        prior: uniform, with g < k.
        grid: points of the profile to respect.
    """
    usable = grid.epsilon <= _LARGEST_EPSILON
    grid = Grid(grid.epsilon[usable], grid.delta[usable])
    if not usable.any():
        return None
    rows = _excesses(secrets, prior, grid)
    program = _program(count, secrets, rows, grid)
    found = scipy.optimize.linprog(**program, bounds=(0, None), method="highs-ds")
    if found.status != 0:
        return None
    wrong = np.maximum(found.x[: secrets + 1], 0)
    return Solution(_repaired(found.ineqlin.marginals, count, secrets, rows, grid), wrong / wrong.sum())


def _excesses(secrets: int, prior: Prior, grid: Grid) -> sparse.csr_matrix:
    """Rows u - e^ε·w and w - e^ε·u, all d for one ε, then the next ε; columns m_0..m_n."""
    d = np.arange(secrets)
    shape, others = (secrets, secrets + 1), prior.symbols - 1
    right = (secrets - d) / secrets * ((prior.symbols - prior.guesses) / others)
    wrong = (d + 1) / secrets * (prior.guesses / others)
    u = sparse.csr_matrix((right, (d, d)), shape)
    w = sparse.csr_matrix((wrong, (d, d + 1)), shape)
    rows = [pair for e in np.exp(grid.epsilon) for pair in (u - e * w, w - e * u)]
    return sparse.vstack(rows).tocsr()


def _program(count: int, secrets: int, rows: sparse.csr_matrix, grid: Grid) -> dict:
    """The linear program in (m, t), t >= the positive parts."""
    pairs, points = rows.shape[0], len(grid.epsilon)
    sums = sparse.kron(sparse.identity(points), np.ones((1, 2 * secrets)))
    above = sparse.hstack([rows, -sparse.identity(pairs)])
    limits = sparse.hstack([sparse.csr_matrix((points, secrets + 1)), sums])
    gain = np.zeros(secrets + 1 + pairs)
    gain[: secrets - count + 1] = 1
    total = np.concatenate([np.ones(secrets + 1), np.zeros(pairs)])
    return {
        "c": -gain,
        "A_ub": sparse.vstack([above, limits]).tocsr(),
        "b_ub": np.concatenate([np.zeros(pairs), grid.delta]),
        "A_eq": total[None],
        "b_eq": np.ones(1),
    }


def _repaired(marginals, count: int, secrets: int, rows: sparse.csr_matrix, grid: Grid) -> float:
    """The value of a dual point made feasible: by weak duality never below the optimum, whatever the solver did."""
    pairs = rows.shape[0]
    limits = np.maximum(-marginals[pairs:], 0)
    shares = np.clip(-marginals[:pairs], 0, np.repeat(limits, 2 * secrets))
    reached = np.arange(secrets + 1) <= secrets - count
    return float(np.max(reached - rows.T @ shares) + limits @ grid.delta)
