"""The step and the trial: noise, divisor, world 0. Statistical tests have a fixed seed and say how often they err."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from privacy_audit.train.clipping import vmap_grad
from privacy_audit.train.dpsgd import Plan
from privacy_audit.train.functional import Model
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS
from privacy_audit.train.sampling import capacity_for
from privacy_audit.train.trial import Trainer, bystander, run_trial

FALSE_ALARM = 1e-4
CONSTANT = Model(
    lambda key: {"a": jnp.zeros(300), "b": jnp.zeros((20, 15))}, lambda p, x: jnp.zeros((len(x), 2))
)
"""A network whose output does not depend on its two parameters of equal size: every gradient is zero."""


def trainer_for(model, plan, learning_rate=1.0, draws=10_000):
    engine = vmap_grad(model, cross_entropy, plan.clipping_norm)
    capacity = capacity_for(plan.num_examples, plan.sampling_rate, draws)
    return Trainer(model, cross_entropy, plan, engine, optax.sgd(learning_rate), capacity)


def examples_of(count, shape=(5,), classes=2):
    inputs = jax.random.uniform(jax.random.key(11), (count, *shape))
    return inputs, jnp.arange(count, dtype=jnp.int32) % classes


def released_gradients(plan, trials, num_examples=None):
    """Released gradients `[trials, T, P]` of the constant network."""
    trainer = trainer_for(CONSTANT, plan)
    params = CONSTANT.init(jax.random.key(0))

    def observe(state, step):
        seen, rows = state
        flat = jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(step.released.gradient)])
        return seen + 1, rows.at[seen].set(flat)

    hooks = bystander()._replace(init=lambda: (0, jnp.zeros((plan.steps, 600))), observe=observe)
    data = examples_of(num_examples or plan.num_examples)
    keys = jax.random.split(jax.random.key(1), trials)
    _, rows = jax.lax.map(lambda key: run_trial(key, params, data, trainer, hooks).state, keys)
    return np.asarray(rows)


def test_report_12_noise_on_the_average_is_sigma_c_over_qn():
    """Chi-square of 600·8·50 normals; and a standardised sample is normal (Kolmogorov-Smirnov)."""
    plan = Plan(num_examples=64, batch_size=16, steps=8, clipping_norm=0.5, noise_multiplier=1.3)
    rows = released_gradients(plan, 50)
    standardised = rows / (1.3 * 0.5 / 16)
    statistic = (standardised.astype(np.float64) ** 2).sum()
    tail = stats.chi2.cdf(statistic, rows.size)
    assert FALSE_ALARM / 2 < tail < 1 - FALSE_ALARM / 2
    assert stats.kstest(standardised[0, 0], "norm").pvalue > FALSE_ALARM


def test_report_17_noise_is_independent_across_parameters_steps_and_trials():
    """Correlations of 300 pairs each; each is below 5 standard errors (errs in fewer than 1e-4 of seeds)."""
    plan = Plan(num_examples=64, batch_size=16, steps=2, clipping_norm=1.0, noise_multiplier=1.0)
    rows = released_gradients(plan, 30)
    first, second = rows[:, 0, :300].ravel(), rows[:, 0, 300:].ravel()
    next_step, next_trial = rows[:, 1, :300].ravel(), np.roll(rows[:, 0, :300], 1, axis=0).ravel()
    for other in (second, next_step, next_trial):
        assert abs(np.corrcoef(first, other)[0, 1]) < 5 / np.sqrt(first.size)


def test_reports_3_and_4_the_divisor_is_a_constant_of_the_plan():
    """N = 9, q = 0.5 and a target that joins: the average is divided by 4.5 in both worlds, whoever is sampled."""
    plan = Plan(num_examples=9, batch_size=4.5, steps=1, clipping_norm=1.0, noise_multiplier=1e-12)
    model = MODELS["fully_connected"]((5,), 2)
    params = model.init(jax.random.key(0))
    trainer = trainer_for(model, plan)
    watermark = jax.tree.map(lambda p: jnp.full_like(p, 1e-3), params)

    @jax.jit
    def played(key, joins):
        hooks = bystander()._replace(
            init=lambda: (jax.tree.map(jnp.zeros_like, params),) * 2,
            contribute=lambda state, p, step: (jax.tree.map(lambda w: joins * w, watermark), state),
            observe=lambda state, step: (step.released.gradient, step.clean_sum),
        )
        return run_trial(key, params, examples_of(9), trainer, hooks).state

    sizes = set()
    for seed in range(6):
        for joins in (0.0, 1.0):
            average, clean_sum = played(jax.random.key(seed), joins)
            for a, s in zip(jax.tree.leaves(average), jax.tree.leaves(clean_sum), strict=True):
                np.testing.assert_allclose(a, s / 4.5, atol=1e-7)
        (with_target, _), (without, _) = played(jax.random.key(seed), 1.0), played(jax.random.key(seed), 0.0)
        difference = jax.tree.leaves(jax.tree.map(lambda a, b: a - b, with_target, without))[0]
        sizes.add(round(float(jnp.abs(difference).max()) * 4.5 / 1e-3))
    assert sizes == {0, 1}  # sampled in some steps and not in others, never rescaled


def test_report_15_an_empty_batch_is_a_step_of_pure_noise():
    plan = Plan(num_examples=20, batch_size=0.2, steps=3, clipping_norm=1.0, noise_multiplier=1.0)
    model = MODELS["fully_connected"]((5,), 2)
    trainer = trainer_for(model, plan)
    params = model.init(jax.random.key(0))
    hooks = bystander()._replace(
        init=lambda: jnp.zeros(()), observe=lambda norm, step: norm + _size(step.clean_sum)
    )
    train = jax.jit(lambda key: run_trial(key, params, examples_of(20), trainer, hooks))
    empty = [trained for trained in map(train, jax.random.split(jax.random.key(0), 8)) if trained.state == 0]
    assert empty
    for trained in empty:
        moved = [np.asarray(a - b) for a, b in zip(trained.params.values(), params.values(), strict=True)]
        assert all(np.isfinite(part).all() and part.std() > 0 for part in moved)


def test_in_world_0_the_outcome_does_not_depend_on_the_target():
    """The derivative of the final weights with respect to a target that does not join is exactly zero."""
    plan = Plan(num_examples=10, batch_size=5, steps=3, clipping_norm=1.0, noise_multiplier=0.5)
    model = MODELS["fully_connected"]((5,), 2)
    trainer = trainer_for(model, plan)
    params = model.init(jax.random.key(0))

    def outcome(target, who):
        def joins(state, p, step):
            return jax.grad(trainer.example_loss)(p, target, jnp.int32(1)), state

        choices = [bystander().contribute, joins]
        hooks = bystander()._replace(contribute=lambda *now: jax.lax.switch(who, choices, *now))
        return _size(run_trial(jax.random.key(4), params, examples_of(10), trainer, hooks).params)

    slope = jax.jit(jax.jacfwd(outcome))
    assert (slope(jnp.ones(5), 0) == 0).all()
    assert (slope(jnp.ones(5), 1) != 0).any()


def test_a_trial_equals_the_same_steps_written_out():
    """An independent loop in NumPy for a network of one matrix, without noise and with q = 1."""
    plan = Plan(num_examples=6, batch_size=6, steps=4, clipping_norm=0.3, noise_multiplier=1e-12)
    model = Model(lambda key: jnp.zeros((5, 2)), lambda p, x: x @ p)
    trained = run_trial(
        jax.random.key(0), jnp.zeros((5, 2)), examples_of(6), trainer_for(model, plan, 0.5), bystander()
    )
    inputs, labels = (np.asarray(part, np.float64) for part in examples_of(6))
    weights = np.zeros((5, 2))
    for _ in range(4):
        total = np.zeros_like(weights)
        for x, y in zip(inputs, labels, strict=True):
            odds = np.exp(x @ weights)
            gradient = np.outer(x, odds / odds.sum() - np.eye(2)[int(y)])
            total += gradient * min(1, 0.3 / np.linalg.norm(gradient))
        weights -= 0.5 * total / 6
    np.testing.assert_allclose(trained.params, weights, atol=1e-6)
    assert not trained.overflowed


@pytest.mark.parametrize("capacity", [1, 2])
def test_a_capacity_that_is_too_small_is_noticed(capacity):
    plan = Plan(num_examples=50, batch_size=25, steps=2, clipping_norm=1.0, noise_multiplier=1.0)
    trainer = trainer_for(CONSTANT, plan)
    small = Trainer(**{**vars(trainer), "capacity": capacity})
    params = CONSTANT.init(jax.random.key(0))
    assert run_trial(jax.random.key(0), params, examples_of(50), small, bystander()).overflowed


def _size(tree):
    return sum(jnp.abs(leaf).sum() for leaf in jax.tree.leaves(tree))
