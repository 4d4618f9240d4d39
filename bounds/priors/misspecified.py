"""The adversary's prior differs from the distribution that the secrets really have."""

import dataclasses

import numpy as np

from .._check import require
from .base import Prior


def misspecified(
    prior: Prior, *, likelihood_ratio: float | None = None, total_variation: float | None = None
) -> Prior:
    """The worst prior success if the true distribution is only near the stated one.

    Args:
        prior: as stated or estimated.
        likelihood_ratio: ρ >= 1; every event has true probability within a factor ρ of the stated one,
        either way.
        total_variation: η in [0, 1]; every event has true probability within η of the stated one.

    Returns:
        A prior with wider `largest` and `smallest`, for any match sets: neither the exact-match constant nor
        the uniform optimum survives an unknown change.

    Raises:
        ValueError: unless exactly one budget is given, within its range.

    >>> misspecified(Prior(0.2, 0.2), total_variation=0.1).largest
    0.30000000000000004
    """
    if (likelihood_ratio is None) == (total_variation is None):
        raise ValueError(
            "exactly one of likelihood_ratio and total_variation must be given, "
            f"got {likelihood_ratio} and {total_variation}"
        )
    if total_variation is not None:
        require("total_variation", "in [0, 1]", total_variation, lambda t: (t >= 0) & (t <= 1))
        largest, smallest = prior.largest + total_variation, prior.smallest - total_variation
    else:
        require("likelihood_ratio", ">= 1 and finite", likelihood_ratio, lambda r: (r >= 1) & np.isfinite(r))
        # The complement's probability shrinks by at most ρ as well.
        largest = min(likelihood_ratio * prior.largest, 1 - (1 - prior.largest) / likelihood_ratio)
        smallest = max(prior.smallest / likelihood_ratio, 1 - (1 - prior.smallest) * likelihood_ratio)
    return dataclasses.replace(
        prior,
        largest=float(np.clip(largest, prior.largest, 1.0)),
        smallest=float(np.clip(smallest, 0.0, prior.smallest)),
        exact=False,
        levels=(),
        symbols=None,
    )
