"""The pmf of a sum of Bernoulli trials near its mean, in O(n): direct in blocks, then FFTs of windows.

A sum of m trials stays within 4.5·√m of its mean except with probability 5e-18 (Hoeffding), so only such a
window is kept, and the windows' total length shrinks as blocks merge. FFTs are accurate relative to the
*peak*: use this on tilted trials.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import scipy.fft
from jaxtyping import Array, Float, Int

_BLOCK = 64


class Window(NamedTuple):
    """`mass[..., j]` is the probability of the count `first + j`."""

    first: Int[Array, "*b"]
    mass: Float[Array, "*b w"]


def window(success: Float[Array, "n"], failure: Float[Array, "n"]) -> Window:
    """Mass function of the sum near its mean; a trial (0, 1) contributes nothing."""
    size = min(_BLOCK, max(success.shape[0], 1))
    blocks = -(-max(success.shape[0], 1) // size)
    extra = blocks * size - success.shape[0]
    success = jnp.pad(success, (0, extra)).reshape(blocks, size)
    failure = jnp.pad(failure, (0, extra), constant_values=1).reshape(blocks, size)
    current = Window(jnp.zeros(blocks, jnp.int32), _direct(success, failure))
    mean, covered = jnp.sum(success, 1), size
    while mean.shape[0] > 1:
        covered *= 2
        current, mean = _even(current, mean)
        current, mean = _merge(current, mean, covered)
    return Window(current.first[0], current.mass[0])


def _direct(success, failure):
    """One trial after another, positive terms only; every block at once."""
    blocks, size = success.shape
    start = jnp.zeros((blocks, size + 1), success.dtype).at[:, 0].set(1)

    def add(mass, trial):
        p, q = trial
        moved = jnp.pad(mass[:, :-1], ((0, 0), (1, 0)))
        return mass * q[:, None] + moved * p[:, None], None

    return jax.lax.scan(add, start, (success.T, failure.T))[0]


def _even(current: Window, mean):
    """Appends an empty sum when the number of blocks is odd."""
    if mean.shape[0] % 2 == 0:
        return current, mean
    empty = jnp.zeros_like(current.mass[:1]).at[0, 0].set(1)
    first = jnp.concatenate([current.first, jnp.zeros(1, jnp.int32)])
    return Window(first, jnp.concatenate([current.mass, empty])), jnp.pad(mean, (0, 1))


def _merge(current: Window, mean, covered: int):
    """Convolves neighbours and keeps the window that `covered` trials need."""
    mean = mean[0::2] + mean[1::2]
    length = 2 * current.mass.shape[1] - 1
    fast = scipy.fft.next_fast_len(length, real=True)
    spectrum = jnp.fft.rfft(current.mass, fast)
    mass = jnp.fft.irfft(spectrum[0::2] * spectrum[1::2], fast)[:, :length]
    first = current.first[0::2] + current.first[1::2]
    half = math.ceil(4.5 * math.sqrt(covered)) + 1
    keep = min(length, 2 * half + 1)
    skip = jnp.clip(jnp.round(mean).astype(jnp.int32) - half - first, 0, length - keep)
    mass = jax.vmap(lambda m, s: jax.lax.dynamic_slice(m, (s,), (keep,)))(mass, skip)
    return Window(first + skip, jnp.maximum(mass, 0)), mean
