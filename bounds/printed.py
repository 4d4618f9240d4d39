"""The (ε, δ) bound as Paper U's summary prints it: τ(v) + α(v)·n·δ. Not sound; here to be compared with.

Counterexample: n = 3 bits, ε = 0.3, δ = 0.1, v = 1. Let z be released with probability f(d), d the number of
wrong positions, f = (.20359968, .15083035, .11173787, .00869563). For neighbours the positive part of M -
e^ε M' sums to 0.1 and all three are wrong with probability .0087, so Pr[L >= 1] = .99130; the printed bound
is .94605.

The bad event that δ pays for may depend on how well the attack has gone so far; the printed derivation
treats it as independent of that.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ._float64 import in_float64
from .alpha import alphas_from_masses
from .certified import betas
from .grid import Grid
from .poisson_binomial import log_pmfs, log_tails
from .priors import Targets


@in_float64
def log_printed(counts: np.ndarray, grid: Grid, targets: Targets) -> Float[np.ndarray, "J v"]:
    """log of τ(v) + α(v)·n·δ at every ε, at most 0; counts in 0..n."""
    beta = jnp.asarray(betas(grid, targets))
    tails = np.asarray(log_tails(beta))[:, counts]
    alpha = np.asarray(alphas_from_masses(jnp.exp(log_pmfs(beta))))[:, counts]
    with np.errstate(divide="ignore"):
        added = np.log(alpha) + np.log(targets.count * grid.delta)[:, None]
    return np.minimum(np.logaddexp(tails, added), 0.0)
