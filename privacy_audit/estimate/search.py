"""Where along a one-parameter family refutation ends."""

import math
from collections.abc import Callable

TOLERANCE = 2e-4


def last_refuted(
    refuted: Callable[[float], bool],
    low: float,
    top: float,
    *,
    growth: float = 2.0,
    tolerance: float = TOLERANCE,
) -> float:
    """The end of the refuted parameters: 0 if not even `low` is refuted, else within `tolerance` relatively.

    Steps upwards by a growing factor to the first parameter that is not refuted, then halves in the log; the
    result is itself refuted.
    """
    if not refuted(low):
        return 0.0
    step, high = growth, min(low * growth, top)
    while refuted(high):
        if high >= top:
            return top
        low, step = high, min(step * step, 2.0)
        high = min(low * step, top)
    low, high = math.log(low), math.log(high)
    while high - low > tolerance:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(math.exp(middle)) else (low, middle)
    return math.exp(low)
