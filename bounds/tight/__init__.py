"""Mechanisms whose best attack is known exactly: what any upper bound must stay above."""

from .gaussian import GaussianChannel, gaussian_success
from .response import RandomizedResponses, best_response_success, posterior
from .reveal import RevealAll, RevealEach

__all__ = [
    "GaussianChannel",
    "RandomizedResponses",
    "RevealAll",
    "RevealEach",
    "best_response_success",
    "gaussian_success",
    "posterior",
]
