"""Book-keeping for normalisations and Llama's blocks against vmap(grad), in double precision."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import objax
import pytest

from privacy_audit.train.bookkeeping import book_keeping
from privacy_audit.train.clipping import vmap_grad
from privacy_audit.train.functional import from_objax
from privacy_audit.train.language.llama import Shape, block
from privacy_audit.train.layers import LayerNorm, RMSNorm

double_precision = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64

compiled = functools.partial(
    jax.jit, compiler_options={"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
)
"""`jit` for programs that run once: half the time to compile."""

SHAPE = Shape(
    vocab_size=11, context=8, blocks=2, width=12, hidden=10, heads=6, groups=2, base=100.0, epsilon=1e-5
)
BUILDS = {
    "LayerNorm": lambda: objax.nn.Sequential([LayerNorm(12), objax.nn.Linear(12, 12), LayerNorm(12)]),
    "RMSNorm": lambda: objax.nn.Sequential([RMSNorm(12), objax.nn.Linear(12, 12), RMSNorm(12)]),
    "llama": lambda: objax.nn.Sequential([block(SHAPE), block(SHAPE), RMSNorm(12)]),
}


def squared_distance(outputs, label):
    return jnp.sum((outputs - label) ** 2)


@pytest.mark.parametrize(
    ("name", "shape"), [("LayerNorm", (12,)), ("RMSNorm", (5, 12)), ("llama", (5, 12))], ids=BUILDS
)
def test_the_engines_agree(name, shape):
    rng = np.random.default_rng(0)
    with double_precision(True):
        model = from_objax(BUILDS[name])
        like = jax.eval_shape(model.init, jax.random.key(0))
        params = {key: jnp.asarray(rng.normal(size=x.shape) / 3) for key, x in like.items()}
        batch = (rng.normal(size=(7, *shape)), rng.normal(size=(7, *shape)), np.resize([1.0, 0.5, 0.0], 7))
        engine = functools.partial(book_keeping, chunk=4)
        ours, reference = (
            compiled(f(model, squared_distance, 0.7))(params, *batch) for f in (engine, vmap_grad)
        )
    assert set(ours.total) == set(params)
    for key, expected in reference.total.items():
        np.testing.assert_allclose(ours.total[key], expected, rtol=0, atol=1e-12, err_msg=key)


def test_normalisations_equal_their_definitions():
    values = np.random.default_rng(1).normal(2.0, 3.0, (4, 3, 12)).astype(np.float32)
    mean, variance = values.mean(-1, keepdims=True), values.var(-1, keepdims=True)
    np.testing.assert_allclose(LayerNorm(12)(values), (values - mean) / np.sqrt(variance + 1e-5), atol=1e-5)
    size = np.sqrt((values**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(RMSNorm(12)(values), values / size, atol=1e-5)


def test_no_gradient_of_one_example_is_formed_for_the_large_weights():
    """With short texts the norms come from Gram matrices: no array in the program is as large as batch × weight."""
    wide = SHAPE._replace(width=96, hidden=128)
    model = from_objax(lambda: objax.nn.Sequential([block(wide)]))
    params = jax.eval_shape(model.init, jax.random.key(0))
    batch = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in [(8, 5, 96), (8, 5, 96), (8,)]]
    text = str(jax.make_jaxpr(book_keeping(model, squared_distance, 1.0, chunk=8))(params, *batch))
    assert "f32[8,96,256]" not in text
    assert "f32[8,256,96]" not in text
