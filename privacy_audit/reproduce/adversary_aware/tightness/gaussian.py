"""The idealised Gaussian Bayes-optimal attack against the bounds, in both adjacencies.

The secret is one of k orthogonal unit signals in noise σ. Replacing it moves the signal by √2: Gaussian DP with
μ = √2/σ under replace-one, the guarantee that U's game, a substitution, calls for. Removing it moves the signal by 1,
μ = 1/σ under add/remove, and that bounds the attack too, by way of the world without the secret. Both are drawn over
the ε of their own adjacency at δ, so that the mechanisms at one ε differ.

Let Q be the law of the guess in the world without the secret (or, under replace-one, with a fresh secret instead), p
the prior and f the trade-off curve. Then, 1 - f being concave,

    success = Σ_z p_z·Pr[z | z] <= Σ_z p_z·(1 - f(Q_z)) <= 1 - f(Σ_z p_z·Q_z) <= 1 - f(κ).

The middle sum, at the law Q that makes it largest, is the bound that uses the whole prior.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.optimize
from scipy import stats

from privacy_audit.attacks.secrets.priors import SecretPrior
from privacy_audit.bounds import expected_successes, flip_probability, max_successes
from privacy_audit.bounds.profiles import GaussianDP
from privacy_audit.bounds.tight import gaussian_success

DELTA = 1e-5
SHIFTS = {"add_remove": 1.0, "replace_one": math.sqrt(2)}
"""By how much the signal moves between neighbours."""
SECRETS, CONFIDENCE = 100, 0.95


def mu_at(epsilon: float) -> float:
    """μ of the Gaussian DP whose ε at δ is this."""

    def excess(mu: float) -> float:
        return float(GaussianDP(mu, adjacency="replace_one").epsilon(DELTA)) - epsilon

    return scipy.optimize.brentq(excess, 1e-6, 2 * math.sqrt(2 * epsilon) + 10, xtol=1e-12)


def curve(prior: SecretPrior, adjacency: str, epsilons: np.ndarray) -> dict[str, Any]:
    """Bound and exact attack on one secret at every ε, and the widest gap between them."""
    rows = [_point(prior, adjacency, float(epsilon)) for epsilon in epsilons]
    gaps = [row["bound"] - row["attack"] for row in rows]
    widest = int(np.argmax(gaps))
    return {
        "widest_gap_whole_prior": max(row["bound_whole_prior"] - row["attack"] for row in rows),
        "rows": rows,
        "widest_gap": gaps[widest],
        "widest_gap_epsilon": rows[widest]["epsilon"],
        "least_gap": min(row["bound_whole_prior"] - row["attack"] for row in rows),
    }


def _point(prior: SecretPrior, adjacency: str, epsilon: float) -> dict[str, float]:
    mu = mu_at(epsilon)
    sigma, profile = SHIFTS[adjacency] / mu, GaussianDP(mu, adjacency=adjacency)
    kinds = prior.bound_prior()
    if adjacency == "replace_one":
        bound = expected_successes(profile, [kinds])
    else:
        bound = 1 - float(profile.trade_off(kinds.largest))
    return {
        "epsilon": epsilon,
        "mu": mu,
        "sigma": sigma,
        "bound": bound,
        "bound_whole_prior": min(bound, whole_prior_bound(prior.probabilities, mu))
        if prior.candidates
        else bound,
        "attack": _attack(prior, sigma),
        "epsilon_delta_only": min(float(flip_probability(epsilon, kinds.largest)) + DELTA, 1.0),
    }


def whole_prior_bound(p: np.ndarray, mu: float) -> float:
    """max over laws Q of Σ_z p_z·Φ(Φ⁻¹(Q_z) + μ), under μ-Gaussian DP of either adjacency.

    At the largest, p_z·exp(-μ·t_z - μ²/2) is the same for all z, where Q_z = Φ(t_z).

    >>> round(whole_prior_bound(np.array([0.5, 0.3, 0.2]), 1.0), 4), round(float(stats.norm.cdf(1.0)), 4)
    (0.7383, 0.8413)
    """
    centred = np.log(p[p > 0]) / mu
    reach = 40.0 + np.ptp(centred)
    middle = -float(np.max(centred))

    def excess(shift: float) -> float:
        return float(np.sum(stats.norm.cdf(centred + shift))) - 1

    shift = scipy.optimize.brentq(excess, middle - reach, middle + reach, xtol=1e-12)
    return float(np.sum(p[p > 0] * stats.norm.cdf(centred + shift + mu)))


def _attack(prior: SecretPrior, sigma: float) -> float:
    """Success of the Bayes-optimal guess."""
    if prior.candidates:
        return gaussian_success(sigma, prior.probabilities)
    return gaussian_success(sigma, candidates=prior.bound_prior().symbols)


def many_secrets(prior: SecretPrior, epsilons: tuple[float, ...]) -> list[dict[str, Any]]:
    """100 secrets under replace-one at 95 %: most that any attack recovers, and what this attack recovers."""
    rows = []
    for epsilon in epsilons:
        mu = mu_at(epsilon)
        profile, attack = GaussianDP(mu, adjacency="replace_one"), _attack(prior, math.sqrt(2) / mu)
        rows.append(
            {
                "epsilon": epsilon,
                "bound": max_successes(profile, [prior.bound_prior()] * SECRETS, CONFIDENCE, refine=False),
                "attack": int(stats.binom.ppf(CONFIDENCE, SECRETS, min(attack, 1.0))),
                "attack_mean": SECRETS * attack,
            }
        )
    return rows
