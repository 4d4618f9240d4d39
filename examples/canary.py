"""What both examples train on: 100 real digits, and in world 1 a canary: an image with the wrong label."""

import numpy as np

from privacy_audit.bounds.profiles import DPSGD
from privacy_audit.train.data import split_roles
from privacy_audit.train.datasets import DATASETS

NUM_EXAMPLES, BATCH_SIZE, STEPS = 100, 20, 10
CLIPPING_NORM, NOISE_MULTIPLIER, LEARNING_RATE = 1.0, 1.0, 1.0
SAMPLING_RATE = BATCH_SIZE / NUM_EXAMPLES

PROFILE = DPSGD(NOISE_MULTIPLIER, SAMPLING_RATE, STEPS)
"""What a correct trainer satisfies."""


def dataset(world: int) -> tuple[np.ndarray, np.ndarray]:
    """Images `[N, 784]` and labels `[N]` of D, with the canary as the last row in world 1."""
    roles = split_roles(DATASETS["mnist5k"](None), NUM_EXAMPLES, seed=0)
    images, labels = roles.members.as_float()
    if world == 1:
        image, label = canary()
        images, labels = np.concatenate([images, image]), np.concatenate([labels, label])
    return images.reshape(len(images), -1), labels


def canary() -> tuple[np.ndarray, np.ndarray]:
    """One image that is not in D, `[1, 28, 28, 1]`, and a wrong label `[1]`."""
    roles = split_roles(DATASETS["mnist5k"](None), NUM_EXAMPLES, seed=0)
    images, labels = roles.fresh.as_float()
    return images[:1], (labels[:1] + 5) % 10
