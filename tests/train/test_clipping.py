"""Clipped sums against a plain Python loop."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from privacy_audit.train.clipping import clip, vmap_grad
from privacy_audit.train.dpsgd import Plan
from privacy_audit.train.engines import choose_engine
from privacy_audit.train.functional import Model
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS
from privacy_audit.train.trial import Trainer, bystander, run_trial

double_precision = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64

C = 0.7


def python_loop(model, params, inputs, labels, weights):
    """One gradient at a time, clipped and added with NumPy."""
    total = {name: np.zeros(value.shape) for name, value in params.items()}

    @jax.jit
    @jax.grad
    def gradient_of(p, x, y):
        return cross_entropy(model.apply(p, x[None])[0], y)

    for x, y, weight in zip(inputs, labels, weights, strict=True):
        gradient = jax.tree.map(np.asarray, gradient_of(params, x, y))
        norm = np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in gradient.values()))
        for name in total:
            total[name] += weight * gradient[name] * min(1.0, C / norm)
    return total


@pytest.mark.parametrize(
    ("name", "shape", "x64", "tolerance"),
    [
        ("cnn", (28, 28, 1), True, 1e-12),
        ("fully_connected", (20,), True, 1e-12),
        ("fully_connected", (20,), False, 1e-5),
    ],
)
def test_the_sum_equals_a_python_loop(name, shape, x64, tolerance):
    with double_precision(x64):
        dtype = jnp.float64 if x64 else jnp.float32
        model = MODELS[name](shape, 10)
        params = jax.tree.map(lambda p: p.astype(dtype), model.init(jax.random.key(0)))
        inputs = jax.random.uniform(jax.random.key(1), (6, *shape), dtype)
        labels = jnp.array([0, 1, 2, 3, 9, 9], jnp.int32)
        weights = jnp.array([1, 1, 0, 1, 1, 1], dtype)
        total, nonfinite = jax.jit(vmap_grad(model, cross_entropy, C))(params, inputs, labels, weights)
        expected = python_loop(model, params, inputs, labels, weights)
        for part in expected:
            np.testing.assert_allclose(total[part], expected[part], rtol=0, atol=tolerance)
        assert nonfinite == 0


def test_report_16_a_nan_gradient_adds_zero_and_is_counted():
    model = MODELS["fully_connected"]((4,), 3)
    params = model.init(jax.random.key(0))
    inputs = jnp.ones((3, 4)).at[1].set(jnp.nan)
    labels = jnp.array([0, 1, 2], jnp.int32)
    engine = vmap_grad(model, cross_entropy, C)
    everyone = engine(params, inputs, labels, jnp.ones(3))
    without = engine(params, inputs, labels, jnp.array([1.0, 0.0, 1.0]))
    assert everyone.nonfinite == 1
    assert without.nonfinite == 0
    for name in params:
        np.testing.assert_allclose(everyone.total[name], without.total[name], atol=1e-7)


@pytest.mark.parametrize("scale", [1e-30, 0.5, 1.0, 3.0, 1e15])
def test_clip_bounds_the_norm_and_keeps_the_direction(scale):
    gradient = {"a": scale * jnp.array([3.0, 0.0]), "b": scale * jnp.array([4.0])}
    clipped = clip(gradient, 2.0).total
    norm = np.sqrt(sum((np.asarray(leaf, np.float64) ** 2).sum() for leaf in clipped.values()))
    assert norm == pytest.approx(min(5.0 * scale, 2.0), rel=1e-6, abs=1e-35)
    assert clipped["b"][0] * 3 == pytest.approx(float(clipped["a"][0]) * 4, rel=1e-6)


@pytest.mark.parametrize("bad", [jnp.nan, jnp.inf])
def test_clip_turns_a_gradient_that_is_not_finite_into_zero(bad):
    clipped = clip({"a": jnp.array([1.0, bad])}, 1.0)
    assert clipped.nonfinite == 1
    np.testing.assert_array_equal(clipped.total["a"], 0.0)


def _flax():
    linen = pytest.importorskip("flax.linen", reason="flax is an optional extra: pip install flax")
    network = linen.Sequential([linen.Dense(8), linen.tanh, linen.Dense(3)])
    return Model(lambda key: network.init(key, jnp.zeros((1, 5))), network.apply)


def _equinox():
    equinox = pytest.importorskip("equinox", reason="equinox is an optional extra: pip install equinox")
    network = equinox.nn.MLP(5, 3, 8, 1, key=jax.random.key(0))
    params, static = equinox.partition(network, equinox.is_array)
    return Model(lambda key: params, lambda p, x: jax.vmap(equinox.combine(p, static))(x))


@pytest.mark.parametrize("framework", [_flax, _equinox])
def test_models_of_other_frameworks_clip_and_train(framework):
    """Clipping at a huge C leaves the plain gradient of the summed loss."""
    model = framework()
    params = model.init(jax.random.key(0))
    inputs = jax.random.normal(jax.random.key(1), (4, 5))
    labels = jnp.array([0, 1, 2, 0], jnp.int32)
    total, _ = vmap_grad(model, cross_entropy, 1e9)(params, inputs, labels, jnp.ones(4))

    def summed(p):
        return jax.vmap(cross_entropy)(model.apply(p, inputs), labels).sum()

    for ours, plain in zip(jax.tree.leaves(total), jax.tree.leaves(jax.grad(summed)(params)), strict=True):
        np.testing.assert_allclose(ours, plain, rtol=2e-5, atol=1e-6)

    plan = Plan(num_examples=4, batch_size=2, steps=3, clipping_norm=1.0, noise_multiplier=0.5)
    trainer = Trainer(model, cross_entropy, plan, choose_engine(model, cross_entropy, 1.0), optax.sgd(0.1), 4)
    trained = jax.jit(lambda key: run_trial(key, params, (inputs, labels), trainer, bystander()))(
        jax.random.key(2)
    )
    moved = [
        jnp.abs(a - b).max() for a, b in zip(*map(jax.tree.leaves, (trained.params, params)), strict=True)
    ]
    assert all(0 < distance < 1 for distance in moved)
