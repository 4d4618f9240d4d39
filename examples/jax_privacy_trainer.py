"""Audits a jax_privacy training loop: `python examples/jax_privacy_trainer.py`.

Needs `pip install "privacy-audit[peers]"`. Who is not sampled is a padding example: one program serves all steps.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from canary import (
    BATCH_SIZE,
    CLIPPING_NORM,
    LEARNING_RATE,
    NOISE_MULTIPLIER,
    PROFILE,
    SAMPLING_RATE,
    STEPS,
    canary,
    dataset,
)
from jax_privacy import clipping

from privacy_audit.own_trainer import audit_trainer


def loss(params: dict, images: jax.Array, labels: jax.Array) -> jax.Array:
    """Summed cross-entropy of a linear model."""
    logits = images @ params["w"] + params["b"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).sum()


clipped_sum = jax.jit(clipping.clipped_grad(loss, l2_clip_norm=CLIPPING_NORM, batch_argnums=(1, 2)))


def train(world: int, seed: int) -> dict:
    """Ten steps of DP-SGD with Poisson sampling, from initial weights of zero."""
    rng = np.random.default_rng(seed)
    images, labels = dataset(world)
    params = {"w": jnp.zeros((784, 10)), "b": jnp.zeros(10)}
    for _ in range(STEPS):
        left_out = rng.random(len(labels)) >= SAMPLING_RATE
        total = clipped_sum(params, images, labels, is_padding_example=left_out)
        noise = {
            name: rng.normal(0.0, NOISE_MULTIPLIER * CLIPPING_NORM, value.shape)
            for name, value in total.items()
        }
        params = {
            name: params[name] - LEARNING_RATE * (total[name] + noise[name]) / BATCH_SIZE for name in params
        }
    return params


def score(params: dict) -> float:
    """−loss of the final model on the canary."""
    image, label = canary()
    return -float(loss(params, image.reshape(1, -1), label))


if __name__ == "__main__":
    audit_trainer(train, score, 500, out="runs/jax_privacy", delta=1e-5, profile=PROFILE, threshold="every")
