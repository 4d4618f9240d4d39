"""How strongly one step's noisy gradient speaks for the target, if the target's gradient is known.

With y the released noisy sum less what others put there, g the target's clipped gradient and q its sampling rate,
y is N(0, σ²C²) without the target and, with it, N(g, σ²C²) with probability q. Along g nothing else matters.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def present_log_ratio(
    projection: Float[Array, "..."], sampling_rate: float, variance, squared_norm=1.0
) -> Float[Array, "..."]:
    """log(1 − q + q·exp((2p − r²)/(2τ²))): evidence that a gradient takes part in a step, against that none does.

    Args:
        projection: p = ⟨y, g⟩/C², for g of full norm N(0, τ²) without the target and mean 1 with it.
        sampling_rate: q.
        variance: τ², the noise multiplier squared and the variance of what others put there.
        squared_norm: r² = ‖g‖²/C².

    >>> float(present_log_ratio(jnp.array(0.5), 1.0, 1.0))  # halfway between the worlds
    0.0
    """
    evidence = (2 * projection - squared_norm) / (2 * variance)
    with np.errstate(divide="ignore"):
        log_absent = np.log1p(-np.float64(sampling_rate))
    return jnp.logaddexp(log_absent, np.log(sampling_rate) + evidence)


def signed_log_ratio(
    projection: Float[Array, "..."], sampling_rate: float, variance, adjacency: str
) -> Float[Array, "..."]:
    """Evidence of one step for +w against nothing or, in a replace-one game, against −w; ‖w‖ = C."""
    ratio = present_log_ratio(projection, sampling_rate, variance)
    if adjacency == "replace_one":
        ratio -= present_log_ratio(-projection, sampling_rate, variance)
    return ratio
