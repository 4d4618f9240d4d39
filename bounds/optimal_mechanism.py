"""The mechanism that meets the optimum for uniform priors, as something that can be run."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jaxtyping import Array, Float, Int, Key

from ._check import require, require_integer
from .grid import Profile, points
from .optimal import solve
from .priors import uniform

_POINTS = 25


@dataclasses.dataclass(frozen=True, eq=False)
class OptimalMechanism:
    """Releases one guess for each of n secrets, symbols 0..k-1, as often wrong as `wrong` says.

    The number d of wrong positions is drawn from `wrong`, then which d positions, then a wrong symbol for
    each.
    """

    wrong: Float[np.ndarray, "n+1"]
    symbols: int

    @property
    def secrets(self) -> int:
        """n."""
        return len(self.wrong) - 1

    @property
    def log_weights(self) -> Float[np.ndarray, "n+1"]:
        """log f(d): the probability of one particular output with d wrong positions."""
        d = np.arange(self.secrets + 1)
        gammaln = scipy.special.gammaln
        log_outputs = gammaln(self.secrets + 1) - gammaln(d + 1) - gammaln(self.secrets - d + 1)
        with np.errstate(divide="ignore"):
            return np.log(self.wrong) - log_outputs - d * np.log(self.symbols - 1)

    def success(self, v: Int[np.ndarray, "*v"]) -> Float[np.ndarray, "*v"]:
        """Exact Pr[v or more of the guesses are right]."""
        require_integer("v", v)
        at_most = np.concatenate([[0.0], np.cumsum(self.wrong)])
        return at_most[np.clip(self.secrets - np.asarray(v, int) + 1, 0, self.secrets + 1)]

    def delta(self, epsilon: Float[np.ndarray, "*b"]) -> Float[np.ndarray, "*b"]:
        """Exact δ(ε) of this mechanism under replacement of one secret."""
        d = np.arange(self.secrets)
        right = self.wrong[:-1] * (self.secrets - d) / self.secrets
        turned = self.wrong[1:] * (d + 1) / (self.secrets * (self.symbols - 1))
        ratio = np.exp(np.asarray(epsilon, np.float64))[..., None]
        return np.sum(np.maximum(right - ratio * turned, 0) + np.maximum(turned - ratio * right, 0), axis=-1)

    def sample(self, key: Key[Array, ""], secrets: Int[Array, "n"]) -> Int[Array, "n"]:
        """One output for these secrets; works under `jit` and `vmap`."""
        return _sample(key, jnp.asarray(secrets), jnp.asarray(self.wrong, jnp.float32), self.symbols)


@functools.partial(jax.jit, static_argnames="symbols")
def _sample(key, secrets, wrong, symbols: int):
    how_many, which, how = jax.random.split(key, 3)
    count = jax.random.choice(how_many, wrong.shape[0], p=wrong)
    rank = jnp.argsort(jax.random.uniform(which, secrets.shape))
    shift = jax.random.randint(how, secrets.shape, 1, symbols)
    return jnp.where(rank < count, (secrets + shift) % symbols, secrets)


def optimal_mechanism(v: int, profile: Profile, secrets: int, symbols: int) -> OptimalMechanism:
    """The mechanism that makes Pr[L >= v] as large as `profile` allows, for uniform secrets to be named exactly.

    Under f-DP it respects the profile at the points of a grid only, hence nearly.

    Args:
        v: number of successes aimed at, in 1..n.
        profile: what the mechanism must satisfy (replace-one; for bits, presence is the value: add/remove).
        secrets: n >= 1.
        symbols: k >= 2.

    Raises:
        ValueError: on numbers out of range, or where ε is too large for the solver.

    >>> from privacy_audit.bounds.profiles import ApproximateDP
    >>> profile = ApproximateDP(0.3, 0.1, adjacency="replace_one")
    >>> mechanism = optimal_mechanism(1, profile, secrets=3, symbols=2)
    >>> round(float(mechanism.success(1)), 4), round(float(mechanism.delta(0.3)), 6)
    (0.9913, 0.1)
    """
    for name, value, low, high in (
        ("secrets", secrets, 1, np.inf),
        ("symbols", symbols, 2, np.inf),
        ("v", v, 1, secrets),
    ):
        require_integer(name, value)
        require(name, f"in [{low}, {high}]", value, lambda x, low=low, high=high: (x >= low) & (x <= high))
    found = solve(v, secrets, uniform(symbols), points(profile, _POINTS, 1e-6 / secrets))
    if found is None:
        raise ValueError(f"profile must have a smaller epsilon for the linear program, got {profile!r}")
    return OptimalMechanism(found.wrong, symbols)
