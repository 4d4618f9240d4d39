"""The same networks, data, batches and settings for all programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CLASSES, CLIPPING_NORM, NOISE_MULTIPLIER, LEARNING_RATE = 10, 1.0, 1.0, 0.1
SHAPES = {"cnn": (28, 28, 1), "fully_connected": (600,)}


@dataclass(frozen=True)
class Row:
    """One measurement: `program` trains `network`, `trials` at once, on full or Poisson batches."""

    network: str
    program: str
    trials: int = 1
    batch: int = 256
    poisson: bool = False

    @property
    def name(self) -> str:
        parts = [
            self.program,
            f"{self.trials} trials" if self.trials > 1 else "1 trial",
            f"batch {self.batch}",
        ]
        return ", ".join(parts + ["Poisson"] * self.poisson)


def examples(row: Row) -> tuple[np.ndarray, np.ndarray]:
    """Random inputs and labels, at least sixteen batches: speed does not depend on what they show."""
    rng = np.random.default_rng(0)
    count = max(4096, 16 * row.batch if row.poisson else row.batch)
    inputs = rng.random((count, *SHAPES[row.network]), dtype=np.float32)
    return inputs, rng.integers(CLASSES, size=count).astype(np.int32)
