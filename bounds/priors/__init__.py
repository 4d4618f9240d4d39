"""What an adversary can do without the mechanism's output: priors as value objects."""

from .base import Prior
from .known import categorical, membership, top_guesses, uniform, zipf
from .misspecified import misspecified
from .sampled import within_l1, within_l2
from .targets import Targets, as_targets

__all__ = [
    "Prior",
    "Targets",
    "as_targets",
    "categorical",
    "membership",
    "misspecified",
    "top_guesses",
    "uniform",
    "within_l1",
    "within_l2",
    "zipf",
]
