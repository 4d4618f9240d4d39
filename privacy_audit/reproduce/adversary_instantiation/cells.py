"""The cells of the reproduction: a data set at a target ε, and the configuration of its audit."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.bounds.profiles import DPSGD
from privacy_audit.config import AuditConfig
from privacy_audit.reproduce.adversary_instantiation.settings import CONFIDENCE, DELTA, EPSILONS, Scale

PRECISION = 200
"""The number of steps is the largest that is allowed, up to one part in so many."""


@dataclass(frozen=True)
class Cell:
    """One game of all six adversaries."""

    dataset: str
    epsilon: float

    @property
    def name(self) -> str:
        """Of its folder and in the results."""
        return f"{self.dataset}-eps{self.epsilon:g}"


def first_cells(scale: Scale) -> list[Cell]:
    """One ε of each data set."""
    return [Cell(dataset, epsilon) for dataset, epsilon in scale.first.items()]


def ordered_cells(scale: Scale) -> list[Cell]:
    """In the order in which they are played: one ε of each data set before the rest."""
    first = first_cells(scale)
    rest = [Cell(dataset, epsilon) for dataset in scale.sources for epsilon in EPSILONS]
    if scale.only is not None:
        rest = [Cell(*pair) for pair in scale.only]
    return list(dict.fromkeys(first + rest))


def all_cells(scale: Scale) -> list[Cell]:
    """All that the paper reports, whether or not this scale plays them."""
    return [Cell(dataset, epsilon) for dataset in scale.sources for epsilon in EPSILONS]


@functools.lru_cache(maxsize=256)
def most_steps(epsilon: float, noise_multiplier: float, sampling_rate: float, accountant: str = "pld") -> int:
    """The most steps whose proven ε at δ = 1e-5 stays within `epsilon`; 0 where one is too many.

    >>> most_steps(4.0, 1.0, 0.1)
    26
    """

    def within(steps: int) -> bool:
        profile = DPSGD(noise_multiplier, sampling_rate, steps, accountant=accountant)
        return float(profile.epsilon(DELTA)) <= epsilon

    low, high = 0, 1
    while within(high):
        low, high = high, 2 * high
    while high - low > max(1, low // PRECISION):
        middle = (low + high) // 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low


def steps_of(cell: Cell, scale: Scale) -> int:
    """Steps of a cell's training."""
    sigma, batch_size = scale.budgets[cell.dataset][cell.epsilon]
    steps = most_steps(cell.epsilon, sigma, batch_size / scale.sizes[cell.dataset])
    return min(steps, scale.most_steps or steps)


def audit_config(cell: Cell, scale: Scale, data_dir: str | None, seed: int) -> AuditConfig:
    """The audit of all six adversaries."""
    source = scale.sources[cell.dataset]
    sigma, batch_size = scale.budgets[cell.dataset][cell.epsilon]
    return AuditConfig(
        dataset=source.dataset,
        data_dir=data_dir,
        model=source.model,
        adversaries=tuple(ADVERSARIES),
        options={name: entry.options() for name, entry in ADVERSARIES.items()},
        num_examples=scale.sizes[cell.dataset],
        batch_size=batch_size,
        steps=steps_of(cell, scale),
        clipping_norm=source.clipping_norm,
        noise_multiplier=sigma,
        learning_rate=source.learning_rate,
        delta=DELTA,
        accountant="pld",
        initialization="fixed",
        trials=scale.trials,
        confidence=CONFIDENCE,
        threshold="held-out",
        seed=seed,
    )
