"""Poisons: inside the valid range, and of the loss that they are made for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from privacy_audit.attacks.poison import METHODS, PoisonOptions, craft_poison, poison_against
from privacy_audit.attacks.shadow import shadow_runs
from privacy_audit.train.trial import bystander

KEY = jax.random.key(5)


@pytest.fixture(scope="module")
def shadows(task):
    return shadow_runs(jax.random.key(77), task, bystander(), 3).params


@pytest.fixture
def crafted(task, shadows):
    return lambda **options: poison_against(KEY, task, shadows, PoisonOptions(**options))


@pytest.fixture
def shadow_loss(task, shadows):
    """From a record to its mean loss."""
    one = jax.jit(jax.vmap(lambda params, record: task.trainer.example_loss(params, *record), (0, None)))
    return lambda record: float(one(shadows, record).mean())


@pytest.mark.parametrize("method", METHODS)
def test_a_poison_is_a_valid_input_with_a_valid_label(crafted, method):
    pair = crafted(poison=method)
    assert pair.present.inputs.shape == (12,)
    assert float(pair.present.inputs.min()) >= 0
    assert float(pair.present.inputs.max()) <= 1
    assert int(pair.present.label) in range(3)
    assert int(pair.absent.label) != int(pair.present.label)
    np.testing.assert_array_equal(pair.absent.inputs, pair.present.inputs)


def test_binary_data_get_binary_poisons(make_task):
    pair = craft_poison(KEY, make_task(binary=True), PoisonOptions(num_shadow_models=2, poison_step_size=0.3))
    assert set(np.unique(pair.present.inputs)) <= {0.0, 1.0}


def test_ascent_raises_the_loss_that_the_sample_had(crafted, shadow_loss):
    """The start is the same record; one tiny step stands for it."""
    start, end = crafted(poison_steps=1, poison_step_size=1e-6), crafted()
    assert start.present.label == end.present.label
    assert shadow_loss(end.present) > shadow_loss(start.present) + 0.1


def test_deepfool_crosses_the_boundary_with_a_smaller_move_than_ascent(crafted):
    start = crafted(poison_steps=1, poison_step_size=1e-6).present.inputs
    moves = [jnp.linalg.norm(crafted(poison=m).present.inputs - start) for m in ("deepfool", "ascent")]
    assert moves[0] < moves[1]


def test_blank_is_blank_and_gets_the_least_likely_label(crafted, shadow_loss):
    poison = crafted(poison="blank").present
    assert not poison.inputs.any()
    losses = [shadow_loss(poison._replace(label=jnp.int32(label))) for label in range(3)]
    assert int(np.argmax(losses)) == int(poison.label)


@pytest.mark.parametrize(
    "options",
    [{"poison": "venom"}, {"poison_steps": 0}, {"poison_step_size": 0.0}, {"poison_step_size": 1.5}],
)
def test_bad_options_are_refused(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be"):
        PoisonOptions(**options)


def test_too_few_shadow_models_are_refused():
    with pytest.raises(ValueError, match="num_shadow_models must be >= 2, got 1"):
        PoisonOptions(num_shadow_models=1)
