"""What Paper L prints, with where; nothing here is computed."""

from __future__ import annotations

from dataclasses import dataclass

MOST_EPSILON = 5.60
"""§3.3: the most that any attack can show with 1,000 trials."""

RATES = {"tpr": 0.017, "fpr": 0.002, "epsilon": 0.31}
"""§4.1, CIFAR-10 at ε = 4: rates and the ε̂ that is printed for them."""

ACCURACY = {
    "mnist": {1.0: 95.0, 2.0: 96.0, 4.0: 97.0, 10.0: 98.5},
    "cifar10": {1.0: 53.0, 2.0: 55.0, 4.0: 56.0, 10.0: 59.0},
    "purchase": {1.0: 37.0, 2.0: 82.0, 4.0: 88.0, 10.0: 90.0},
}
"""App. A: test accuracy in %, by data set and target ε."""


@dataclass(frozen=True)
class Claim:
    """A lower bound that the text prints; most stand in figures only.

    Attributes:
        dataset: the paper's name; None where the text does not say.
    """

    where: str
    adversary: str
    dataset: str | None
    epsilon: float
    value: float


CLAIMS = (
    Claim("§4.1", "api_access", "cifar10", 4.0, 0.31),
    Claim("§4.4", "static_poison", "purchase", 2.0, 0.25),
    Claim("§4.4", "adaptive_poison", "purchase", 2.0, 0.37),
    Claim("§4.5", "gradient", None, 1.0, 0.3),
    Claim("§4.6", "dataset", None, 4.0, 3.6),
)

NOT_VERIFIABLE = (
    (
        "§4.2: static poison “is bounded below by a factor of 10×”",
        "the text does not say a factor of what; nothing to compare with",
    ),
)
