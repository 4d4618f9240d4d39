"""Earlier bounds beside ours, each with its source and the settings that it covers."""

from .base import SETTINGS, Baseline, settings_of
from .cherubin import CHERUBIN, cherubin_advantage
from .hayes import HAYES, hayes_success
from .one_run import MAHLOUJIFAR, STEINKE, mahloujifar_bound
from .rero import RERO_CONCENTRATED, RERO_PURE, RERO_RENYI
from .single import KULYNYCH, NARCISSUS

BASELINES = (
    RERO_PURE,
    RERO_RENYI,
    RERO_CONCENTRATED,
    HAYES,
    STEINKE,
    MAHLOUJIFAR,
    CHERUBIN,
    KULYNYCH,
    NARCISSUS,
)

__all__ = [
    "BASELINES",
    "CHERUBIN",
    "HAYES",
    "KULYNYCH",
    "MAHLOUJIFAR",
    "NARCISSUS",
    "RERO_CONCENTRATED",
    "RERO_PURE",
    "RERO_RENYI",
    "SETTINGS",
    "STEINKE",
    "Baseline",
    "cherubin_advantage",
    "hayes_success",
    "mahloujifar_bound",
    "settings_of",
]
