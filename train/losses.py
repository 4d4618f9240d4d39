"""Losses of one example: (logits, label) -> scalar."""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int


def cross_entropy(logits: Float[Array, "classes"], label: Int[Array, ""] | Float[Array, "classes"]):
    """Cross-entropy in nats against a class index or, as soft labels, a distribution over classes.

    >>> round(float(cross_entropy(jnp.zeros(10), jnp.array(3))), 4)  # log 10
    2.3026
    """
    if jnp.issubdtype(label.dtype, jnp.integer):
        return optax.softmax_cross_entropy_with_integer_labels(logits, label)
    return optax.softmax_cross_entropy(logits, label)
