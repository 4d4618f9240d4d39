"""API access (Paper L, §4.1): the weakest adversary.

Powers: sees the final model as a black box; changes nothing.
Crafter: a random draw (x, y) from the distribution joins D. In a replace-one game D holds another draw.
Distinguisher: guesses D' when the final model's loss on (x, y) is small. Statistics:
    `loss`: −loss, as in the paper;
    `lira` (--calibration=lira): not in the paper; the likelihood ratio of the example's logit confidence under
        normal fits to shadow models trained with and without it (Carlini et al. 2022, arXiv 2112.03570). The target is
        the same in all trials, so its difficulty cancels; what can be gained is the difference in spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..train.trial import Trainer, bystander
from .adversary import Access, Adversary, no_state, observe_nothing
from .options import Checked, among, at_least, option
from .record import Pair, Record, contribute_absent, contribute_present, loss_score, record_gradient
from .shadow import shadow_runs
from .task import Task

CALIBRATIONS = ("none", "lira")
LEAST_SPREAD = 1e-3


@dataclass(frozen=True)
class Options(Checked):
    """Choices beside the paper's."""

    calibration: str = option(
        "none", "lira: also compare with shadow models that had the example or not", among(*CALIBRATIONS)
    )
    num_shadow_models: int = option(8, "shadow runs, for each thing that is measured in them", at_least(2))


class Normal(NamedTuple):
    """A normal fit."""

    mean: Float[Array, ""]
    deviation: Float[Array, ""]

    def log_density(self, value: Float[Array, ""]) -> Float[Array, ""]:
        """Up to a constant that all fits share."""
        return -0.5 * ((value - self.mean) / self.deviation) ** 2 - jnp.log(self.deviation)


class Drawn(NamedTuple):
    """The target and, for `lira`, its confidence in shadow models without and with it."""

    pair: Pair
    outside: Normal | None
    inside: Normal | None


def api_access(trainer: Trainer, options: Options) -> Adversary:
    """A random example and the final model's loss on it."""
    calibrated = options.calibration == "lira"

    def craft(key, task):
        inputs, labels = task.fresh
        first, second = jax.random.choice(key, labels.shape[0], (2,), replace=False)
        pair = Pair(Record(inputs[first], labels[first]), Record(inputs[second], labels[second]))
        return Drawn(
            pair, *(_fits(key, task, pair, options.num_shadow_models) if calibrated else (None, None))
        )

    def score(target, state, params):
        scores = {"loss": loss_score(trainer, target.pair, params)}
        if not calibrated:
            return scores
        value = logit_confidence(trainer, target.pair.present, params)
        return scores | {"lira": target.inside.log_density(value) - target.outside.log_density(value)}

    return Adversary(
        access=Access.FINAL_MODEL,
        craft=craft,
        init=no_state,
        contribute=_on_pair(contribute_present(trainer)),
        replaced=_on_pair(contribute_absent(trainer)),
        observe=observe_nothing,
        score=score,
    )


def logit_confidence(trainer: Trainer, record: Record, params) -> Float[Array, ""]:
    """log(p/(1 − p)) for the probability p of the record's label: nearly normal over trainings."""
    log_likelihood = -trainer.example_loss(params, *record)
    return log_likelihood - jnp.log(-jnp.expm1(jnp.minimum(log_likelihood, -1e-7)))


def _fits(key, task: Task, pair: Pair, count: int) -> tuple[Normal, Normal]:
    """The logit confidence of shadow models without the target, and with it."""
    trainer = task.trainer

    def hold(record):
        return lambda state, params, step: (record_gradient(trainer, record, params), state)

    without = bystander()
    if trainer.plan.adjacency == "replace_one":
        without = without._replace(contribute=hold(pair.absent))
    fits = []
    for index, hooks in enumerate((without, bystander()._replace(contribute=hold(pair.present)))):
        models = shadow_runs(jax.random.fold_in(key, index), task, hooks, count).params
        values = jax.vmap(lambda params: logit_confidence(trainer, pair.present, params))(models)
        fits.append(Normal(values.mean(), jnp.maximum(values.std(ddof=1), LEAST_SPREAD)))
    return fits[0], fits[1]


def _on_pair(contribute):
    return lambda target, state, params, step: contribute(target.pair, state, params, step)
