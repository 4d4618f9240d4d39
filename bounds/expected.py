"""Expected number of successes: at most the sum of what each secret alone allows, with no independence to lose."""

import numpy as np

from .grid import Profile
from .priors import Prior, as_targets
from .success import Priors

_BISECTIONS = 100


def expected_successes(profile: Profile, priors: Priors) -> float:
    """Bound on E[L], the mean number of secrets that any attack recovers.

    For exact match the success S of one secret satisfies S <= 1 - f((1 - S)·κ*/(1 - κ*)), f the trade-off
    curve: with a_x = Pr[z = x | secret x] and b_x its mean over the other secrets, a_x <= 1 - f(b_x), f is
    convex, and Σ D_x·b_x <= κ*/(1 - κ*)·(1 - S). For any other match sets, or bare κ, S <= 1 - f(κ)
    (Kulynych et al. 2025).

    Args:
        profile: the mechanism's privacy, of the adjacency that the priors' game needs.
        priors: one `Prior` per secret, or a vector of bare κ.

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
    each = np.array([_success(profile, prior) for prior in targets.kinds])
    return float(np.sum(each[targets.kind])) if targets.count else 0.0


def _success(profile: Profile, prior: Prior) -> float:
    kappa = prior.largest
    if not prior.exact or kappa == 1:
        estimate = 1 - float(profile.trade_off(kappa))
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
