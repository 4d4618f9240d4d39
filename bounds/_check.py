"""What public functions ask of their arguments: one-line errors that show the value."""

import jax
import numpy as np


def is_traced(*values) -> bool:
    """Whether any value is a tracer, whose numbers cannot be looked at."""
    return any(isinstance(value, jax.core.Tracer) for value in values)


def _first(array: np.ndarray, wrong: np.ndarray):
    return array[wrong].flat[0].item() if array.ndim else array.item()


def require(name: str, rule: str, value, holds) -> None:
    """Raises a `ValueError` with the first entry of `value` for which `holds` (of a NumPy array) is false."""
    if is_traced(value):
        return
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got {value!r}")
    wrong = ~np.asarray(holds(array))
    if wrong.any():
        raise ValueError(f"{name} must be {rule}, got {_first(array, wrong)}")


def require_probability(name: str, value) -> None:
    """Every entry in [0, 1]."""
    require(name, "in [0, 1]", value, lambda x: (x >= 0) & (x <= 1))


def require_non_negative(name: str, value) -> None:
    """Every entry >= 0; infinity is allowed."""
    require(name, ">= 0", value, lambda x: x >= 0)


def require_integer(name: str, value) -> None:
    """Every entry a whole number."""
    require(name, "an integer", value, lambda x: np.isfinite(x) & (x == np.floor(x)))
