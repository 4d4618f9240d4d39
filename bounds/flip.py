"""Flip probability: how far ε-DP can move the success probability of one guess (Paper U, pure DP).

With prior success κ = Pr[ℓ(X, z) = 1], any output of an ε-DP mechanism leaves the guess z right with
probability at most β(ε, κ) = e^ε / (e^ε - 1 + 1/κ), that is logit β = ε + logit κ.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from ._check import require_non_negative, require_probability
from ._float64 import in_float64


@in_float64
def flip_probability(epsilon: Float[ArrayLike, "*b"], prior: Float[ArrayLike, "*b"]) -> Float[Array, "*b"]:
    """Largest posterior success β(ε, κ) of a guess with prior success κ.

    Args:
        epsilon: ε >= 0 in nats, infinity included.
        prior: κ in [0, 1], ends included.

    Returns:
        β in [κ, 1], with full relative accuracy for any ε; 0 where κ = 0, even at ε = ∞.

    Raises:
        ValueError: if ε is negative or NaN, or κ is not a probability.

    >>> round(float(flip_probability(1.0, 0.1)), 3)
    0.232
    """
    require_non_negative("epsilon", epsilon)
    require_probability("prior", prior)
    return _flip(jnp.asarray(epsilon, jnp.float64), jnp.asarray(prior, jnp.float64))


@jax.jit
def _flip(epsilon, prior):
    # e^-ε instead of e^ε: nothing overflows, and at ε = 0 the denominator is 1.
    odds_against = (1 - prior) * jnp.exp(-epsilon)
    return jnp.where(prior > 0, prior / jnp.where(prior > 0, prior + odds_against, 1.0), 0.0)


@in_float64
def advantage(posterior: Float[ArrayLike, "*b"], prior: Float[ArrayLike, "*b"]) -> Float[Array, "*b"]:
    """Generalised advantage (posterior - κ)/(1 - κ): 0 for a blind guess, 1 for certainty.

    Args:
        posterior: success probability with the output in hand, in [0, 1].
        prior: κ, success probability without it, in [0, 1]. Where κ = 1 nothing is left to gain: 0.

    Raises:
        ValueError: if either is not a probability.

    >>> round(float(advantage(flip_probability(1.0, 0.185), 0.185)), 2)
    0.24
    """
    require_probability("posterior", posterior)
    require_probability("prior", prior)
    posterior, prior = jnp.asarray(posterior, jnp.float64), jnp.asarray(prior, jnp.float64)
    return jnp.where(prior < 1, (posterior - prior) / jnp.where(prior < 1, 1 - prior, 1.0), 0.0)


@in_float64
def epsilon_for_advantage(
    advantage: Float[ArrayLike, "*b"], prior: Float[ArrayLike, "*b"]
) -> Float[Array, "*b"]:
    """Largest ε at which no guess with prior success κ gains more than `advantage`: ln(1 + a/((1 - a)κ)).

    Args:
        advantage: a in [0, 1]; infinite ε at a = 1.
        prior: κ in [0, 1]; infinite ε at κ = 0, where no output can help.

    Raises:
        ValueError: if either lies outside [0, 1].

    >>> round(float(epsilon_for_advantage(0.05, 1e-9)), 1)
    17.8
    """
    require_probability("advantage", advantage)
    require_probability("prior", prior)
    advantage, prior = jnp.asarray(advantage, jnp.float64), jnp.asarray(prior, jnp.float64)
    kept = (1 - advantage) * prior
    gained = jnp.where(kept > 0, advantage / jnp.where(kept > 0, kept, 1.0), jnp.inf)
    return jnp.log1p(gained)
