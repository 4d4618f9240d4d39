"""Privacy profiles δ(ε) as frozen value objects, each with an explicit adjacency.

Every number errs on the safe side: δ and ε high, the false-negative rate of `trade_off` low.
"""

from .base import ADD_REMOVE, REPLACE_ONE, PrivacyProfile
from .concentrated import ZeroConcentratedDP
from .curve import TradeOffCurve
from .dpsgd import DPSGD
from .gaussian import GaussianDP, GaussianMechanism
from .laplace import LaplaceMechanism
from .pure import ApproximateDP, PureDP, RandomizedResponse

__all__ = [
    "ADD_REMOVE",
    "DPSGD",
    "REPLACE_ONE",
    "ApproximateDP",
    "GaussianDP",
    "GaussianMechanism",
    "LaplaceMechanism",
    "PrivacyProfile",
    "PureDP",
    "RandomizedResponse",
    "TradeOffCurve",
    "ZeroConcentratedDP",
]
