"""Where secrets come from: nine-digit numbers, passwords, names, each with the chance of every candidate."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from ...bounds.priors import Prior, categorical, top_guesses, uniform

DIGITS = 9
"""Digits of a number and of the passwords (Paper U's setting)."""


@dataclass(frozen=True)
class SecretPrior:
    """The distribution of one kind of secret.

    Attributes:
        name: of the kind.
        prompt: what a canary says first, with `{}` for whom it is about.
        ending: what follows, with `{}` for the secret.
        candidates: all possible secrets, or () for all numbers of nine digits.
        probabilities: one a candidate, summing to 1.

    Raises:
        ValueError: the probabilities are not a distribution over the candidates.
    """

    name: str
    prompt: str
    ending: str
    candidates: tuple[str, ...] = ()
    probabilities: Float[np.ndarray, "m"] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self):
        if len(self.candidates) != len(self.probabilities):
            raise ValueError(
                f"probabilities must have one entry a candidate ({len(self.candidates)}), "
                f"got {len(self.probabilities)}"
            )
        if len(set(self.candidates)) != len(self.candidates):
            raise ValueError(f"candidates of {self.name} must differ from each other")
        self.bound_prior()

    def bound_prior(self, guesses: int = 1) -> Prior:
        """What success bounds need to know, for so many guesses at each secret."""
        if not self.candidates:
            return uniform(10**DIGITS, guesses)
        return top_guesses(self.probabilities, guesses) if guesses > 1 else categorical(self.probabilities)

    def draw(self, generator: np.random.Generator, count: int) -> list[str]:
        """Independent secrets."""
        if not self.candidates:
            return [f"{number:0{DIGITS}d}" for number in generator.integers(0, 10**DIGITS, count)]
        return [
            self.candidates[i] for i in generator.choice(len(self.candidates), count, p=self.probabilities)
        ]


def numbers() -> SecretPrior:
    """Uniform numbers of nine digits: κ = 1e-9.

    >>> numbers().bound_prior().largest
    1e-09
    """
    return SecretPrior("numbers", "{}: ", "{}")


def passwords(exponent: float = 1.0) -> SecretPrior:
    """The nine-digit passwords of a real list, by Zipf's law on their rank among each other.

    The list is zxcvbn's (30,000 in rank order, 108 of them of nine digits). It has ranks only: the exponent is our
    choice, and gives '123456789' a probability of 0.19, where Paper U says 0.1 to 0.4.

    Raises:
        ImportError: naming the extra to install.
    """
    ranked = [word for word in _listed() if len(word) == DIGITS and word.isdigit()]
    weights = np.arange(1, len(ranked) + 1) ** -float(exponent)
    return SecretPrior("passwords", "{}: ", "{}", tuple(ranked), weights / weights.sum())


def names(count: int = 100) -> SecretPrior:
    """The `count` most frequent first names of the 1990 US Census, both sexes alike, by frequency among each other.

    Raises:
        ImportError: naming the extra to install.
        ValueError: there are not so many names.
    """
    frequency: dict[str, float] = {}
    for path in _census("first:female", "first:male"):
        for line in path.read_text(encoding="utf-8").splitlines():
            name, percent = line.split()[:2]
            frequency[name.title()] = frequency.get(name.title(), 0.0) + float(percent) / 2
    if not 1 <= count <= len(frequency):
        raise ValueError(f"count must lie between 1 and {len(frequency)}, got {count}")
    chosen = sorted(frequency, key=lambda name: (-frequency[name], name))[:count]
    weights = np.array([frequency[name] for name in chosen])
    return SecretPrior("names", "{}:", " {}", tuple(chosen), weights / weights.sum())


def people(count: int) -> list[str]:
    """Whom the canaries are about: surnames of the 1990 US Census, spread over its ranks so that they differ much.

    Raises:
        ImportError: naming the extra to install.
    """
    surnames = [
        line.split()[0].title() for line in _census("last")[0].read_text(encoding="utf-8").splitlines()
    ]
    return surnames[: len(surnames) // count * count : len(surnames) // count]


KINDS: dict[str, Callable[[], SecretPrior]] = {"numbers": numbers, "passwords": passwords, "names": names}
"""name -> its default prior"""


def _listed() -> list[str]:
    try:
        from zxcvbn.frequency_lists import FREQUENCY_LISTS
    except ImportError:
        raise ImportError("zxcvbn is needed: pip install 'privacy-audit[language]'") from None
    return list(FREQUENCY_LISTS["passwords"])


def _census(*lists: str) -> list[pathlib.Path]:
    try:
        import names as package
    except ImportError:
        raise ImportError("names is needed: pip install 'privacy-audit[language]'") from None
    return [pathlib.Path(package.FILES[name]) for name in lists]
