"""DP-SGD: Poisson-subsampled Gaussian, composed over the steps."""

import dataclasses
import functools
import math

import numpy as np
from absl import logging
from dp_accounting import dp_event, rdp

from .base import ADD_REMOVE, PrivacyProfile, check_adjacency, check_at_least, smallest_epsilon
from .composition import ComposedLoss, compose_gaussian
from .gaussian import GaussianMechanism

# Less noise counts as none, since one step's loss is then beyond every ε that is answered; more counts as this much.
_SMALLEST_NOISE, _LARGEST_NOISE = 1e-4, 1e7
_MOST_STEPS = 10**8
# The largest orders let small ε and δ be certified at all: ε can never fall below log(1/δ)/(α - 1) by much.
_RDP_ORDERS = (*rdp.rdp_privacy_accountant.DEFAULT_RDP_ORDERS, 2048, 4096, 8192)


@dataclasses.dataclass(frozen=True)
class DPSGD(PrivacyProfile):
    """`steps` steps with Poisson sampling at rate q and noise N(0, (σC)²) on the clipped sum.

    Attributes:
        noise_multiplier: σ, the noise in units of the clipping norm C; below 1e-4 it counts as none, and where it is
            sampled, above 10⁷ as 10⁷.
        sampling_rate: q in (0, 1]; 1 is the plain Gaussian mechanism, in closed form.
        steps: T, at most 10⁸.
        adjacency: "add_remove" or "replace_one".
        accountant: "pld" (tight; as dp_accounting, further into the tail) or "rdp" (looser; add/remove only).

    >>> round(float(DPSGD(1.0, 0.01, 100).epsilon(1e-5)), 2)
    0.72
    """

    noise_multiplier: float
    sampling_rate: float
    steps: int
    adjacency: str = dataclasses.field(default="add_remove", kw_only=True)
    accountant: str = dataclasses.field(default="pld", kw_only=True)

    def __post_init__(self):
        check_at_least("noise_multiplier", self.noise_multiplier)
        if not 0 < self.sampling_rate <= 1:
            raise ValueError(f"sampling_rate must lie in (0, 1], got {self.sampling_rate}")
        if not math.isfinite(self.steps) or self.steps != int(self.steps) or self.steps < 1:
            raise ValueError(f"steps must be a whole number >= 1, got {self.steps}")
        if self.steps > _MOST_STEPS:
            raise ValueError(f"steps must be <= {_MOST_STEPS}, got {self.steps}")
        check_adjacency(self.adjacency)
        check_accountant(self.accountant, self.adjacency)

    @property
    def _noise(self) -> float:
        """σ as it is composed."""
        return 0.0 if self.noise_multiplier < _SMALLEST_NOISE else min(self.noise_multiplier, _LARGEST_NOISE)

    def _log_delta(self, epsilon):
        if self._noise == 0:
            return np.zeros_like(epsilon)
        if self.accountant == "rdp":
            return renyi_log_delta(epsilon, *renyi(self))
        if self.sampling_rate == 1:
            return self._plain()._log_delta(epsilon)
        return _composed(self).log_delta(epsilon)

    def _log_delta_at_infinity(self):
        if self._noise == 0:
            return 0.0
        if self.accountant == "rdp" or self.sampling_rate == 1:
            return -np.inf
        return _composed(self).log_infinite()

    def _epsilon(self, log_delta):
        if self._noise == 0 or self.accountant == "rdp":
            return super()._epsilon(log_delta)
        if self.sampling_rate == 1:
            return self._plain()._epsilon(log_delta)
        # Only δ above what the grid could not place is within reach; telling so spares the search.
        reachable = log_delta > _composed(self).log_infinite()
        floor = np.min(log_delta, initial=0.0, where=reachable)
        bound = functools.partial(_composed(self).log_delta, floor=floor)
        return np.where(reachable, smallest_epsilon(bound, np.where(reachable, log_delta, 0.0)), np.inf)

    def _plain(self) -> GaussianMechanism:
        return GaussianMechanism(self.noise_multiplier, self.steps, adjacency=self.adjacency)

    def _trade_off(self, rate):
        if self.accountant == "pld" and self.sampling_rate == 1:
            return self._plain()._trade_off(rate)
        return super()._trade_off(rate)


def check_accountant(accountant: str, adjacency: str) -> None:
    """Raises ValueError for an unknown accountant, and for RDP under replace-one."""
    if accountant not in ("pld", "rdp"):
        raise ValueError(f"accountant must be 'pld' or 'rdp', got {accountant!r}")
    if accountant == "rdp" and adjacency != ADD_REMOVE:
        raise ValueError(
            "accountant must be 'pld' for adjacency 'replace_one' (the RDP of the Poisson-subsampled Gaussian is "
            f"known for add/remove only), got {accountant!r}"
        )


@functools.lru_cache(maxsize=8)
def _composed(profile: DPSGD) -> ComposedLoss:
    return compose_gaussian(profile._noise, profile.sampling_rate, int(profile.steps), profile.adjacency)


@functools.lru_cache(maxsize=256)
def renyi(profile: DPSGD) -> tuple[np.ndarray, np.ndarray]:
    """Orders and the Rényi DP at them; a test holds them against the accountant's public ε."""
    gaussian = dp_event.GaussianDpEvent(profile._noise)
    event = dp_event.SelfComposedDpEvent(
        dp_event.PoissonSampledDpEvent(profile.sampling_rate, gaussian), int(profile.steps)
    )
    verbosity = logging.get_verbosity()
    try:
        # It warns of every order that it leaves out, which is safe.
        logging.set_verbosity(logging.ERROR)
        accountant = rdp.RdpAccountant(_RDP_ORDERS).compose(event)
    finally:
        logging.set_verbosity(verbosity)
    return np.asarray(accountant._orders), np.asarray(accountant._rdp)


def renyi_log_delta(epsilon: np.ndarray, orders: np.ndarray, renyi: np.ndarray) -> np.ndarray:
    """log δ from Rényi DP, the best order for each ε (Canonne, Kamath and Steinke 2020, proposition 12)."""
    excess = orders - 1
    constant = excess * renyi - excess * np.log1p(1 / excess) - np.log(orders)
    return np.min(constant - excess * np.asarray(epsilon)[..., None], axis=-1)
