"""Every setting of the experiment in one place."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privacy_audit.train.language.small import FIRST_PUBLIC, SmallGPT2

DELTA = 1e-5
CONFIDENCE = 0.95
EPSILONS = (1.0, 10.0, 100.0, math.inf)
FIRST_LETTER = 0x100
MARKS = {"numbers": "{}#", "passwords": "{}=", "names": "{}:"}
"""What stands between a person and a secret of each kind."""

CHOSEN_AT = 0
"""The seed of the runs after which attacks were still mended."""

OURS = (
    "a canary is a letter (U+0100 onwards, one a target), the kind's mark and the secret; D is the canaries alone",
    "the small model has met made-up public records of the same form about other letters",
    "the loss is taken on the secret, not on the prompt that the adversary knows",
    "σ is calibrated to ε under replace-one, since the game substitutes a secret; ε under add/remove stands beside it",
    "at ε = ∞ the noise is 0, gradients are clipped all the same",
    "the learning rate is one for all ε, chosen so that the model memorises at ε = ∞",
    "initial weights are drawn wide enough for so narrow a model, chosen as the learning rate was",
    "with the prior: each candidate's ratios are standardised over the targets, by medians, then each target's over "
    "its candidates; their strength is fitted to all targets",
    "that attack was mended after a first run at seed 0, so lower bounds on ε confirm nothing at that seed, and do at "
    "any other (upper bounds do not depend on attacks)",
)
"""Choices that the paper leaves open, or that its summary does not tell."""


@dataclass(frozen=True)
class Settings:
    """How large the experiment is.

    Attributes:
        model: the small GPT-2, or None where `source` names a published one.
        source: folder or hub name of published GPT-2 weights.
        targets: n, as many as there are canaries.
        batch_size, steps, clipping_norm, learning_rate: of DP-SGD by Adam.
        iterates: models that the adversary sees who sees all of them.
        beams: of the search for numbers.
        guesses: k of the attacks that are counted.
        names: how many of the most frequent names are candidates.
        refine: whether bounds are refined; without it they are a little looser.
        joined: finite ε of the runs in which canaries are also included by coins.
        gradient_trials: per world, of Paper L's gradient adversary.
        points: along the curves of the idealised Gaussian.

    Raises:
        ValueError: an ε of the joined runs is not positive and finite, or targets are so many that their letters would
            be those of the small model's public records.
    """

    model: SmallGPT2 | None
    source: str | None = None
    epsilons: tuple[float, ...] = EPSILONS
    kinds: tuple[str, ...] = ("numbers", "passwords", "names")
    targets: int = 100
    batch_size: float = 25
    steps: int = 240
    clipping_norm: float = 1.0
    learning_rate: float = 3e-3
    iterates: int = 4
    beams: int = 10
    guesses: tuple[int, ...] = (1, 10)
    names: int = 100
    refine: bool = True
    joined: tuple[float, ...] = (10.0, 100.0)
    gradient_trials: int = 100_000
    points: int = 41
    delta: float = DELTA
    confidence: float = CONFIDENCE

    def __post_init__(self):
        for epsilon in self.joined:
            if not 0 < epsilon < math.inf:
                raise ValueError(f"joined must be finite and > 0, got {epsilon:g}")
        most = FIRST_PUBLIC - FIRST_LETTER
        if self.model is not None and self.targets > most:
            raise ValueError(
                f"targets must be <= {most} for letters that no public record is about, got {self.targets}"
            )


SCALES = {
    "smoke": Settings(
        SmallGPT2(blocks=1, width=32, heads=2, steps=5, batch=4, records=8),
        epsilons=(10.0, math.inf),
        targets=8,
        batch_size=4,
        steps=4,
        iterates=2,
        beams=3,
        guesses=(1, 3),
        names=12,
        refine=False,
        joined=(10.0,),
        gradient_trials=1000,
        points=5,
    ),
    "desk": Settings(SmallGPT2()),
    "paper": Settings(None, source="gpt2", batch_size=25, steps=400, learning_rate=5e-4),
}
