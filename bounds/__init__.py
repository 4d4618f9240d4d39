"""What any adversary could achieve: success bounds, privacy profiles, calibration (Paper U)."""

from . import poisson_binomial, priors, profiles
from .alpha import alphas
from .expected import expected_successes
from .flip import advantage, epsilon_for_advantage, flip_probability
from .optimal_mechanism import OptimalMechanism, optimal_mechanism
from .success import max_successes, success_bound
from .sweep import sweep_max_successes, sweep_success_bound

__all__ = [
    "OptimalMechanism",
    "advantage",
    "alphas",
    "epsilon_for_advantage",
    "expected_successes",
    "flip_probability",
    "max_successes",
    "optimal_mechanism",
    "poisson_binomial",
    "priors",
    "profiles",
    "success_bound",
    "sweep_max_successes",
    "sweep_success_bound",
]
