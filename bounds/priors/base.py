"""The prior of one secret: how often a guess is right before any output is seen."""

import dataclasses

import numpy as np
from jaxtyping import Float

SUBSTITUTION = "substitution"
MEMBERSHIP = "membership"


@dataclasses.dataclass(frozen=True)
class Prior:
    """Prior success of the guesses that an adversary may make at one secret.

    Args:
        largest: κ*, the success probability of the best guess, in [0, 1].
        smallest: success probability of the worst guess, in [0, largest].
        exact: whether success means naming the very secret, with one guess.
        levels: for exact match, pairs (probability of a symbol, total probability of the symbols like it). A
        level
            may stand for symbols of different probability if it names the smallest of them.
        symbols: number of equally likely symbols, or None where they are not equally likely.
        guesses: how many symbols one guess names.
        game: "substitution" (a record is replaced, so a replace-one profile applies) or "membership" (a
        record is
            in or out, so an add/remove profile applies).
        failure: probability, over the samples that the prior was estimated from, that it is wrong.
    """

    largest: float
    smallest: float
    exact: bool = False
    levels: tuple[tuple[float, float], ...] = dataclasses.field(default=(), repr=False)
    symbols: int | None = None
    guesses: int = 1
    game: str = SUBSTITUTION
    failure: float = 0.0

    def __post_init__(self):
        if not 0 <= self.smallest <= self.largest <= 1:
            raise ValueError(
                f"smallest and largest must satisfy 0 <= smallest <= largest <= 1, "
                f"got {self.smallest} and {self.largest}"
            )
        if self.game not in (SUBSTITUTION, MEMBERSHIP):
            raise ValueError(f"game must be 'substitution' or 'membership', got {self.game!r}")

    def constant(self, epsilon: Float[np.ndarray, "*b"]) -> Float[np.ndarray, "*b"]:
        """Weight c <= 1 of one secret in the certified bound at ε.

        For exact match c = Σ_z D(z)·(1 - β(ε, D(z))); for any match sets c = 1/(1 + κ_min·(e^ε - 1)), which
        is (1 - β)/(1 - κ) at its largest.
        """
        with np.errstate(over="ignore"):
            gain = np.expm1(np.asarray(epsilon, np.float64))
        if not (self.exact and self.levels):
            return 1 / (1 + _product(self.smallest, gain))
        kappa, mass = np.array(self.levels).T
        # 1 - β = (1 - κ)/(1 + κ·(e^ε - 1))
        kept = mass * (1 - kappa) / (1 + _product(kappa, gain[..., None]))
        return np.minimum(np.sum(kept, axis=-1), 1.0)


def _product(kappa, gain):
    """κ·(e^ε - 1) with 0·∞ = 0."""
    with np.errstate(invalid="ignore"):
        return np.where(np.asarray(kappa) > 0, kappa * gain, 0.0)
