"""Static poison (Paper L, §4.2): one malicious example, made beforehand.

Powers: sees the final model as a black box; adds one example of its own making.
Crafter: trains shadow models by the same DP-SGD on data outside D and makes the poison with them (`poison`).
    The paper's algorithm raises the poison's loss while its text speaks of DeepFool; ascent is the default, DeepFool
    and two crafted inputs of later work are options. Their number, steps and step size are not stated: flags.
Distinguisher: as for API access, on the poison: guesses D' when the final model's loss on it is small.
"""

from __future__ import annotations

from ..train.trial import Trainer
from .adversary import Access, Adversary, no_state, observe_nothing
from .poison import PoisonOptions, craft_poison
from .record import contribute_absent, contribute_present, loss_score

Options = PoisonOptions


def static_poison(trainer: Trainer, options: PoisonOptions) -> Adversary:
    """A crafted example and the final model's loss on it."""
    return Adversary(
        access=Access.FINAL_MODEL,
        craft=lambda key, task: craft_poison(key, task, options),
        init=no_state,
        contribute=contribute_present(trainer),
        replaced=contribute_absent(trainer),
        observe=observe_nothing,
        score=lambda pair, state, params: {"loss": loss_score(trainer, pair, params)},
        crafter=("static_poison", options),
    )
