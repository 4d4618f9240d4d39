"""Mahloujifar, Melis and Chaudhuri 2024, arXiv 2410.22235: f-DP from one run."""

from collections.abc import Callable


def refuted(
    correct: int, guesses: int, candidates: int, trade_off: Callable[[float], float], failure: float
) -> bool:
    """Whether at least `correct` of `guesses` right has probability below `failure` under f-DP.

    Their algorithm 1 (`audit_rh`) for fair coins: with r and h the weights of correct and wrong guesses when
    i or more are right, f bounds how fast h can grow as i falls; a probability of `failure` at `correct` would
    need more weight in all than there are guesses.
    """
    right, wrong = failure * correct / candidates, failure * (guesses - correct) / candidates
    for i in range(correct - 1, -1, -1):
        grown = max(wrong, float(trade_off(1 - right)))
        if grown == wrong:
            break
        right = min(right + i / (guesses - i) * (grown - wrong), 1.0)
        wrong = grown
    return right + wrong > guesses / candidates
