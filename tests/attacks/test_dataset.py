"""The dataset attack: no gradients beside the watermark, and scalars that stand for whole trainings."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy import stats

from privacy_audit.attacks.dataset import Options, dataset, law, malicious, reduced_score
from privacy_audit.game import Contestant, compile_game
from privacy_audit.match import compile_match
from privacy_audit.train.trial import bystander, run_trial

TRIALS = 2000


def contestant(task, **options):
    adversary = dataset(task.trainer, Options(watermark_pairs=5, num_shadow_models=2, **options))
    ground = adversary.ground(task)
    return Contestant("dataset", adversary, adversary.craft(jax.random.key(0), ground), ground)


def clean_sums(ground):
    hooks = bystander()._replace(
        init=lambda: (jnp.int32(0), jnp.zeros((3, 131))),
        observe=lambda s, step: (s[0] + 1, s[1].at[s[0]].set(ravel_pytree(step.clean_sum)[0])),
    )
    train = jax.jit(lambda key: run_trial(key, ground.initial(None), ground.members, ground.trainer, hooks))
    return train(jax.random.key(4))


def test_soft_labels_leave_no_gradients_and_the_model_stays(task):
    """Zero but for rounding: 20 examples, float32."""
    ground = malicious(task, soft=True)
    trained = clean_sums(ground)
    assert np.abs(trained.state[1]).max() < 1e-5
    for before, after in zip(*map(jax.tree.leaves, (ground.initial(None), trained.params)), strict=True):
        np.testing.assert_array_equal(before, after)


def test_argmax_labels_leave_some(task):
    assert np.abs(clean_sums(malicious(task, soft=False)).state[1]).max() > 1e-2
    target = contestant(task, dataset_labels="argmax").target
    assert float(target.leak_variance.max()) > 0


@pytest.mark.parametrize("plan", [{}, {"batch_size": 40, "adjacency": "replace_one"}])
def test_the_scalars_are_distributed_as_the_full_trainer_scores(make_task, plan):
    """Kolmogorov-Smirnov, 2,000 trials each in both worlds; p > 0.001 in four tests errs in 4 of 1,000 seeds."""
    ground = make_task(**plan)
    drawn = contestant(ground)
    full = compile_game(drawn.ground, [drawn], seed=11, devices=jax.devices()[:1])
    short = compile_match(ground, [drawn], seed=12, devices=jax.devices()[:1])
    trials = np.arange(TRIALS, dtype=np.int32)
    absent = 2 if plan else 0
    for world, who in ((0, absent), (1, 1)):
        trained = np.asarray(full(who, trials)["dataset/likelihood_ratio"])
        scalars = short(world, trials)["dataset/likelihood_ratio"]
        assert stats.ks_2samp(trained, scalars).pvalue > 1e-3
        exact = law(drawn.ground.trainer.plan, Options())
        assert stats.kstest(scalars, lambda x, world=world, exact=exact: exact.cdf(x, world)).pvalue > 1e-3


def test_a_trial_is_the_same_however_many_are_drawn_with_it(task):
    plan = dataclasses.replace(task.trainer.plan, steps=5)
    keys = jax.random.split(jax.random.key(0), 6)
    together = jax.jit(jax.vmap(lambda key: reduced_score(key, jnp.int32(1), plan)))(keys)
    one = jax.jit(lambda key: reduced_score(key, jnp.int32(1), plan))
    alone = [one(key) for key in keys]
    np.testing.assert_allclose(together, alone, rtol=1e-5)


@pytest.mark.parametrize("options", [{"dataset_labels": "hard"}, {"dataset_trials": "some"}])
def test_bad_options_are_refused(task, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be"):
        dataset(task.trainer, Options(**options))
