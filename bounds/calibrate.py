"""Noise for a promised privacy: the smallest noise multiplier that keeps DP-SGD within it, rounded up."""

import math
from collections.abc import Callable

from .profiles import DPSGD, GaussianDP

# A calibrated quantity lies between this fraction of its limit and the limit itself.
_AIM, _TIGHT = 0.9998, 0.9995
_SMALLEST, _LARGEST = 1e-3, 1e7
_MOST_STEPS = 100


def noise_multiplier_for_epsilon(
    epsilon: float,
    delta: float,
    sampling_rate: float,
    steps: int,
    *,
    adjacency: str = "add_remove",
    accountant: str = "pld",
) -> float:
    """Noise multiplier of DP-SGD for an (ε, δ) budget.

    Args:
        epsilon: the budget, > 0.
        delta: in (0, 1).
        sampling_rate: q in (0, 1].
        steps: T.
        adjacency: "add_remove" or "replace_one".
        accountant: "pld" or "rdp" (add/remove only).

    Returns:
        σ with 0.999·epsilon <= ε(σ) <= epsilon, where ε(σ) = DPSGD(σ, …).epsilon(delta); below 1e-3, with a smaller
        ε(σ), where almost no noise is enough, as where records are sampled less often than delta.

    >>> round(noise_multiplier_for_epsilon(1.0, 1e-5, 0.01, 1000), 2)
    1.41
    """
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon must be finite and > 0, got {epsilon}")
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie in (0, 1), got {delta}")

    def profile(sigma: float) -> DPSGD:
        return DPSGD(sigma, sampling_rate, steps, adjacency=adjacency, accountant=accountant)

    def spent(sigma: float) -> float:
        return float(profile(sigma).epsilon(delta))

    profile(1.0)  # names a bad sampling rate, number of steps, adjacency or accountant
    return smallest_noise(spent, epsilon, start=_guess(epsilon, delta, sampling_rate, steps), what="epsilon")


def _guess(epsilon: float, delta: float, sampling_rate: float, steps: int) -> float:
    """σ at which the central limit of DP-SGD has this ε(δ)."""
    low, high = 1e-3, 1e3
    for _ in range(40):
        mu = math.sqrt(low * high)
        enough = GaussianDP(mu, adjacency="add_remove").delta(epsilon) <= delta
        low, high = (mu, high) if enough else (low, mu)
    return noise_near(low, sampling_rate, steps)


def noise_near(mu: float, sampling_rate: float, steps: int) -> float:
    """σ at which DP-SGD tends to μ-Gaussian DP: μ = q·√(T(e^(1/σ²) - 1)) (Bu et al. 2020)."""
    return 1 / math.sqrt(math.log1p((mu / sampling_rate) ** 2 / steps))


def smallest_noise(spent: Callable[[float], float], limit: float, *, start: float, what: str) -> float:
    """σ with 0.9995·limit <= spent(σ) <= limit, for `spent` falling in σ: a secant in logarithms, kept in a bracket.

    Args:
        spent: what the noise σ costs; may be inf for small σ.
        limit: what may be spent, > 0.
        start: first guess of σ.
        what: name of the limit in the error.
    """
    low, high = 0.0, math.inf
    sigma, slope, before = start, -1.0, None
    for _ in range(_MOST_STEPS):
        value = spent(sigma)
        if _TIGHT * limit <= value <= limit:
            return sigma
        if value <= limit:
            high = sigma
        else:
            low = sigma
        if _exhausted(low, high):
            break
        now = (math.log(sigma), math.log(value)) if 0 < value < math.inf else None
        if now and before and now[0] != before[0]:
            slope = min((now[1] - before[1]) / (now[0] - before[0]), -0.05)
        before = now or before
        step = (
            (math.log(_AIM * limit) - now[1]) / slope if now else math.log(2) * (1 if value > limit else -1)
        )
        sigma = _kept_inside(sigma * math.exp(max(-1.5, min(1.5, step))), low, high)
    if math.isfinite(high):
        return high
    raise ValueError(f"{what} must be reachable with a noise multiplier <= {_LARGEST:g}, got {limit:g}")


def _exhausted(low: float, high: float) -> bool:
    return high <= _SMALLEST or low >= _LARGEST or low >= (1 - 1e-12) * high


def _kept_inside(sigma: float, low: float, high: float) -> float:
    """The proposal, or a point inside the bracket where it leaves it."""
    if low < sigma < high:
        return sigma
    if math.isinf(high):
        return 2 * low
    return math.sqrt(low * high) if low else high / 2
