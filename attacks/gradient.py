"""Gradient attack (Paper L, §4.5): a watermark added to the gradients themselves.

Powers: sees every released gradient (equivalently, all models); whenever its record is sampled, chooses the gradient.
Crafter: the watermark w is ±C/√(2n), alternating, on the 2n parameters that move least over the first t_o steps of
    shadow runs. Its norm is exactly C, so clipping leaves it as it is. The paper sums absolute differences of weights
    (whether with the learning rate is not stated); we sum absolute clean gradients, which is the same up to the rate
    and without the noise that hides it. In a replace-one game D holds −w.
Distinguisher: the signed projection s_t = qN⟨w, g_t⟩/C² of the released gradient is N(m_t, τ_t²) under D and,
    under D', N(m_t + 1, τ_t²) with probability q and the former otherwise. Statistics:
    `likelihood_ratio` (default, the strongest): the summed log-likelihood ratio of that mixture, the leak of other
        examples (mean m_t and variance τ_t² − σ²) measured in shadow runs;
    `eq6`: the paper's likelihood, which takes the others' gradients on the watermark to be zero;
    `absolute_sum`: Σ|g| over the watermark, one reading of §4.5, which throws the sign away.
The paper's insertion probability q is not stated; ours is the sampling rate, or less by a coin of the crafter's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
from jaxtyping import Array, Key

from ..train.sampling import bernoulli
from ..train.trial import Trainer
from .adversary import Access, Adversary
from .options import Checked, at_least, option
from .watermark import Readings, craft_watermark, no_readings, placed, read

STATISTICS = ("likelihood_ratio", "eq6", "absolute_sum")


@dataclass(frozen=True)
class Options(Checked):
    """Choices that the paper leaves open."""

    watermark_pairs: int = option(50, "n: the watermark lies on 2n parameters", at_least(1))
    watermark_steps: int = option(
        10, "t_o: steps of a shadow run over which movement is measured", at_least(1)
    )
    num_shadow_models: int = option(8, "shadow runs, for each thing that is measured in them", at_least(2))
    insertion_probability: float = option(
        0.0,
        "probability with which a step holds the watermark, at most the sampling rate; 0: the sampling rate",
    )
    gradient_statistics: str = option(
        "likelihood_ratio", "what is read off the gradients: " + ", ".join(STATISTICS) + " or all"
    )


class State(NamedTuple):
    """The crafter's coins and the distinguisher's sums."""

    coins: Key[Array, ""]
    readings: Readings


def gradient(trainer: Trainer, options: Options) -> Adversary:
    """A watermark in the gradients, and the likelihood ratio of its projection."""
    plan = trainer.plan
    probability = inserted(options.insertion_probability, plan.sampling_rate)
    statistics = chosen_statistics(options.gradient_statistics)

    def contribute(sign: float):
        def add(target, state, params, step):
            keep = bernoulli(jax.random.fold_in(state.coins, step), probability / plan.sampling_rate)
            gradient = placed(target, params, sign)
            return jax.tree.map(lambda g: g * keep.astype(g.dtype), gradient), state

        return add

    def observe(target, state, view):
        return state._replace(readings=read(state.readings, view.gradient, target, plan, probability))

    def craft(key, task):
        sizes = options.watermark_pairs, options.watermark_steps, options.num_shadow_models
        return craft_watermark(key, task, *sizes)

    return Adversary(
        access=Access.ALL_GRADIENTS,
        craft=craft,
        init=lambda target, key: State(key, no_readings()),
        contribute=contribute(1.0),
        replaced=contribute(-1.0),
        observe=observe,
        score=lambda target, state, params: {name: getattr(state.readings, name) for name in statistics},
    )


def inserted(asked: float, sampling_rate: float) -> float:
    """The probability with which a step holds the watermark.

    Raises:
        ValueError: it exceeds the sampling rate, for which the privacy is accounted.
    """
    if not 0 <= asked <= sampling_rate:
        raise ValueError(
            f"insertion_probability must be between 0 and the sampling rate ({sampling_rate:g}), got {asked}"
        )
    return asked or sampling_rate


def chosen_statistics(text: str) -> tuple[str, ...]:
    """`all`, or names separated by commas.

    Raises:
        ValueError: a name is unknown.
    """
    names = STATISTICS if text == "all" else tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in STATISTICS:
            raise ValueError(f"gradient_statistics must be all or of {', '.join(STATISTICS)}, got {name!r}")
    return names
