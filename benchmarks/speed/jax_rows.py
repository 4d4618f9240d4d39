"""Programs in plain JAX: XLA's own training without privacy, jax_privacy, and a loop over examples."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from privacy_audit.train.losses import cross_entropy

from .workloads import CLASSES, CLIPPING_NORM, LEARNING_RATE, NOISE_MULTIPLIER, Row, examples

STEPS = 16


def parameters(network: str):
    """Weights in a plain dictionary, images channels last."""
    shapes = {
        "cnn": {"c1": (8, 8, 1, 16), "c2": (4, 4, 16, 32), "d1": (512, 32), "d2": (32, CLASSES)},
        "fully_connected": {"d1": (600, 128), "d2": (128, 128), "d3": (128, CLASSES)},
    }[network]
    rng = np.random.default_rng(0)
    weights = {
        name: jnp.asarray(rng.normal(size=s, scale=np.prod(s[:-1]) ** -0.5), jnp.float32)
        for name, s in shapes.items()
    }
    return weights | {name + "_bias": jnp.zeros(s[-1]) for name, s in shapes.items()}


def logits(params, x):
    """The network that `params` is for. Pools as maxima of slices: `lax.reduce_window` is 4 times slower."""
    relu = jax.nn.relu
    if "c1" in params:
        for name, padding in (("c1", "SAME"), ("c2", "VALID")):
            layout = ("NHWC", "HWIO", "NHWC")
            x = jax.lax.conv_general_dilated(x, params[name], (2, 2), padding, dimension_numbers=layout)
            x = relu(x + params[name + "_bias"])
            x = jnp.maximum(x[:, :, :-1], x[:, :, 1:])
            x = jnp.maximum(x[:, :-1], x[:, 1:])
        x = x.reshape(len(x), -1)
    *hidden, last = sorted(name for name in params if name[0] == "d" and "_" not in name)
    for name in hidden:
        x = relu(x @ params[name] + params[name + "_bias"])
    return x @ params[last] + params[last + "_bias"]


def _loss(params, inputs, labels):
    return jnp.sum(jax.vmap(cross_entropy)(logits(params, inputs), labels))


def _descend(params, gradient, batch: int):
    return jax.tree.map(lambda p, g: p - LEARNING_RATE / batch * g, params, gradient)


def _with_noise(gradient, key):
    leaves, tree = jax.tree.flatten(gradient)
    keys = jax.random.split(key, len(leaves))
    sd = CLIPPING_NORM * NOISE_MULTIPLIER
    return tree.unflatten([x + sd * jax.random.normal(k, x.shape) for x, k in zip(leaves, keys, strict=True)])


def _stepper(row: Row, step: Callable) -> tuple[Callable[[], int], Callable]:
    inputs, labels = (jnp.asarray(x[: row.batch]) for x in examples(row))
    keys = list(jax.random.split(jax.random.key(0), STEPS))
    jitted, start = jax.jit(step), parameters(row.network)

    def run() -> int:
        params = start
        for key in keys:
            params = jitted(params, inputs, labels, key)
        jax.block_until_ready(params)
        return STEPS * row.batch

    return run, lambda: jitted.lower(start, inputs, labels, keys[0])


def non_private(row: Row):
    """`jit(grad)` of the mean loss."""
    return _stepper(
        row,
        lambda params, inputs, labels, key: _descend(
            params, jax.grad(_loss)(params, inputs, labels), row.batch
        ),
    )


def jax_privacy(row: Row):
    """jax_privacy's clipped gradient, with its defaults."""
    from jax_privacy import clipped_grad

    clipped = clipped_grad(_loss, l2_clip_norm=CLIPPING_NORM, batch_argnums=(1, 2))

    def step(params, inputs, labels, key):
        return _descend(params, _with_noise(clipped(params, inputs, labels), key), row.batch)

    return _stepper(row, step)


def loop(row: Row):
    """A Python loop over the examples of a batch: one compiled gradient each."""
    few = min(row.batch, 64)
    inputs, labels = (jnp.asarray(x[:few]) for x in examples(row))
    params = parameters(row.network)

    @jax.jit
    def add(total, params, one_input, label):
        gradient = jax.grad(_loss)(params, one_input[None], label[None])
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradient)))
        scale = jnp.minimum(1.0, CLIPPING_NORM / norm)
        return jax.tree.map(lambda t, g: t + scale * g, total, gradient)

    @jax.jit
    def update(params, total, key):
        return _descend(params, _with_noise(total, key), few)

    def run() -> int:
        total = jax.tree.map(jnp.zeros_like, params)
        for i in range(few):
            total = add(total, params, inputs[i], labels[i])
        jax.block_until_ready(update(params, total, jax.random.key(0)))
        return few

    return run, None
