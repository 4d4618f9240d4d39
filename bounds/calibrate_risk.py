"""ε or noise for a promised risk: from "at most this many secrets" back to the parameters, rounded to the safe side."""

import math

import numpy as np
from scipy import special

from ._check import require
from .calibrate import noise_near, smallest_noise
from .flip import flip_probability
from .grid import Profile
from .priors import Prior, Targets, as_targets
from .priors.known import membership
from .profiles import ADD_REMOVE, DPSGD, REPLACE_ONE, ApproximateDP, GaussianDP
from .success import Priors, success_bound

_BISECTIONS = 60
_LARGEST_EPSILON = 1e4
_SCAN = 200


def adjacency_of(priors: Priors) -> str:
    """The adjacency that the priors' game needs: "add_remove" for membership, else "replace_one"."""
    kinds = as_targets(priors).kinds
    return ADD_REMOVE if kinds and kinds[0].game == "membership" else REPLACE_ONE


def epsilon_for_success(
    max_rate: float, priors: Priors, delta: float = 0.0, confidence: float = 0.95, *, refine: bool = False
) -> float:
    """Largest ε at which (ε, δ)-DP keeps every attack to at most `max_rate` of the secrets.

    Args:
        max_rate: in [0, 1]; with n secrets, more than ⌊max_rate·n⌋ successes are excluded.
        priors: one per secret, as in `success_bound`.
        delta: in [0, 1].
        confidence: probability with which the limit holds.
        refine: as in `success_bound`; slower, and ε a little larger.

    Returns:
        ε in [0, inf], such that the certified bound at this very ε meets the limit; within 1e-9 of the largest.

    Raises:
        ValueError: if not even ε = 0 meets the limit.

    >>> round(epsilon_for_success(0.84, [0.56] * 100, 1e-5), 2)
    1.02
    """
    count = _excluded_count(max_rate, priors)
    _require_confidence(confidence)
    adjacency, limit = adjacency_of(priors), math.log1p(-confidence)

    def meets(epsilon: float) -> bool:
        profile = ApproximateDP(epsilon, delta, adjacency=adjacency)
        return bool(success_bound(count, profile, priors, refine=refine, log=True) <= limit)

    if meets(_LARGEST_EPSILON):
        return math.inf
    if not meets(0.0):
        raise ValueError(f"max_rate must be above what the priors and delta alone allow, got {max_rate}")
    low, high = 0.0, _LARGEST_EPSILON
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if meets(middle) else (low, middle)
        if high - low <= 1e-9 * high:
            break
    return low


def advantage_bound(profile: Profile, prior: Prior | float | None = None) -> float:
    """Bound on the generalised advantage (S - κ)/(1 - κ) of any attack on one secret.

    S <= min over ε of β + c·δ(ε), β = β(ε, κ), and any ε gives a valid bound. For exact match c = 1 - β, which is
    the trade-off inequality of `expected_successes`; at κ = 1/2 the advantage is then δ(0), the total variation.
    For other match sets c is the prior's constant (1 for a bare κ), and S <= 1 - f(κ) holds too.

    Args:
        profile: of the adjacency that the prior's game needs.
        prior: by default one record, in or out with even odds.
    """
    targets = as_targets(membership() if prior is None else prior if isinstance(prior, Prior) else [prior])
    targets.require_adjacency(profile.adjacency)
    kind = targets.kinds[0]
    kappa = kind.largest
    if kappa == 1:
        return 0.0
    if kind.exact and kappa == 0.5:
        return float(profile.delta(0.0))
    least = _least_over_epsilon(profile, targets)
    if not kind.exact:
        least = min(least, 1 - float(profile.trade_off(kappa)) - kappa)
    return min((max(least, 0.0) + kind.failure) / (1 - kappa), 1.0)


def _least_over_epsilon(profile: Profile, targets: Targets) -> float:
    """min over ε of β - κ + c·δ: a scan, then three finer ones about its best point."""
    top = min(float(profile.epsilon(1e-9)), 700.0)
    epsilon = np.linspace(0.0, top, _SCAN)
    for _ in range(4):
        values = _gain(profile, epsilon, targets)
        best = int(np.argmin(values))
        epsilon = np.linspace(epsilon[max(best - 1, 0)], epsilon[min(best + 1, _SCAN - 1)], _SCAN)
    return float(values.min())


