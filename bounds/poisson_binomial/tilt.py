"""Exponential tilting: moving the mean of a sum of Bernoulli trials to where its tail is wanted.

Tilting by θ turns p into q with logit q = logit p + θ, and
log Pr[S = j] = Σ_i log(1 - p_i + p_i e^θ) - θ j + log Pr_q[S = j]. At the θ for which j is the mean under q,
the last term is of the order of 1/(standard deviation), so that *absolute* accuracy there is relative
accuracy here.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

_ITERATIONS = 100


class Trials(NamedTuple):
    """Bernoulli trials by both probabilities, so that neither end of [0, 1] loses digits.

    Trials that are certain either way are not `open`; their p and q hold 1/2 and are never read.
    """

    success: Float[Array, "n"]
    failure: Float[Array, "n"]
    open: Bool[Array, "n"]

    def swapped(self, swap: Bool[Array, ""]) -> "Trials":
        """Failures counted as successes where `swap`."""
        success = jnp.where(swap, self.failure, self.success)
        failure = jnp.where(swap, self.success, self.failure)
        return Trials(success, failure, self.open)

    @property
    def logit(self) -> Float[Array, "n"]:
        return jnp.log(self.success) - jnp.log(self.failure)


def trials(p: Float[Array, "n"]) -> Trials:
    """Splits off the certain trials."""
    is_open = (p > 0) & (p < 1)
    p = jnp.where(is_open, p, 0.5)
    return Trials(p, 1 - p, is_open)


def tilted_sum(t: Trials, theta: Float[Array, ""]) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Expected successes and expected failures among the open trials, each to full relative accuracy."""
    moved = t.logit + theta
    successes = jnp.sum(jnp.where(t.open, jax.nn.sigmoid(moved), 0))
    failures = jnp.sum(jnp.where(t.open, jax.nn.sigmoid(-moved), 0))
    return successes, failures


def solve(t: Trials, count: Float[Array, ""]) -> Float[Array, ""]:
    """θ >= 0 that makes `count` (at least the mean) the expected number of successes, about.

    Newton on the log-odds of the mean, which are linear in θ when all trials are equal, inside a bracket.
    Any θ is
    correct: an inexact one only moves the peak of the tilted sum away from `count` by a fraction of its
    width.
    """
    total = jnp.maximum(jnp.sum(t.open), 1)
    # The mean never reaches the number of trials; close to it is as good.
    aim = jnp.clip(count, 1e-3, total - 1e-3)
    target = jnp.log(aim) - jnp.log(total - aim)
    top = jnp.max(jnp.where(t.open, jnp.abs(t.logit), 0), initial=0) + target + jnp.log(total + 1.0) + 20

    def miss(theta):
        successes, failures = tilted_sum(t, theta)
        moved = t.logit + theta
        variance = jnp.sum(jnp.where(t.open, jax.nn.sigmoid(moved) * jax.nn.sigmoid(-moved), 0))
        value = jnp.log(successes) - jnp.log(failures) - target
        slope = variance * (1 / successes + 1 / failures)
        close = jnp.abs(successes - aim) <= 0.02 * jnp.sqrt(variance) + 1e-4
        return value, slope, close

    def step(state):
        i, theta, low, high, _ = state
        value, slope, close = miss(theta)
        low, high = jnp.where(value < 0, theta, low), jnp.where(value < 0, high, theta)
        newton = theta - value / slope
        inside = (newton > low) & (newton < high)
        following = jnp.where(inside, newton, 0.5 * (low + high))
        return i + 1, jnp.where(close, theta, following), low, high, close

    zero = jnp.zeros_like(target)
    start = (0, zero, zero, jnp.maximum(top, 1), jnp.zeros_like(target, bool))
    return jax.lax.while_loop(lambda s: (s[0] < _ITERATIONS) & ~s[4], step, start)[1]


def log_weight(t: Trials, theta: Float[Array, ""], count: Float[Array, ""]) -> Float[Array, ""]:
    """Σ_i log(1 - p_i + p_i e^θ) - θ·count, for θ >= 0.

    Written as minus the divergence of each tilted trial from its original, terms of one sign, so that
    nothing cancels in the sum, plus what is left of θ·(mean - count).
    """
    q = jax.nn.sigmoid(t.logit + theta)
    small = jnp.minimum(theta, 30)
    near = jnp.log1p(t.success * jnp.expm1(small)) - small * q
    # Far away both terms are large and nearly equal; θ(1 - q) is their difference.
    far = (
        jnp.log(t.success) + jax.nn.softplus(-(t.logit + theta)) + theta * jax.nn.sigmoid(-(t.logit + theta))
    )
    terms = jnp.where(t.open, jnp.where(theta < 30, near, far), 0)
    return jnp.sum(terms) + theta * (jnp.sum(jnp.where(t.open, q, 0)) - count)
