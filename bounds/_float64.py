"""Double precision inside `bounds`, and nowhere else."""

import functools
from collections.abc import Callable

import jax

if hasattr(jax, "enable_x64"):
    _enable_x64 = functools.partial(jax.enable_x64, True)
else:  # JAX before 0.8
    from jax.experimental import enable_x64 as _enable_x64


def in_float64(function: Callable) -> Callable:
    """Runs `function` with 64-bit types enabled and leaves the caller's configuration alone.

    What comes out is float64 even where the caller's JAX knows only float32. Arithmetic that the caller
    then does with `jax.numpy` follows the caller's configuration; with NumPy it stays in float64.
    """

    @functools.wraps(function)
    def inside(*args, **kwargs):
        with _enable_x64():
            return function(*args, **kwargs)

    return inside
