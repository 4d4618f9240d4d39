"""The watermark: its norm, its place, its limits; the coins of its insertion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from privacy_audit.attacks import gradient
from privacy_audit.attacks.watermark import craft_watermark, placed, project
from privacy_audit.train.clipping import clip
from privacy_audit.train.trial import bystander, run_trial

PARAMETERS = 12 * 8 + 8 + 8 * 3 + 3


@pytest.fixture(scope="module")
def watermark(task):
    return craft_watermark(jax.random.key(0), task, pairs=10, movement_steps=2, num_shadow_models=4)


def test_its_norm_is_c_so_that_clipping_leaves_it_unchanged(task, watermark):
    tree = placed(watermark, task.initial(jax.random.key(0)))
    flat, _ = ravel_pytree(tree)
    assert abs(float(jnp.linalg.norm(flat)) - task.trainer.plan.clipping_norm) < 1e-6
    clipped, _ = ravel_pytree(clip(tree, task.trainer.plan.clipping_norm).total)
    np.testing.assert_allclose(clipped, flat, rtol=1e-6)
    np.testing.assert_allclose(project(tree, watermark, 1.0), 1.0, rtol=1e-6)
    assert np.array_equal(np.sign(watermark.values), np.tile([1, -1], 10))


def test_it_lies_where_training_moves_least(task, watermark):
    """Its coordinates move less, on trainings of its own kind, than nine tenths of the others."""

    def observe(state, step):
        return state + jnp.abs(ravel_pytree(step.clean_sum)[0])

    hooks = bystander()._replace(init=lambda: jnp.zeros(PARAMETERS), observe=observe)
    start = task.initial(jax.random.key(0))
    train = jax.jit(lambda key: run_trial(key, start, task.shadow, task.trainer, hooks).state)
    moved = np.asarray(train(jax.random.key(9)))
    chosen = moved[np.asarray(watermark.positions)]
    assert np.median(chosen) < np.quantile(moved, 0.1) + 1e-9


def test_the_leak_has_a_mean_and_a_variance_a_step(watermark):
    assert watermark.leak_mean.shape == watermark.leak_variance.shape == (3,)
    assert (watermark.leak_variance >= 0).all()


@pytest.mark.parametrize("pairs", [0, PARAMETERS // 2 + 1])
def test_more_pairs_than_parameters_are_refused(task, pairs):
    with pytest.raises(
        ValueError, match=rf"watermark_pairs must be between 1 and {PARAMETERS // 2} .*got {pairs}"
    ):
        craft_watermark(jax.random.key(0), task, pairs, 2, 4)


def test_it_is_inserted_with_the_probability_asked_for(task, watermark):
    """Sampling rate 0.5, asked 0.2: the crafter's own coin keeps 0.4 of 2,000; 4.5 standard errors err in 7e-6."""
    adversary = gradient.gradient(task.trainer, gradient.Options(insertion_probability=0.2))
    state, params = adversary.init(watermark, jax.random.key(3)), task.initial(jax.random.key(0))

    def inserted(step):
        added, _ = adversary.contribute(watermark, state, params, step)
        return project(added, watermark, 1.0)

    kept = float(jax.lax.map(inserted, jnp.arange(2000)).mean())
    assert abs(kept - 0.4) < 4.5 * np.sqrt(0.4 * 0.6 / 2000)


@pytest.mark.parametrize("options", [{"insertion_probability": 0.6}, {"gradient_statistics": "eq7"}])
def test_bad_options_are_refused(task, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be"):
        gradient.gradient(task.trainer, gradient.Options(**options))
