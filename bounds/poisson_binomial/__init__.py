"""The number of successes among independent, unequal trials, exact in the far tail.

`sf(k)` is Pr[S > k] and `cdf(k)` is Pr[S <= k], as in SciPy. In float64 every logarithm is within
1e-10·max(1, |log Pr|) of the truth wherever log Pr > -10⁶, for n up to 10⁶ (`log_tails`: 10⁴); with
`dtype=jnp.float32` within 1e-4·max(1, |log Pr|) for n up to 10⁴ (`log_tails`: 10³).
"""

from .alltails import log_pmfs, log_tails
from .onetail import cdf, logcdf, logpmf, logsf, pmf, sf

__all__ = ["cdf", "log_pmfs", "log_tails", "logcdf", "logpmf", "logsf", "pmf", "sf"]
