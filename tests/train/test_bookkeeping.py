"""Book-keeping against vmap(grad), in double precision, on every model and on drawn stacks of layers."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import objax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import Mesh, PartitionSpec
from objax.constants import ConvPadding

from privacy_audit.train.bookkeeping import book_keeping, is_stack
from privacy_audit.train.clipping import vmap_grad
from privacy_audit.train.engines import choose_engine, example_gradient, fast_model
from privacy_audit.train.functional import Model, from_objax
from privacy_audit.train.layers import ChannelsFirst, Embedding, Flatten, LayerNorm, MaxPool2D, Residual
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS

double_precision = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
in_double_precision = functools.partial(double_precision, True)

compiled = functools.partial(
    jax.jit, compiler_options={"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
)
"""`jit` for programs that run once: half the time to compile."""

SHAPES = {
    "cnn": (28, 28, 1),
    "cnn_tanh": (28, 28, 1),
    "cnn_tanh_centred": (32, 32, 3),
    "fully_connected": (60,),
}
CLASSES = 5
RELU = objax.functional.relu


def drawn(model: Model, shape, batch: int, seed: int = 0, vocabulary: int | None = None):
    """Parameters and a batch with weights of all kinds, from NumPy: nothing to compile."""
    rng = np.random.default_rng(seed)
    like = jax.eval_shape(model.init, jax.random.key(0))
    params = {
        name: rng.normal(size=x.shape) / max(1, math.prod(x.shape[:-1])) ** 0.5 for name, x in like.items()
    }
    inputs = (
        rng.integers(vocabulary, size=(batch, *shape)) if vocabulary else rng.normal(size=(batch, *shape))
    )
    weights = np.resize([1.0, 0.5, 2.0], batch)
    weights[-(batch // 4) :] = 0.0
    return params, inputs, rng.integers(CLASSES, size=batch), weights


def assert_same(ours, reference, tolerance=1e-12):
    assert int(ours.nonfinite) == int(reference.nonfinite)
    assert jax.tree.structure(ours.total) == jax.tree.structure(reference.total)
    for name, expected in reference.total.items():
        scale = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(
            np.asarray(ours.total[name]), expected, rtol=0, atol=tolerance * scale, err_msg=name
        )


def compare(model: Model, batch, clipping_norm: float = 0.7, **options):
    ours = compiled(book_keeping(model, cross_entropy, clipping_norm, **options))(*batch)
    assert_same(ours, compiled(vmap_grad(model, cross_entropy, clipping_norm))(*batch))


def transformer() -> objax.Module:
    nn = objax.nn
    mixing = Residual(
        nn.Sequential([LayerNorm(6), nn.Linear(6, 6, use_bias=False), lambda x: jnp.cumsum(x, 1)])
    )
    thinking = Residual(
        nn.Sequential([LayerNorm(6), nn.Linear(6, 9), objax.functional.tanh, nn.Linear(9, 6)])
    )
    return nn.Sequential([Embedding(7, 6), mixing, thinking, LayerNorm(6), Flatten(), nn.Linear(24, CLASSES)])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("chunk", [None, 4])
def test_agrees_on_every_model(name, chunk):
    with in_double_precision():
        model = MODELS[name](SHAPES[name], CLASSES)
        compare(model, drawn(model, SHAPES[name], 10), chunk=chunk)


@pytest.mark.parametrize("remat", [False, True])
def test_agrees_on_sequences(remat):
    with in_double_precision():
        model = from_objax(transformer)
        compare(model, drawn(model, (4,), 11, vocabulary=7), chunk=4, remat=remat)


@st.composite
def image_stacks(draw):
    """(input shape, constructor) of convolutions and pools that fit each other."""
    height, width = draw(st.integers(6, 9)), draw(st.integers(6, 9))
    shape = (height, width, draw(st.sampled_from([1, 2, 5])))
    plans, channels = [], shape[2]
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["convolution", "convolution", "pool"]))
        room = min(height, width)
        stride = draw(st.integers(1, 3))
        if kind == "pool" and plans:
            size = draw(st.integers(1, min(3, room)))
            plans.append((size, stride))
            height, width = ((n - size) // stride + 1 for n in (height, width))
            continue
        size = (draw(st.integers(1, min(4, room))), draw(st.integers(1, min(4, room))))
        strides = (stride, draw(st.integers(1, 3)))
        padding = draw(st.sampled_from([ConvPadding.SAME, ConvPadding.VALID, ((1, 0), (2, 1))]))
        out = draw(st.integers(1, 3))
        plans.append((channels, out, size, strides, padding, draw(st.booleans())))
        probe = objax.nn.Conv2D(channels, out, size, strides=strides, padding=padding)
        shaped = jax.eval_shape(probe, jax.ShapeDtypeStruct((1, channels, height, width), jnp.float32))
        channels, height, width = shaped.shape[1:]
    activation = draw(st.sampled_from([RELU, objax.functional.tanh, jnp.sin]))

    def build():
        layers = [ChannelsFirst()]
        for plan in plans:
            if len(plan) == 2:
                layers.append(MaxPool2D(*plan))
            else:
                nin, nout, size, strides, padding, bias = plan
                layers.append(
                    objax.nn.Conv2D(nin, nout, size, strides=strides, padding=padding, use_bias=bias)
                )
                layers.append(activation)
        return objax.nn.Sequential([objax.nn.Sequential(layers), Flatten(), objax.nn.Linear(flat, CLASSES)])

    flat = channels * height * width
    return shape, build


@settings(max_examples=6, deadline=None, derandomize=True)
@given(image_stacks(), st.integers(0, 99))
def test_agrees_on_drawn_stacks_of_images(stack, seed):
    shape, build = stack
    with in_double_precision():
        model = from_objax(build)
        compare(model, drawn(model, shape, 5, seed), chunk=3)


@pytest.mark.parametrize(
    "layer",
    [
        objax.nn.Conv2D(2, 4, 3, groups=2),
        objax.nn.Conv2D(2, 4, 2, dilations=2),
        objax.nn.ConvTranspose2D(2, 4, 2),
    ],
    ids=["grouped", "dilated", "transposed"],
)
def test_forms_the_gradients_of_layers_it_does_not_know(layer):
    def build():
        head = [RELU, lambda x: x.mean((2, 3)), objax.nn.Linear(4, CLASSES)]
        return objax.nn.Sequential([objax.nn.Conv2D(2, 2, 2), layer, *head])

    with in_double_precision():
        model = from_objax(build)
        compare(model, drawn(model, (2, 6, 6), 5))


def test_long_sequences_by_gram_matrices():
    """Few positions and wide layers: norms without gradients."""

    def build():
        return objax.nn.Sequential([objax.nn.Linear(40, 50), RELU, Flatten(), objax.nn.Linear(100, CLASSES)])

    with in_double_precision():
        model = from_objax(build)
        compare(model, drawn(model, (2, 40), 5))


@pytest.mark.parametrize("name", MODELS)
def test_a_gradient_that_is_not_finite_adds_nothing(name):
    with in_double_precision():
        model = MODELS[name](SHAPES[name], CLASSES)
        params, inputs, labels, weights = drawn(model, SHAPES[name], 8)
        spoilt = inputs.copy()
        spoilt[1], spoilt[2] = np.nan, np.inf
        engines = [compiled(f(model, cross_entropy, 0.7)) for f in (book_keeping, vmap_grad)]
        clean = engines[1](params, inputs, labels, np.where(np.isin(np.arange(8), [1, 2]), 0.0, weights))
        for engine in engines:
            result = engine(params, spoilt, labels, weights)
            assert int(result.nonfinite) == 2
            assert_same(result._replace(nonfinite=clean.nonfinite), clean)


def test_every_example_moves_the_sum_by_at_most_the_clipping_norm():
    with in_double_precision():
        model = MODELS["cnn"](SHAPES["cnn"], CLASSES)
        params, inputs, labels, _ = drawn(model, SHAPES["cnn"], 6)
        engine = compiled(book_keeping(model, cross_entropy, 0.01))
        total, _ = jax.vmap(lambda weights: engine(params, inputs, labels, weights))(jnp.eye(6))
        norms = jnp.sqrt(sum(jnp.sum(t**2, range(1, t.ndim)) for t in total.values()))
        np.testing.assert_allclose(norms, 0.01, rtol=1e-9)


def test_same_under_vmap_map_and_shard_map():
    model = MODELS["fully_connected"](SHAPES["fully_connected"], CLASSES)
    with in_double_precision():
        several = [drawn(model, SHAPES["fully_connected"], 12, seed) for seed in range(4)]
        stacked = jax.tree.map(lambda *x: np.stack(x), *several)
        engine = book_keeping(model, cross_entropy, 0.7, chunk=5)
        expected = [compiled(engine)(*one) for one in several]
        mapped = functools.partial(jax.lax.map, lambda one: engine(*one))
        split = PartitionSpec("trials")
        mesh = Mesh(np.asarray(jax.devices()[:4]), ("trials",))
        sharded = jax.shard_map(mapped, mesh=mesh, in_specs=(split,), out_specs=split)
        for together in (lambda batch: jax.vmap(engine)(*batch), mapped, sharded):
            result = compiled(together)(stacked)
            for i, one in enumerate(expected):
                assert_same(jax.tree.map(lambda x, i=i: x[i], result), one)


@pytest.mark.parametrize("engine", ["book_keeping", "vmap_grad"])
def test_padding_adds_nothing(engine):
    """Few examples, or none, in a batch that holds many chunks."""
    model = MODELS["fully_connected"](SHAPES["fully_connected"], CLASSES)
    params, inputs, labels, _ = drawn(model, SHAPES["fully_connected"], 20)
    weights = np.repeat([1.0, 0.0], [3, 17])
    chosen = compiled(choose_engine(model, cross_entropy, 1.0, engine, chunk=4))
    result = chosen(params, inputs, labels, weights)
    few = compiled(vmap_grad(model, cross_entropy, 1.0))(params, inputs[:3], labels[:3], weights[:3])
    assert_same(result, few, tolerance=1e-5)
    nobody = chosen(params, inputs, labels, 0 * weights)
    assert all(not np.any(t) for t in nobody.total.values())


def test_the_automatic_choice():
    assert is_stack(MODELS["cnn"](SHAPES["cnn"], CLASSES))
    linear = objax.nn.Linear(3, 3)
    assert not is_stack(from_objax(lambda: objax.nn.Sequential([linear, RELU, linear])))
    anything = Model(lambda key: {"w": jnp.ones((3, 2))}, lambda p, x: x @ p["w"])
    assert not is_stack(anything)
    batch = ({"w": jnp.ones((3, 2))}, jnp.ones((4, 3)), jnp.zeros(4, int), jnp.ones(4))
    total, _ = choose_engine(anything, cross_entropy, 0.5)(*batch)
    assert math.isclose(float(jnp.linalg.norm(total["w"])), 4 * 0.5, rel_tol=1e-5)


def test_refuses_what_it_cannot_train():
    anything = Model(lambda key: (), lambda p, x: x)
    with pytest.raises(ValueError, match=r"model must be an objax\.nn\.Sequential .* got NoneType"):
        choose_engine(anything, cross_entropy, 1.0, "book_keeping")
    with pytest.raises(ValueError, match=r"engine must be auto, book_keeping or vmap_grad, got 'fast'"):
        choose_engine(anything, cross_entropy, 1.0, "fast")


@pytest.mark.parametrize(("name", "shape"), [("cnn", (14, 14, 2)), ("fully_connected", (9,))])
def test_fast_forward_pass_and_example_gradient_equal_the_plain_ones(name, shape):
    """To 1e-12 in float64, and so is the derivative of the gradient's size with respect to the input."""
    with in_double_precision():
        model = MODELS[name](shape, 4)
        params = jax.tree.map(lambda p: p.astype(jnp.float64), model.init(jax.random.key(0)))
        inputs = jax.random.uniform(jax.random.key(1), (3, *shape), jnp.float64)
        np.testing.assert_allclose(
            fast_model(model).apply(params, inputs), model.apply(params, inputs), rtol=0, atol=1e-12
        )

        def plain(params, x, y):
            return jax.grad(lambda p: cross_entropy(model.apply(p, x[None])[0], y))(params)

        def size(gradient):
            return lambda x: sum((leaf**2).sum() for leaf in gradient(params, x, jnp.int32(2)).values())

        ours = example_gradient(model, cross_entropy)
        for part, expected in plain(params, inputs[0], jnp.int32(2)).items():
            np.testing.assert_allclose(
                ours(params, inputs[0], jnp.int32(2))[part], expected, rtol=0, atol=1e-12
            )
        slopes = [jax.grad(size(gradient))(inputs[0]) for gradient in (ours, plain)]
        np.testing.assert_allclose(*slopes, rtol=0, atol=1e-12)
