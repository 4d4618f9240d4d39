"""Which settings a bound covers, found out by asking it."""

from collections.abc import Callable

from privacy_audit.bounds import success_bound
from privacy_audit.bounds.baselines import SETTINGS
from privacy_audit.bounds.priors import Prior, membership, uniform, zipf
from privacy_audit.bounds.profiles import DPSGD, GaussianDP, PureDP

# For each setting, games that need it; a bound covers the setting if it answers any of them.
_PROBES = {
    "uniform prior": ((1, uniform(10)), (1, membership())),
    "non-uniform prior": ((1, zipf(10, 1.0)), (1, membership(0.7))),
    "membership": ((1, membership()),),
    "attribute": ((1, uniform(10)),),
    "reconstruction": ((1, uniform(1000)),),
    "one target": ((1, membership()),),
    "many targets": ((2, [membership()] * 3),),
    "exact match": ((1, membership()),),
    "approximate match": ((1, Prior(0.3, 0.1)),),
}
_PROFILES = (
    *(PureDP(1.0, adjacency=adjacency) for adjacency in ("replace_one", "add_remove")),
    *(GaussianDP(1.0, adjacency=adjacency) for adjacency in ("replace_one", "add_remove")),
    *(DPSGD(2.0, 0.1, 10, adjacency=adjacency) for adjacency in ("replace_one", "add_remove")),
    DPSGD(2.0, 0.1, 10, accountant="rdp"),
)


def covered(bound: Callable) -> frozenset[str]:
    """The settings for which `bound(v, profile, priors)` gives an answer under some profile."""
    return frozenset(
        setting for setting in SETTINGS if any(_answers(bound, *probe) for probe in _PROBES[setting])
    )


def certified(v, profile, priors) -> float:
    """Our default, in its closed form."""
    return float(success_bound(v, profile, priors, refine=False))


def _answers(bound: Callable, v: int, priors) -> bool:
    for profile in _PROFILES:
        try:
            bound(v, profile, priors)
        except ValueError:
            continue
        return True
    return False
