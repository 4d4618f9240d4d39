"""One-parameter families of mechanisms, from no leakage upwards, for `mechanism_fit`."""

import dataclasses
from collections.abc import Callable

from privacy_audit.bounds.profiles import DPSGD, ApproximateDP, GaussianDP, PrivacyProfile


@dataclasses.dataclass(frozen=True)
class Family:
    """Profiles ordered by one parameter: a larger one leaks more at every false positive rate.

    Attributes:
        name: What the assumption is called in reports.
        parameter: Name of the parameter.
        profile: From the parameter to its privacy profile.
        lowest: Smallest parameter that is tried; below it a fit reports ε = 0.
        highest: Largest parameter that is tried.
    """

    name: str
    parameter: str
    profile: Callable[[float], PrivacyProfile]
    lowest: float
    highest: float


def approximate_dp_family(delta: float, adjacency: str = "add_remove") -> Family:
    """(ε, δ)-DP at a fixed δ, by its ε: no assumption on the mechanism beyond the claim itself."""
    name = f"all that are (ε, {delta:g})-DP"
    return Family(name, "epsilon", lambda e: ApproximateDP(e, delta, adjacency=adjacency), 1e-3, 40.0)


def gaussian_family(adjacency: str = "add_remove") -> Family:
    """Gaussian DP by its μ."""
    return Family("Gaussian DP (μ)", "mu", lambda mu: GaussianDP(mu, adjacency=adjacency), 1e-3, 40.0)


def dpsgd_family(sampling_rate: float, steps: int, adjacency: str = "add_remove") -> Family:
    """DP-SGD at a known sampling rate and number of steps, by 1/σ: the noise is what is in doubt."""
    name = f"DP-SGD with sampling rate {sampling_rate:g} and {steps} steps"

    def profile(inverse_noise: float) -> PrivacyProfile:
        return DPSGD(1 / inverse_noise, sampling_rate, steps, adjacency=adjacency)

    return Family(name, "inverse_noise_multiplier", profile, 0.05, 10.0)
