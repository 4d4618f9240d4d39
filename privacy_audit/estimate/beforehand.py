"""A threshold that was not chosen on the trials that are counted: explicit, or held-out trials chose it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from privacy_audit.estimate.scores import pilot_size


class Counted(NamedTuple):
    """The threshold, the trials that are left to count, and what was assumed."""

    threshold: float
    d: np.ndarray
    d_prime: np.ndarray
    rule: str
    assumption: str


def beforehand(
    d: np.ndarray,
    d_prime: np.ndarray,
    threshold: float | str,
    fraction: float,
    choose: Callable[[np.ndarray, np.ndarray, int, int], float],
) -> Counted:
    """Resolves a number, or `held-out`: the first ⌈fraction·n⌉ trials of each world choose.

    Args:
        d: Scores of D.
        d_prime: Scores of D'.
        threshold: A number fixed before the scores were seen, or `held-out`.
        fraction: Share of the trials that choose.
        choose: From the pilot scores of both worlds and the numbers of trials left to the threshold.

    Raises:
        ValueError: on another word, an infinite number or too few trials.
    """
    if not isinstance(threshold, str):
        if not np.isfinite(threshold):
            raise ValueError(f"threshold must be finite, got {threshold}")
        assumed = "the threshold was fixed before these scores were seen"
        return Counted(float(threshold), d, d_prime, "explicit", assumed)
    if threshold != "held-out":
        raise ValueError(f"threshold must be a number or held-out, got {threshold!r}")
    first, first_prime = pilot_size(len(d), fraction), pilot_size(len(d_prime), fraction)
    rest, rest_prime = d[first:], d_prime[first_prime:]
    chosen = choose(d[:first], d_prime[:first_prime], len(rest), len(rest_prime))
    assumed = f"the first {first} trials of D and {first_prime} of D' chose the threshold and are not counted"
    return Counted(float(chosen), rest, rest_prime, "held-out", assumed)
