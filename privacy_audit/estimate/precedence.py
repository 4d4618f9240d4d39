"""The exact test on ranks: how many D' scores lie above the (k+1)-th largest score of D.

Under a trade-off curve f the true positive rate is at most 1 − f(a) at a false positive rate a, at every
threshold. The (k+1)-th largest score of D stands at a level V ~ Beta(k+1, n−k) (or deeper inside a tie), so the
count above it is at most Binomial(m, 1 − f(V)): one tail probability, with no nuisance parameter and no trial
spent on choosing a threshold. k has to be fixed before the scores are seen.
"""

import functools
from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from scipy.special import betainc, betaincc

STATEMENT = "the rank of the threshold among the scores of D was fixed before they were seen"
_TAIL = np.linspace(9, 40, 128)
_DEVIATIONS = np.concatenate([-_TAIL[:0:-1], np.linspace(-9, 9, 2049), _TAIL[1:]])


@functools.lru_cache(maxsize=256)
def level_cells(rank: int, trials: int) -> tuple[Float[np.ndarray, "c"], Float[np.ndarray, "c"]]:
    """Upper ends and probabilities of cells that partition [0, 1] for V ~ Beta(rank+1, trials−rank)."""
    mean = (rank + 1) / (trials + 1)
    spread = (1 - mean) / (mean * (trials + 2)) / 9
    # Cube roots of V are nearly normal (Wilson and Hilferty 1931): cells even in that scale waste none.
    edges = np.clip(mean * np.maximum(1 - spread + _DEVIATIONS * np.sqrt(spread), 0) ** 3, 0, 1)
    edges = np.unique(np.concatenate([[0.0], edges, [1.0]]))
    shape = rank + 1.0, trials - rank + 0.0
    # Differences of the smaller tail keep relative accuracy in both.
    middle = int(np.searchsorted(edges, mean))
    below, above = betainc(*shape, edges[: middle + 1]), betaincc(*shape, edges[middle:])
    return edges[1:], np.concatenate([np.diff(below), -np.diff(above)])


def p_value(
    hits: int, rank: int, trials: int, trials_prime: int, trade_off: Callable[[np.ndarray], np.ndarray]
) -> float:
    """Largest Pr[TP_k >= hits] that the trade-off curve allows.

    The curve falls, so taking it at the upper end of each cell errs to the safe side, by about two per
    cent of the result.

    Args:
        hits: D' scores strictly above the (rank+1)-th largest D score.
        rank: k, from 0 to trials − 1.
        trials: Trials of D.
        trials_prime: Trials of D'.
        trade_off: f, vectorised.
    """
    if hits <= 0:
        return 1.0
    upper, mass = level_cells(rank, trials)
    reach = betainc(hits + 0.0, trials_prime - hits + 1.0, np.clip(1 - trade_off(upper), 0.0, 1.0))
    return float(min(mass @ reach, 1.0))
