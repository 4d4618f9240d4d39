"""One probability at a time: Pr[S = k], Pr[S > k], Pr[S <= k] for n up to 10⁶, with relative accuracy."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, DTypeLike, Float, Int

from .._check import require_integer, require_probability
from .._float64 import in_float64
from .convolve import window
from .shapes import padded, vectors
from .tilt import Trials, log_weight, solve, trials


def _upper(t: Trials, count: Int[Array, ""]) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """(log Pr[S >= count], log Pr[S = count]) over the open trials, for a count above the mean."""
    total = jnp.sum(t.open)
    inside = (count >= 0) & (count <= total)
    wanted = jnp.clip(count, 0, total).astype(t.success.dtype)
    theta = solve(t, wanted)
    moved = t.logit + theta
    success = jnp.where(t.open, jax.nn.sigmoid(moved), 0)
    failure = jnp.where(t.open, jax.nn.sigmoid(-moved), 1)
    near = window(success, failure)
    beyond = near.first + jnp.arange(near.mass.shape[0]) - jnp.clip(count, 0, total)
    decay = jnp.exp(-theta * jnp.maximum(beyond, 0))
    tail = jnp.sum(jnp.where(beyond >= 0, near.mass * decay, 0))
    point = jnp.sum(jnp.where(beyond == 0, near.mass, 0))
    weight = log_weight(t, theta, wanted)
    impossible = jnp.array(-jnp.inf, weight.dtype)
    return (
        jnp.where(inside, jnp.minimum(weight + jnp.log(tail), 0), impossible),
        jnp.where(inside, jnp.minimum(weight + jnp.log(point), 0), impossible),
    )


def _all_three(count: Int[Array, ""], p: Float[Array, "n"]):
    """(log Pr[S = count], log Pr[S >= count], log Pr[S < count])."""
    t = trials(p)
    total = jnp.sum(t.open)
    count = count - jnp.sum(p >= 1)
    mean = jnp.sum(jnp.where(t.open, p, 0))
    above = count > mean
    tail_here, point_here = _upper(t.swapped(~above), jnp.where(above, count, total - count + 1))
    # Pr[S >= c] = Pr[S > c - 1]: the smaller side is computed, the larger follows from it.
    rest = jnp.log1p(-jnp.exp(tail_here))
    upper, lower = jnp.where(above, tail_here, rest), jnp.where(above, rest, tail_here)
    upper = jnp.where(count <= 0, 0.0, upper)
    lower = jnp.where(count <= 0, -jnp.inf, jnp.where(count > total, 0.0, lower))
    return point_here, upper, lower


def _point(count, p):
    t = trials(p)
    total, count = jnp.sum(t.open), count - jnp.sum(p >= 1)
    above = count > jnp.sum(jnp.where(t.open, p, 0))
    return _upper(t.swapped(~above), jnp.where(above, count, total - count))[1]


def _lift(kernel: Callable) -> Callable:
    """Broadcasts `kernel(count, p)` over batches of counts and of probability vectors."""

    @jax.jit
    def lifted(count, p):
        shape = jnp.broadcast_shapes(count.shape, p.shape[:-1])
        count = jnp.broadcast_to(count, shape).ravel()
        p = jnp.broadcast_to(p, (*shape, p.shape[-1])).reshape(count.size, p.shape[-1])
        if count.size == 1:  # vmap would turn the early exit of the solver into a fixed cost
            return kernel(count[0], p[0]).reshape(shape)
        return jax.vmap(kernel)(count, p).reshape(shape)

    return lifted


_log_point = _lift(_point)
_log_upper = _lift(lambda count, p: _all_three(count, p)[1])
_log_lower = _lift(lambda count, p: _all_three(count, p)[2])


def _prepared(k, p, dtype, shift: int):
    require_integer("k", k)
    require_probability("p", p)
    p = vectors(p, dtype)
    k = jnp.clip(jnp.asarray(k), -2, p.shape[-1] + 1).astype(jnp.int32) + shift
    try:
        jnp.broadcast_shapes(k.shape, p.shape[:-1])
    except ValueError:
        raise ValueError(
            f"k must broadcast with the batch of p, got shapes {k.shape} and {p.shape}"
        ) from None
    return k, padded(p)


@in_float64
def logpmf(
    k: Int[ArrayLike, "*b"], p: Float[ArrayLike, "*b n"], *, dtype: DTypeLike = jnp.float64
) -> Float[Array, "*b"]:
    """log Pr[S = k] for S a sum of independent Bernoulli(p_i).

    Args:
        k: counts, whole numbers of any size; broadcasts with the batch axes of `p`.
        p: probabilities in [0, 1], ends included.
        dtype: float64, or float32 at the accuracy stated in the package.

    Returns:
        Natural logarithms, -inf where impossible.

    Raises:
        ValueError: if `k` is not whole, `p` is not a probability, or the shapes do not broadcast.
    """
    return _log_point(*_prepared(k, p, dtype, 0))


@in_float64
def logsf(
    k: Int[ArrayLike, "*b"], p: Float[ArrayLike, "*b n"], *, dtype: DTypeLike = jnp.float64
) -> Float[Array, "*b"]:
    """log Pr[S > k]; arguments as in `logpmf`. For every k of one vector use `log_tails`.

    >>> round(float(logsf(999, [0.5] * 1000)), 6)  # 1000·log(1/2)
    -693.147181
    """
    return _log_upper(*_prepared(k, p, dtype, 1))


@in_float64
def logcdf(
    k: Int[ArrayLike, "*b"], p: Float[ArrayLike, "*b n"], *, dtype: DTypeLike = jnp.float64
) -> Float[Array, "*b"]:
    """log Pr[S <= k]; arguments as in `logpmf`."""
    return _log_lower(*_prepared(k, p, dtype, 1))


@in_float64
def pmf(k, p, *, dtype: DTypeLike = jnp.float64) -> Float[Array, "*b"]:
    """Pr[S = k]; arguments as in `logpmf`."""
    return jnp.exp(logpmf(k, p, dtype=dtype))


@in_float64
def sf(k, p, *, dtype: DTypeLike = jnp.float64) -> Float[Array, "*b"]:
    """Pr[S > k]; arguments as in `logpmf`."""
    return jnp.exp(logsf(k, p, dtype=dtype))


@in_float64
def cdf(k, p, *, dtype: DTypeLike = jnp.float64) -> Float[Array, "*b"]:
    """Pr[S <= k]; arguments as in `logpmf`."""
    return jnp.exp(logcdf(k, p, dtype=dtype))
