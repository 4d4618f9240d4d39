"""The Objax bridge: pure, traceable, and nothing left behind in the module."""

import jax
import jax.numpy as jnp
import numpy as np
import objax
import pytest

from privacy_audit.train.functional import from_objax
from privacy_audit.train.models import MODELS

SHAPES = {
    "cnn": (28, 28, 1),
    "cnn_tanh": (28, 28, 1),
    "cnn_tanh_centred": (32, 32, 3),
    "fully_connected": (600,),
}


@pytest.mark.parametrize("name", MODELS)
def test_apply_equals_the_module_that_holds_the_same_weights(name):
    model = MODELS[name](SHAPES[name], 10)
    params = model.init(jax.random.key(3))
    inputs = jax.random.uniform(jax.random.key(4), (5, *SHAPES[name]))
    variables = model.module.vars()
    for variable, value in params.items():
        variables[variable].assign(value, check=False)
    np.testing.assert_array_equal(model.apply(params, inputs), model.module(inputs))


def test_works_under_jit_vmap_vmap_grad_and_leaves_no_tracer():
    model = MODELS["fully_connected"]((6,), 3)
    params = jax.vmap(model.init)(jax.random.split(jax.random.key(0), 4))
    inputs = jnp.ones((5, 6))

    def loss(one_params, one_input):
        return model.apply(one_params, one_input[None]).sum()

    gradients = jax.jit(jax.vmap(jax.vmap(jax.grad(loss), (None, 0)), (0, None)))(params, inputs)
    assert all(leaf.shape[:2] == (4, 5) for leaf in jax.tree.leaves(gradients))
    assert not any(isinstance(var.value, jax.core.Tracer) for var in model.module.vars())


def test_init_depends_on_the_key_alone():
    model = MODELS["cnn"]((32, 32, 3), 10)
    objax.random.DEFAULT_GENERATOR.seed(1)
    first = model.init(jax.random.key(7))
    objax.random.DEFAULT_GENERATOR.seed(2)
    again, other = model.init(jax.random.key(7)), model.init(jax.random.key(8))
    largest = max(float(jnp.abs(first[name] - other[name]).max()) for name in first)
    assert largest > 0.01
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])


def test_batch_normalisation_is_refused_by_name():
    def build():
        return objax.nn.Sequential([objax.nn.Linear(3, 4), objax.nn.BatchNorm0D(4)])

    with pytest.raises(ValueError, match="must not mix the examples.*BatchNorm0D"):
        from_objax(build)
