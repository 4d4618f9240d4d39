"""Expected number of successes: at most the sum of what each secret alone allows, with no independence to lose."""

import numpy as np
from jaxtyping import Float

from .flip import flip_probability
from .grid import Profile, points
from .priors import Prior, Targets, as_targets
from .success import Priors

_BISECTIONS = 100
# Points (ε, δ(ε)) of the certified bound, and kinds of prior at once.
_SCAN = 1024
_SMALLEST_DELTA = 1e-9
_AT_ONCE = 256


def expected_successes(profile: Profile, priors: Priors) -> float:
    """Bound on E[L], the mean number of secrets that any attack recovers.

    For exact match the success S of one secret satisfies S <= 1 - f((1 - S)·κ*/(1 - κ*)), f the trade-off
    curve: with a_x = Pr[z = x | secret x] and b_x its mean over the other secrets, a_x <= 1 - f(b_x), f is
    convex, and Σ D_x·b_x <= κ*/(1 - κ*)·(1 - S). For any other match sets, or bare κ, S is at most the smaller
    of 1 - f(κ) (Kulynych et al. 2025) and β(ε, κ) + c·δ(ε) at any ε, the certified bound for one secret (c = 1
    for a bare κ).

    Args:
        profile: the mechanism's privacy, of the adjacency that the priors' game needs.
        priors: one `Prior` per secret, or a vector of bare κ, each the success of the best blind guess.

    Returns:
        The bound, in [0, n]; it errs high.

    Raises:
        ValueError: on a profile of the wrong adjacency.

    >>> from privacy_audit.bounds.priors import membership
    >>> from privacy_audit.bounds.profiles import PureDP
    >>> round(expected_successes(PureDP(1.0, adjacency="add_remove"), [membership()] * 100), 1)
    73.1
    """
    targets = as_targets(priors)
    targets.require_adjacency(profile.adjacency)
    if not targets.count:
        return 0.0
    certified = _certified_successes(profile, targets)
    pairs = zip(targets.kinds, certified, strict=True)
    each = np.array([_success(profile, prior, limit) for prior, limit in pairs])
    return float(np.sum(each[targets.kind]))


def _certified_successes(profile: Profile, targets: Targets) -> Float[np.ndarray, "kinds"]:
    """min over ε of β + c·δ for each kind of prior; left at 1 for exact match, where the trade-off says as much."""
    least = np.ones(len(targets.kinds))
    wanted = np.array([i for i, prior in enumerate(targets.kinds) if targets.bare or not prior.exact], int)
    if wanted.size == 0:
        return least
    grid = points(profile, _SCAN, _SMALLEST_DELTA)
    for block in np.array_split(wanted, -(-wanted.size // _AT_ONCE)):
        kinds = [targets.kinds[i] for i in block]
        beta = np.asarray(flip_probability(grid.epsilon, np.array([[prior.largest] for prior in kinds])))
        c = 1.0 if targets.bare else np.array([prior.constant(grid.epsilon) for prior in kinds])
        least[block] = np.min(beta + c * grid.delta, axis=1)
    return least


def _success(profile: Profile, prior: Prior, certified: float) -> float:
    kappa = prior.largest
    if not prior.exact or kappa == 1:
        estimate = min(1 - float(profile.trade_off(kappa)), certified)
    else:
        estimate = _exact_success(profile, kappa)
    # The curve may be a safe approximation below the truth, never a reason to fall below the prior.
    return min(max(estimate, kappa) + prior.failure, 1.0)


def _exact_success(profile: Profile, kappa: float) -> float:
    """The largest S in [κ, 1] that the inequality admits: its right-hand side falls as S grows."""
    low, high = kappa, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        wrong = min((1 - middle) * kappa / (1 - kappa), 1.0)
        if middle <= 1 - float(profile.trade_off(wrong)):
            low = middle
        else:
            high = middle
        if high - low <= 1e-15:
            break
    return high
