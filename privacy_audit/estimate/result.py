"""What an estimator returns: the number, its interval, how it was made and whether it is valid."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

SCHEMA_VERSION = 1


def finite_or_none(value: Any) -> Any:
    """The value as strict JSON holds it: NumPy scalars become Python's, infinities and NaN become `None`."""
    if isinstance(value, Mapping):
        return {str(key): finite_or_none(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_or_none(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A lower bound on ε with everything that a reviewer asks about it.

    Attributes:
        method: Name of the estimator and of the way in which its threshold was found.
        epsilon_lower: The lower confidence bound on ε; 0.0 is a value and means that nothing was shown.
        delta: The δ at which ε is stated.
        confidence: Coverage of `epsilon_lower` itself: Pr[epsilon_lower <= ε] >= confidence.
        valid: Whether that coverage is guaranteed under `assumptions`.
        assumptions: What the guarantee rests on, one statement each.
        epsilon_point: ε at the observed rates; infinite when an error count is zero, None where undefined.
        epsilon_upper: Upper end of the interval for what *this test* shows. It is no bound on the privacy
            loss, which a better attack may still raise. None where the method has no such end.
        threshold: Scores at or above it are guessed D'; None where no single threshold was used.
        false_positives: Trials of D that were guessed D'.
        false_negatives: Trials of D' that were guessed D.
        trials_d: Trials of D that were counted; those that chose the threshold are not among them.
        trials_d_prime: Trials of D' that were counted.
        notes: What the reader should know about these scores (swapped worlds, one value only).
        details: Further figures of the method by name, such as `mu_lower`.
    """

    method: str
    epsilon_lower: float
    delta: float
    confidence: float
    valid: bool
    assumptions: tuple[str, ...] = ()
    epsilon_point: float | None = None
    epsilon_upper: float | None = None
    threshold: float | None = None
    false_positives: int | None = None
    false_negatives: int | None = None
    trials_d: int | None = None
    trials_d_prime: int | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def interval(self) -> tuple[float, float | None]:
        """Both ends: (`epsilon_lower`, `epsilon_upper`)."""
        return self.epsilon_lower, self.epsilon_upper

    def to_json(self) -> dict[str, Any]:
        """The fields as strict JSON values; infinite ones become None."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"schema_version": SCHEMA_VERSION, **finite_or_none(fields)}

    def __str__(self) -> str:
        verdict = "" if self.valid else " (not a valid bound)"
        level = f"at {self.confidence:.0%}, δ={self.delta:g}"
        return f"{self.method}: ε >= {self.epsilon_lower:.4g} {level}{verdict}"
