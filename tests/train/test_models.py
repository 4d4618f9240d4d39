"""The two networks: layer sizes by hand."""

import jax
import jax.numpy as jnp
import pytest

from privacy_audit.train.models import cnn, fully_connected


@pytest.mark.parametrize(("shape", "flat"), [((28, 28, 1), 4 * 4 * 32), ((32, 32, 3), 5 * 5 * 32)])
def test_the_cnn_has_four_weight_layers_of_these_sizes(shape, flat):
    model = cnn(shape, 10)
    params = model.init(jax.random.key(0))
    weights = sorted(leaf.shape for leaf in jax.tree.leaves(params) if leaf.ndim in (2, 4))
    assert weights == sorted([(8, 8, shape[2], 16), (4, 4, 16, 32), (flat, 32), (32, 10)])
    assert model.apply(params, jnp.zeros((3, *shape))).shape == (3, 10)


def test_the_dense_network_has_three():
    params = fully_connected((600,), 10).init(jax.random.key(0))
    weights = sorted(leaf.shape for leaf in jax.tree.leaves(params) if leaf.ndim == 2)
    assert weights == [(128, 10), (128, 128), (600, 128)]


@pytest.mark.parametrize("wrong", [(600,), (4, 4, 1)])
def test_the_cnn_refuses_what_is_no_image(wrong):
    with pytest.raises(ValueError, match=r"input_shape must be \(height, width, channels\)"):
        cnn(wrong, 10)
