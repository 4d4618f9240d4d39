"""GPT-2 against `transformers`, by book-keeping and by vmap(grad), and what is refused."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from privacy_audit.train.bookkeeping import book_keeping
from privacy_audit.train.language.bpe import byte_alphabet
from privacy_audit.train.language.gpt2 import GPT2Config, gpt2
from privacy_audit.train.language.published import load_gpt2
from privacy_audit.train.language.texts import next_token_loss

SMALL = GPT2Config(300, context=24, width=32, blocks=1, heads=4)


@pytest.fixture(scope="module")
def peer():
    transformers = pytest.importorskip("transformers", reason="optional extra: transformers")
    torch = pytest.importorskip("torch", reason="optional extra: torch")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=300, n_positions=24, n_embd=32, n_layer=3, n_head=4, initializer_range=0.3
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    for (
        name,
        parameter,
    ) in model.named_parameters():  # biases and norms start at 0 and 1: a swap would not show
        if name.endswith("bias") or ".ln_" in name:
            parameter.data += 0.2 * torch.randn_like(parameter)
    return model


@pytest.fixture(scope="module")
def folder(peer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2")
    peer.save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps({c: i for i, c in enumerate(byte_alphabet())}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return folder


def test_logits_are_those_of_transformers(peer, folder):
    import torch

    tokens = np.random.default_rng(0).integers(0, 300, (5, 24))
    language = load_gpt2(folder)
    ours = jax.jit(language.model.apply)(language.params, language.front(jnp.asarray(tokens)))
    with torch.no_grad():
        theirs = peer(torch.from_numpy(tokens)).logits.numpy()
    assert np.std(theirs) > 1
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_names_every_missing_tensor(folder, tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    tensors = safetensors.load_file(folder / "model.safetensors")
    kept = {name: t for name, t in tensors.items() if "h.1.ln_2" not in name}
    safetensors.save_file(kept, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"missing: h\.1\.ln_2\.bias, h\.1\.ln_2\.weight$"):
        load_gpt2(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "merges.txt", "model.safetensors"])
def test_names_a_missing_file(folder, tmp_path, name):
    for file in folder.iterdir():
        if file.name != name:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ValueError, match="must be in the|must hold a") as caught:
        load_gpt2(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def small():
    model = gpt2(SMALL)
    drawn = jax.jit(model.init)(jax.random.key(0))
    return model, jax.tree.map(lambda p: 5 * p, drawn)


def test_what_follows_a_position_does_not_change_it(small):
    model, params = small
    tokens = np.random.default_rng(1).integers(0, 300, (2, 24))
    changed = tokens.copy()
    changed[:, 10:] = 0
    apply = jax.jit(model.apply)
    logits = [apply(params, jnp.asarray(x)) for x in (tokens, changed)]
    np.testing.assert_allclose(logits[0][:, :10], logits[1][:, :10], atol=1e-6)
    assert not np.allclose(logits[0][:, 10], logits[1][:, 10])


def test_clipped_sum_is_that_of_the_gradients_one_by_one(small):
    model, params = small
    tokens = jnp.asarray(np.random.default_rng(2).integers(0, 300, (6, 12)))
    labels = jnp.where(jnp.arange(12) < 9, jnp.roll(tokens, -1, 1), -1)
    weights = np.array([1.0, 1, 1, 1, 1, 0], np.float32)

    def loss(params, row, label):
        return next_token_loss(model.apply(params, row[None])[0], label)

    each = jax.jit(jax.vmap(jax.grad(loss), (None, 0, 0)))(params, tokens, labels)
    norms = np.sqrt(sum(np.sum(np.square(g), tuple(range(1, g.ndim))) for g in each.values()))
    scale = weights * np.minimum(1, 0.5 / norms)
    ours = jax.jit(book_keeping(model, next_token_loss, 0.5))(params, tokens, labels, weights)
    for name, gradients in each.items():
        np.testing.assert_allclose(ours.total[name], np.tensordot(scale, gradients, 1), atol=2e-5)
