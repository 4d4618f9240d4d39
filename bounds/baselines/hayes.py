"""Prior-aware reconstruction bound by Monte Carlo: the largest chance under P of an event of chance κ under Q."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ..priors import Targets
from ..profiles import DPSGD, GaussianMechanism
from .base import (
    APPROXIMATE,
    ATTRIBUTE,
    EXACT,
    MEMBERSHIP,
    ONE,
    RECONSTRUCTION,
    SKEWED,
    UNIFORM,
    Baseline,
    only_kappa,
)

_SAMPLES = 100_000


def hayes_success(
    profile: DPSGD | GaussianMechanism, kappa: float, key: Key[Array, ""], samples: int = _SAMPLES
) -> float:
    """Monte Carlo estimate of the success of the best reconstruction attack on DP-SGD (an estimate, not a bound).

    Draws the privacy loss of whole runs without the record and sums the likelihood ratios of the most suspicious
    share κ of them.

    Args:
        profile: add/remove DP-SGD, or the Gaussian mechanism as its case q = 1.
        kappa: prior success in [0, 1]; estimates are poor where κ·samples is below about 100.
        key: a JAX key.
        samples: number of simulated runs.
    """
    q = profile.sampling_rate if isinstance(profile, DPSGD) else 1.0
    loss = _losses(key, jnp.float32(profile.noise_multiplier), jnp.float32(q), int(profile.steps), samples)
    ratio = np.sort(np.exp(np.asarray(loss, np.float64)))[::-1]
    whole = int(kappa * samples)
    rest = (kappa * samples - whole) * ratio[whole] if whole < samples else 0.0
    return min(float(ratio[:whole].sum() + rest) / samples, 1.0)


@functools.partial(jax.jit, static_argnames=("steps", "samples"))
def _losses(key, sigma, q, steps: int, samples: int) -> Float[Array, "samples"]:
    def step(loss, step_key):
        x = sigma * jax.random.normal(step_key, (samples,))
        return loss + jnp.logaddexp(jnp.log1p(-q), jnp.log(q) + (2 * x - 1) / (2 * sigma**2)), None

    return jax.lax.scan(step, jnp.zeros(samples), jax.random.split(key, steps))[0]


def _estimate(v: int, profile, targets: Targets) -> float:
    if not isinstance(profile, DPSGD | GaussianMechanism) or profile.adjacency != "add_remove":
        raise ValueError(
            f"profile must be DPSGD or GaussianMechanism, add/remove, for Hayes 2023, got {profile!r}"
        )
    return hayes_success(profile, only_kappa(targets), jax.random.key(0))


HAYES = Baseline(
    "Hayes 2023",
    "Hayes, Mahloujifar and Balle 2023, arXiv 2302.07225, proposition 3 and its Monte Carlo estimate",
    frozenset({UNIFORM, SKEWED, MEMBERSHIP, ATTRIBUTE, RECONSTRUCTION, ONE, EXACT, APPROXIMATE}),
    "DP-SGD or Gaussian, add/remove",
    _estimate,
    proven=False,
)
