"""The configuration of an audit: frozen, checked once, hashed so that a ledger knows its run."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import Any

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.bounds.calibrate import noise_multiplier_for_epsilon
from privacy_audit.bounds.profiles import DPSGD
from privacy_audit.train.datasets import DATASETS
from privacy_audit.train.dpsgd import Plan
from privacy_audit.train.models import MODELS

INITIALIZATIONS = ("fixed", "random")
ACCOUNTANTS = ("pld", "rdp")
ADJACENCIES = ("add_remove", "replace_one")
LARGEST_EPSILON = 1000.0
"""Noise is calibrated up to here; no trainer promises more."""

VERDICT_ONLY = ("confidence", "threshold", "delta", "accountant")
"""Fields that change what is concluded from the scores, not the scores."""


@dataclass(frozen=True)
class AuditConfig:
    """Everything that an audit's numbers depend on.

    Attributes:
        dataset, data_dir, model: names in the registries of `train`; data_dir None: the source's default.
        adversaries: names in the registry of `attacks`, played one beside the other.
        options: one frozen `Options` an adversary, by name.
        num_examples: N = |D|.
        batch_size: expected batch size qN.
        steps: T.
        clipping_norm: C.
        noise_multiplier: σ.
        learning_rate: of plain SGD.
        delta, accountant: of the proven ε.
        initialization: `fixed`: every trial starts from weights that the adversary knows, the stronger attack;
            `random`: each trial draws its own.
        trials: per world, held-out trials included.
        confidence: coverage of each adversary's ε̂.
        threshold: rule of the Clopper-Pearson estimator, `explicit` (from the score's exact law where an adversary
            has one, held-out elsewhere), or a number fixed beforehand.
        seed: of all randomness.
        adjacency: `add_remove`: D' = D + the target; `replace_one`: D has another record in the target's place.
    """

    dataset: str
    data_dir: str | None
    model: str
    adversaries: tuple[str, ...]
    options: dict[str, Any] = field(hash=False)
    num_examples: int
    batch_size: int
    steps: int
    clipping_norm: float
    noise_multiplier: float
    learning_rate: float
    delta: float
    accountant: str
    initialization: str
    trials: int
    confidence: float
    threshold: str | float
    seed: int
    adjacency: str = "add_remove"

    def __post_init__(self):
        _check(self)

    @property
    def plan(self) -> Plan:
        """The part that the trainer needs."""
        return Plan(
            self.num_examples,
            self.batch_size,
            self.steps,
            self.clipping_norm,
            self.noise_multiplier,
            self.adjacency,
        )

    @property
    def profile(self) -> DPSGD:
        """The proven privacy profile of the run, of the game's adjacency."""
        return DPSGD(
            self.noise_multiplier,
            self.plan.sampling_rate,
            self.steps,
            adjacency=self.adjacency,
            accountant=self.accountant,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values, for `run.json`; `from_json` is not needed: a run starts from flags."""
        return dataclasses.asdict(self)

    @property
    def identity(self) -> str:
        """Hash of all that the scores depend on."""
        relevant = {k: v for k, v in self.to_json().items() if k not in VERDICT_ONLY}
        return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()


def calibrated_noise(
    epsilon: float,
    delta: float,
    sampling_rate: float,
    steps: int,
    accountant: str,
    adjacency: str = "add_remove",
) -> float:
    """The smallest σ whose proven ε at `delta` is at most `epsilon`."""
    require(epsilon > 0 and math.isfinite(epsilon), "epsilon", "> 0 and finite", epsilon)
    require(epsilon <= LARGEST_EPSILON, "epsilon", f"<= {LARGEST_EPSILON:g}", epsilon)
    require(0 < delta < 1, "delta", "in (0, 1) to calibrate the noise to epsilon", delta)
    return noise_multiplier_for_epsilon(
        epsilon, delta, sampling_rate, steps, adjacency=adjacency, accountant=accountant
    )


def require(holds: bool, name: str, rule: str, value: Any) -> None:
    """Raises ValueError naming the argument, the rule and the value unless the rule holds."""
    if not holds:
        raise ValueError(f"{name} must be {rule}, got {value}")


def one_of(name: str, value: str, known) -> None:
    """Raises ValueError with the list of what is known unless `value` is among it."""
    require(value in known, name, "one of " + ", ".join(known), value)


def _check(config: AuditConfig) -> None:
    one_of("dataset", config.dataset, DATASETS)
    one_of("model", config.model, MODELS)
    require(len(config.adversaries) > 0, "adversary", "one or more of " + ", ".join(ADVERSARIES), "none")
    for name in config.adversaries:
        one_of("adversary", name, ADVERSARIES)
    one_of("initialization", config.initialization, INITIALIZATIONS)
    one_of("accountant", config.accountant, ACCOUNTANTS)
    one_of("adjacency", config.adjacency, ADJACENCIES)
    pld = config.accountant == "pld" or config.adjacency == "add_remove"
    require(pld, "accountant", "pld where adjacency is replace_one", config.accountant)
    require(0 <= config.seed < 2**32, "seed", "in 0 … 2³² − 1", config.seed)
    known = isinstance(config.threshold, str) or math.isfinite(config.threshold)
    require(known, "threshold", "a finite number or a rule", config.threshold)
    for name in ("num_examples", "batch_size", "steps"):
        require(getattr(config, name) >= 1, name, ">= 1", getattr(config, name))
    most = config.num_examples
    require(config.batch_size <= most, "batch_size", f"<= num_examples ({most})", config.batch_size)
    require(config.trials >= 2, "trials", ">= 2 per world", config.trials)
    for name in ("clipping_norm", "noise_multiplier"):
        value = getattr(config, name)
        require(value > 0 and math.isfinite(value), name, "> 0 and finite", value)
    rate = config.learning_rate
    require(rate >= 0 and math.isfinite(rate), "learning_rate", ">= 0 and finite", rate)
    require(0 <= config.delta < 1, "delta", "in [0, 1)", config.delta)
    require(0 < config.confidence < 1, "confidence", "in (0, 1)", config.confidence)
