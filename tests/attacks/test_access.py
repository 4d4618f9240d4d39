"""What an adversary is shown, and that in world 0 its target touches nothing."""

import jax
import jax.numpy as jnp
import pytest

from privacy_audit.attacks import Access, Adversary, join, watch
from privacy_audit.attacks.record import Pair, Record, contribute_present
from privacy_audit.game import Contestant, _hooks
from privacy_audit.train.dpsgd import Released, Step
from privacy_audit.train.trial import run_trial

STEP = Step("before", Released("params", "gradient"), None, "clean", None)


def spy(access, observe=lambda target, state, view: view):
    return Adversary(access, craft=None, init=None, contribute=None, observe=observe, score=None)


def test_all_models_means_models_without_gradients():
    view = watch(spy(Access.ALL_MODELS), None, "nothing", STEP)
    assert view == ("params", None, "before")


def test_all_gradients_adds_the_noisy_gradient_and_never_the_clean_one():
    view = watch(spy(Access.ALL_GRADIENTS), None, "nothing", STEP)
    assert view == ("params", "gradient", "before")


def test_final_model_is_never_called_during_training():
    def observe(*seen):
        raise AssertionError("was shown a step")

    assert watch(spy(Access.FINAL_MODEL, observe), None, "nothing", STEP) == "nothing"


@pytest.mark.parametrize(("access", "kept"), [(Access.FINAL_MODEL, "nothing"), (Access.ALL_MODELS, "params")])
def test_final_model_cannot_keep_the_parameters_that_its_record_meets(access, kept):
    smuggler = Adversary(
        access,
        craft=None,
        init=None,
        contribute=lambda target, state, params, step: ("gradient", params),
        observe=None,
        score=None,
    )
    assert join(smuggler, None, "nothing", "params", 0, world=1) == ("gradient", kept)


def test_in_world_0_the_outcome_has_derivative_zero_with_respect_to_the_target(task):
    """In a direction drawn at random. In world 1 it is not zero, so that the test can fail."""
    inputs, labels = task.fresh
    adversary = Adversary(
        Access.FINAL_MODEL,
        craft=None,
        init=lambda target, key: (),
        contribute=contribute_present(task.trainer),
        observe=None,
        score=None,
    )
    contestant = Contestant("spy", adversary, None)

    def outcome(who, image):
        record = Record(image, labels[0])
        hooks = _hooks(who, [[0]], (1,), [contestant.adversary], [Pair(record, record)], jax.random.key(0))
        trained = run_trial(jax.random.key(3), task.initial(None), task.members, task.trainer, hooks)
        return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(trained.params))

    towards = jax.random.normal(jax.random.key(6), inputs[0].shape)
    slope = jax.jit(lambda who: jax.jvp(lambda image: outcome(who, image), (inputs[0],), (towards,))[1])
    assert slope(0) == 0
    assert slope(1) != 0
