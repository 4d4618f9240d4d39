"""What any adversary could achieve: success bounds, privacy profiles, calibration (Paper U).

Earlier bounds are in `baselines`, mechanisms whose best attack is known in `tight`.
"""

from . import poisson_binomial, priors, profiles
from .alpha import alphas
from .calibrate import noise_multiplier_for_epsilon
from .calibrate_risk import (
    advantage_bound,
    epsilon_for_success,
    noise_multiplier_for_advantage,
    noise_multiplier_for_success,
)
from .expected import expected_successes
from .flip import advantage, epsilon_for_advantage, flip_probability
from .optimal_mechanism import OptimalMechanism, optimal_mechanism
from .success import max_successes, success_bound
from .sweep import sweep_max_successes, sweep_success_bound

__all__ = [
    "OptimalMechanism",
    "advantage",
    "advantage_bound",
    "alphas",
    "epsilon_for_advantage",
    "epsilon_for_success",
    "expected_successes",
    "flip_probability",
    "max_successes",
    "noise_multiplier_for_advantage",
    "noise_multiplier_for_epsilon",
    "noise_multiplier_for_success",
    "optimal_mechanism",
    "poisson_binomial",
    "priors",
    "profiles",
    "success_bound",
    "sweep_max_successes",
    "sweep_success_bound",
]
