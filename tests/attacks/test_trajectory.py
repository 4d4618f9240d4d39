"""Adversaries that watch: running sums, gradients read off models, poisons renewed."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.special import logit

from privacy_audit.attacks import View, adaptive_poison, api_access, intermediate_poison
from privacy_audit.attacks.intermediate_poison import no_trajectory
from privacy_audit.attacks.matched import Leak, constant_learning_rate, directions_of, no_evidence, weigh
from privacy_audit.attacks.record import Pair, Record, loss_score
from privacy_audit.train.trial import bystander, run_trial

FEW = {"num_shadow_models": 2, "rehearsals": 3, "poison_steps": 5}


def record(task, index):
    return Record(task.fresh[0][index], task.fresh[1][index])


def test_max_and_mean_in_one_pass_are_those_of_the_whole_trajectory():
    losses, kept = np.random.default_rng(0).normal(size=30).astype(np.float32), no_trajectory()
    for loss in losses:
        kept = kept.add(jnp.asarray(loss))
    np.testing.assert_allclose(kept.largest, losses.max())
    np.testing.assert_allclose(kept.total / kept.steps, losses.mean(), rtol=1e-5)


def test_gradients_read_off_two_models_weigh_as_the_released_ones(task):
    """The ratio computed from θ before and after is that of the density of the released gradient itself."""
    plan, pair = task.trainer.plan, Pair(record(task, 0), record(task, 1))

    def observe(rows, step):
        seen, kept = rows
        directions = directions_of(task.trainer, pair, step.before)
        evidence = weigh(
            task.trainer, 0.5, no_evidence(), View(step.released.params, None, step.before), directions, leak
        )
        y = jax.tree.map(lambda g: g * plan.batch_size, step.released.gradient)
        inner = sum(jnp.vdot(a, b) for a, b in zip(*map(jax.tree.leaves, (y, directions[0])), strict=True))
        squared = sum(jnp.vdot(a, a) for a in jax.tree.leaves(directions[0]))
        expected = jnp.log(0.5 + 0.5 * jnp.exp((2 * inner - squared) / (2 * plan.noise_multiplier**2)))
        return seen + 1, kept.at[seen].set(jnp.stack([evidence.log_ratio, expected]))

    leak = Leak(jnp.zeros((3, 1)), jnp.zeros((3, 1)))
    hooks = bystander()._replace(init=lambda: (jnp.int32(0), jnp.zeros((3, 2))), observe=observe)
    train = jax.jit(
        lambda key: run_trial(key, task.initial(None), task.members, task.trainer, hooks).state[1]
    )
    rows = train(jax.random.key(1))
    np.testing.assert_allclose(rows[:, 0], rows[:, 1], rtol=1e-3, atol=1e-4)
    assert np.abs(rows[:, 0]).min() > 0


@pytest.mark.parametrize("optimizer", [optax.sgd(0.1, momentum=0.9), optax.sgd(0.0)])
def test_models_that_do_not_tell_the_gradient_are_refused(task, optimizer):
    with pytest.raises(ValueError, match="must be"):
        constant_learning_rate(dataclasses.replace(task.trainer, optimizer=optimizer))


def test_losses_alone_need_no_learning_rate(task):
    trainer = dataclasses.replace(task.trainer, optimizer=optax.adam(0.1))
    adversary = intermediate_poison.intermediate_poison(
        trainer, intermediate_poison.Options(white_box=False, **FEW)
    )
    target = adversary.craft(jax.random.key(0), dataclasses.replace(task, trainer=trainer))
    assert target.leak is None


@pytest.fixture(scope="module")
def adaptive(task):
    adversary = adaptive_poison.adaptive_poison(task.trainer, adaptive_poison.Options(**FEW))
    return adversary, adversary.craft(jax.random.key(2), task)


def test_the_query_loss_after_the_step_is_differentiated_through_clipping_and_update(task, adaptive):
    """Against central differences; float32 leaves about 1e-3."""
    _, target = adaptive
    params, image = task.initial(None), jnp.clip(target.poison.inputs, 0.2, 0.8)

    def objective(x):
        return adaptive_poison.query_loss_after(task.trainer, target, x, params)

    objective = jax.jit(objective)
    slope = jax.grad(objective)(image)
    direction = slope / jnp.linalg.norm(slope)
    difference = (objective(image + 0.01 * direction) - objective(image - 0.01 * direction)) / 0.02
    np.testing.assert_allclose(difference, jnp.vdot(slope, direction), rtol=0.05)


def test_renewing_raises_the_query_loss_after_the_step(task, adaptive):
    _, target = adaptive
    params, image = task.initial(jax.random.key(0)), task.fresh[0][7]
    better = jax.jit(lambda x: adaptive_poison.improve(task.trainer, target, x, params, 10, 0.05))(image)
    after = jax.jit(lambda x: adaptive_poison.query_loss_after(task.trainer, target, x, params))
    losses = [after(x) for x in (image, better)]
    assert losses[1] > losses[0]
    assert float(better.min()) >= 0
    assert float(better.max()) <= 1


@pytest.mark.parametrize(("every", "renewals"), [("iteration", [1, 2, 3, 4]), ("epoch", [2, 4])])
def test_both_readings_of_when_the_poison_is_renewed(task, adaptive, every, renewals):
    """At sampling rate 1/2 an epoch is two steps."""
    options = adaptive_poison.Options(adaptive_every=every, **FEW)
    adversary, target = adaptive_poison.adaptive_poison(task.trainer, options), adaptive[1]
    target = target._replace(poison=target.poison._replace(inputs=jnp.full(12, 0.5)))
    state, changed = adversary.init(target, jax.random.key(0)), []
    observe = jax.jit(adversary.observe)
    for step in range(1, 5):
        params = task.trainer.model.init(jax.random.key(step))
        after = observe(target, state, View(params, None, task.initial(None)))
        if not np.array_equal(after.inputs, state.inputs):
            changed.append(step)
        state = after
    assert changed == renewals


@pytest.mark.parametrize(
    "options", [{"adaptive_every": "day"}, {"adaptive_steps": 0}, {"adaptive_step_size": 2.0}]
)
def test_bad_options_are_refused(task, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be"):
        adaptive_poison.adaptive_poison(task.trainer, adaptive_poison.Options(**options))


def test_logit_confidence_is_the_logit_of_the_label_probability(task):
    params, one = task.initial(None), record(task, 3)
    probabilities = jax.nn.softmax(task.trainer.model.apply(params, one.inputs[None])[0])
    found = api_access.logit_confidence(task.trainer, one, params)
    np.testing.assert_allclose(found, logit(np.float64(probabilities[one.label])), rtol=1e-4)


def test_lira_is_the_ratio_of_the_two_normal_fits(task):
    options = api_access.Options(calibration="lira", num_shadow_models=4)
    adversary = api_access.api_access(task.trainer, options)
    target = adversary.craft(jax.random.key(8), task)
    scores = adversary.score(target, (), task.initial(None))
    assert set(scores) == {"loss", "lira"}
    fitted = target._replace(inside=target.outside)
    assert adversary.score(fitted, (), task.initial(None))["lira"] == 0


def test_in_a_replace_one_game_the_score_weighs_both_records(task):
    plan = dataclasses.replace(task.trainer.plan, adjacency="replace_one")
    trainer, params = dataclasses.replace(task.trainer, plan=plan), task.initial(None)
    pair = Pair(record(task, 0), record(task, 1))
    swapped = Pair(pair.absent, pair.present)
    np.testing.assert_allclose(
        loss_score(trainer, pair, params), -loss_score(trainer, swapped, params), rtol=1e-5
    )