def _gain(profile: Profile, epsilon: np.ndarray, targets: Targets) -> np.ndarray:
    kappa = float(targets.largest[0])
    beta = np.asarray(flip_probability(epsilon, kappa), np.float64)
    constant = 1 - beta if targets.kinds[0].exact else targets.constants(epsilon)[:, 0]
    # β - κ without the cancellation.
    return profile.delta(epsilon) * constant - np.expm1(-epsilon) * beta * (1 - kappa)


def noise_multiplier_for_advantage(
    advantage: float, sampling_rate: float, steps: int, prior: Prior | float | None = None
) -> float:
    """Noise multiplier at which no attack on DP-SGD gains more than `advantage` on one secret.

    Args:
        advantage: generalised advantage in (0, 1); for membership with even odds TPR - FPR, the total variation.
        sampling_rate: q.
        steps: T.
        prior: of the secret; its game chooses the adjacency. By default membership with even odds.

    Returns:
        σ whose `advantage_bound` is at most `advantage` and at least 0.9995 of it.

    >>> round(noise_multiplier_for_advantage(0.1, 0.002, 10_000), 2)
    1.03
    """
    if not 0 < advantage < 1:
        raise ValueError(f"advantage must lie in (0, 1), got {advantage}")
    adjacency = adjacency_of(
        membership() if prior is None else prior if isinstance(prior, Prior) else [prior]
    )

    def spent(sigma: float) -> float:
        return advantage_bound(DPSGD(sigma, sampling_rate, steps, adjacency=adjacency), prior)

    DPSGD(1.0, sampling_rate, steps, adjacency=adjacency)  # names a bad sampling rate or number of steps
    # The total variation of N(0, 1) and N(μ, 1) is 2Φ(μ/2) - 1.
    start = noise_near(2 * special.ndtri((1 + advantage) / 2), sampling_rate, steps)
    return smallest_noise(spent, advantage, start=start, what="advantage")


def noise_multiplier_for_success(
    max_rate: float, priors: Priors, sampling_rate: float, steps: int, confidence: float = 0.95
) -> float:
    """Noise multiplier at which every attack on DP-SGD recovers at most `max_rate` of the secrets.

    Uses the whole trade-off curve of DP-SGD (the certified bound at many ε at once, closed form), so no δ is chosen.

    Args:
        max_rate: in [0, 1), as in `epsilon_for_success`.
        priors: one per secret; their game chooses the adjacency.
        sampling_rate: q.
        steps: T.
        confidence: probability with which the limit holds.

    Returns:
        σ that meets the limit, within about 1e-3 of the smallest; 0.0 if no noise is needed.

    Raises:
        ValueError: if no noise is enough, because the priors alone allow more.
    """
    count = _excluded_count(max_rate, priors)
    _require_confidence(confidence)
    adjacency = adjacency_of(priors)

    def spent(sigma: float) -> float:
        profile = DPSGD(sigma, sampling_rate, steps, adjacency=adjacency)
        return float(success_bound(count, profile, priors, refine=False))

    if spent(0.0) <= 1 - confidence:
        return 0.0
    if (
        float(success_bound(count, GaussianDP(0.0, adjacency=adjacency), priors, refine=False))
        >= 1 - confidence
    ):
        raise ValueError(f"max_rate must be above what the priors alone allow, got {max_rate}")
    start = noise_near(1.0, sampling_rate, steps)
    return smallest_noise(spent, 1 - confidence, start=start, what="1 - confidence")


def _excluded_count(max_rate: float, priors: Priors) -> int:
    """The first number of successes that the limit excludes."""
    require("max_rate", "in [0, 1]", max_rate, lambda r: (r >= 0) & (r <= 1))
    # A rate such as 0.29 of 100 is 28.999… in binary.
    return math.floor(max_rate * as_targets(priors).count * (1 + 1e-12)) + 1


def _require_confidence(confidence: float) -> None:
    require("confidence", "in (0, 1)", confidence, lambda c: (c > 0) & (c < 1))
