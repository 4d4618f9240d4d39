"""Dataset attack (Paper L, §4.6): the strongest adversary.

Powers: as the gradient attack, and builds D and the hyperparameters: DP-SGD's proof holds for any.
Crafter: the learning rate is 0, so the model stays at weights that the adversary chose, and the examples of D are
    labelled by that model. How outputs become labels is not stated: `soft` labels (the probabilities themselves) make
    every gradient zero but for rounding; `argmax` leaves small ones, whose leak is measured on D. Beside them the
    watermark of §4.5 stands alone.
Distinguisher: the likelihood ratio of §4.5. With soft labels the projection is exactly N(b_t, σ²), b_t ~ Bernoulli(q)
    under D' and 0 under D (±b_t in a replace-one game), whatever the model: a trial is T numbers, drawn by
    `reduced_score`, and its threshold is known beforehand (`mixture_law`). `--dataset_trials=trained` trains
    all the same.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from ..train.dpsgd import Plan
from ..train.sampling import bernoulli
from ..train.trial import Trainer
from .adversary import Access, Adversary
from .mixture_law import Law, mixture_law
from .options import Checked, among, at_least, option
from .projection import signed_log_ratio
from .task import Task
from .watermark import bare_watermark, check_pairs, craft_watermark, no_readings, num_parameters, placed, read

LABELS = ("soft", "argmax")
TRIALS = ("reduced", "trained")
AT_ONCE = 256


@dataclass(frozen=True)
class Options(Checked):
    """Choices that the paper leaves open."""

    watermark_pairs: int = option(50, "n: the watermark lies on 2n parameters", at_least(1))
    watermark_steps: int = option(
        10, "t_o: steps of a shadow run over which movement is measured", at_least(1)
    )
    num_shadow_models: int = option(8, "shadow runs, for each thing that is measured in them", at_least(2))
    dataset_labels: str = option("soft", "how the initial model labels D", among(*LABELS))
    dataset_trials: str = option(
        "reduced", "reduced: the exact scalars of a trial; trained: all of DP-SGD", among(*TRIALS)
    )


def dataset(trainer: Trainer, options: Options) -> Adversary:
    """A watermark beside examples without gradients."""
    soft = options.dataset_labels == "soft"
    plan = trainer.plan

    def craft(key, task):
        if not soft:
            own = dataclasses.replace(task, shadow=task.members)  # the crafter made D: it measures on D
            return craft_watermark(
                key, own, options.watermark_pairs, options.watermark_steps, options.num_shadow_models
            )
        check_pairs(options.watermark_pairs, num_parameters(task))
        return bare_watermark(jnp.arange(2 * options.watermark_pairs), plan)

    def observe(target, state, view):
        return read(state, view.gradient, target, plan, plan.sampling_rate)

    return Adversary(
        access=Access.ALL_GRADIENTS,
        craft=craft,
        init=lambda target, key: no_readings(),
        contribute=lambda target, state, params, step: (placed(target, params), state),
        replaced=lambda target, state, params, step: (placed(target, params, -1.0), state),
        observe=observe,
        score=lambda target, state, params: {"likelihood_ratio": state.likelihood_ratio},
        ground=lambda task: malicious(task, soft),
        reduced=_reduced(plan) if soft and options.dataset_trials == "reduced" else None,
    )


def law(plan: Plan, options: Options) -> Law | None:
    """Exact distribution of the score in both worlds; None where other examples leak."""
    if options.dataset_labels != "soft":
        return None
    return mixture_law(plan.noise_multiplier, plan.sampling_rate, plan.steps, plan.adjacency)


def reduced_score(key: Key[Array, ""], world: Int[Array, ""], plan: Plan) -> Float[Array, ""]:
    """Draws one trial's score: T projections b_t + σz_t and their summed log-likelihood ratio.

    Args:
        key: of the trial.
        world: 0 or 1.
    """
    noise_key, coin_key = (key, None) if plan.sampling_rate == 1 else jax.random.split(key)
    noise = plan.noise_multiplier * jax.random.normal(noise_key, (plan.steps,))
    joins = bernoulli(coin_key, plan.sampling_rate, (plan.steps,))
    absent = -1.0 if plan.adjacency == "replace_one" else 0.0
    projections = noise + joins * jnp.where(world == 1, 1.0, absent)
    variance = plan.noise_multiplier**2
    return signed_log_ratio(projections, plan.sampling_rate, variance, plan.adjacency).sum()


def _reduced(plan: Plan):
    return lambda target, key, world: {"likelihood_ratio": reduced_score(key, world, plan)}


def malicious(task: Task, soft: bool) -> Task:
    """The same game at learning rate 0, from fixed weights, on inputs that those weights label."""
    params = jax.jit(task.initial)(jax.random.key(0))
    model = task.trainer.model

    @jax.jit
    def labels_of(inputs):
        logits = jax.lax.map(lambda x: model.apply(params, x[None])[0], inputs, batch_size=AT_ONCE)
        return jax.nn.softmax(logits) if soft else jnp.argmax(logits, -1).astype(jnp.int32)

    members = (task.members[0], labels_of(task.members[0]))
    trainer = dataclasses.replace(task.trainer, optimizer=optax.sgd(0.0))
    return dataclasses.replace(task, trainer=trainer, initial=lambda key: params, members=members)
