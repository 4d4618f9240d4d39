"""Llama's architecture and its files against `transformers`, the tokenizer against `tokenizers`; what is refused."""

import types

import jax
import numpy as np
import pytest

from privacy_audit.train.language.bpe import byte_alphabet
from privacy_audit.train.language.gguf_file import GGUF
from privacy_audit.train.language.last_blocks import last_blocks
from privacy_audit.train.language.llama import Block, Shape, Weights
from privacy_audit.train.language.smollm2 import load_smollm2, read_tokenizer

gguf = pytest.importorskip("gguf", reason="optional extra: pip install 'privacy-audit[language]'")
pytest.importorskip("regex", reason="optional extra: pip install 'privacy-audit[language]'")

SHAPE = Shape(
    vocab_size=300, context=64, blocks=3, width=96, hidden=64, heads=6, groups=2, base=500.0, epsilon=1e-5
)
MERGES = ["Ġ a", "t h", "th e", "Ġ the", "1 2", "Ġ 3", "Ġ Ġ"]
SYMBOLS = ["<|endoftext|>", *sorted(byte_alphabet()), *("".join(merge.split(" ")) for merge in MERGES)]


def sides(shape: Shape) -> dict[str, tuple[int, int]]:
    """[fan out, fan in] of each dense layer of a block, named as in the file."""
    shared, width, hidden = shape.groups * shape.head_width, shape.width, shape.hidden
    attention = {"attn_q": (width, width), "attn_k": (shared, width), "attn_v": (shared, width)}
    mlp = {"ffn_gate": (hidden, width), "ffn_up": (hidden, width), "ffn_down": (width, hidden)}
    return attention | {"attn_output": (width, width)} | mlp


def drawn(shape: Shape) -> dict[str, np.ndarray]:
    """Random tensors under the file's names, queries and keys as Hugging Face orders their rows."""
    rng = np.random.default_rng(0)
    tensors = {"token_embd.weight": rng.normal(size=(shape.vocab_size, shape.width))}
    tensors["output_norm.weight"] = rng.uniform(0.5, 1.5, shape.width)
    for i in range(shape.blocks):
        for name, size in sides(shape).items():
            tensors[f"blk.{i}.{name}.weight"] = rng.normal(size=size) * size[1] ** -0.5
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"blk.{i}.{name}.weight"] = rng.uniform(0.5, 1.5, shape.width)
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def converted(name: str, tensor: np.ndarray, shape: Shape) -> np.ndarray:
    """Row 2i + j of a head in the file is row i + j·n/2 of the published one (llama.cpp's converter)."""
    heads = {"attn_q": shape.heads, "attn_k": shape.groups}.get(name.split(".")[-2])
    if heads is None:
        return tensor
    half = shape.head_width // 2
    order = [h * 2 * half + i + j * half for h in range(heads) for i in range(half) for j in (0, 1)]
    return tensor[order]


def write(path, tensors, shape=SHAPE, architecture="llama", quantized=None):
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.blocks)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.groups)
    writer.add_rope_freq_base(shape.base)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_vocab_size(shape.vocab_size)
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(SYMBOLS)
    writer.add_token_merges(MERGES)
    writer.add_unk_token_id(0)
    for name, tensor in tensors.items():
        stored = converted(name, tensor, shape)
        if quantized is not None and stored.ndim == 2:
            writer.add_tensor(name, gguf.quants.quantize(stored, quantized), raw_dtype=quantized)
        else:
            writer.add_tensor(name, stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write(tmp_path_factory.mktemp("llama") / "tiny.gguf", drawn(SHAPE))


def logits(model, tokens):
    return np.asarray(model.model.apply(model.params, model.front(tokens)))


TOKENS = np.random.default_rng(1).integers(SHAPE.vocab_size, size=(3, 9))


def test_logits_equal_those_of_transformers(file):
    torch = pytest.importorskip("torch", reason="optional extra: torch")
    transformers = pytest.importorskip("transformers", reason="optional extra: transformers")
    config = transformers.LlamaConfig(
        vocab_size=SHAPE.vocab_size,
        hidden_size=SHAPE.width,
        intermediate_size=SHAPE.hidden,
        num_hidden_layers=SHAPE.blocks,
        num_attention_heads=SHAPE.heads,
        num_key_value_heads=SHAPE.groups,
        rms_norm_eps=SHAPE.epsilon,
        rope_parameters={"rope_type": "default", "rope_theta": SHAPE.base},
        rope_theta=SHAPE.base,
        tie_word_embeddings=True,
    )
    peer = transformers.LlamaForCausalLM(config).eval()
    places = {
        "attn_q": "self_attn.q_proj",
        "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj",
        "ffn_gate": "mlp.gate_proj",
        "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
        "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
    }
    published = {}
    for name, tensor in drawn(SHAPE).items():
        if name.startswith("blk."):
            _, i, kind, _ = name.split(".")
            name = f"model.layers.{i}.{places[kind]}.weight"
        name = {
            "token_embd.weight": "model.embed_tokens.weight",
            "output_norm.weight": "model.norm.weight",
        }.get(name, name)
        published[name] = torch.from_numpy(tensor)
    missing, unexpected = peer.load_state_dict(published, strict=False)
    assert missing in ([], ["lm_head.weight"])
    assert not unexpected
    with torch.no_grad():
        expected = peer(torch.from_numpy(TOKENS)).logits.numpy()
    assert np.std(expected) > 1
    np.testing.assert_allclose(logits(load_smollm2(file).language(2), TOKENS), expected, rtol=0, atol=1e-4)


def test_what_is_frozen_does_not_change_the_model(file):
    few, all_ = (load_smollm2(file).language(count) for count in (1, 3))
    np.testing.assert_allclose(logits(few, TOKENS), logits(all_, TOKENS), rtol=0, atol=1e-4)
    sizes = [sum(leaf.size for leaf in jax.tree.leaves(model.params)) for model in (few, all_)]
    assert sizes[1] == 3 * sizes[0]


def test_what_follows_a_position_does_not_change_it(file):
    model = load_smollm2(file).language(2)
    filled = TOKENS.copy()
    filled[:, 5:] = 0
    np.testing.assert_allclose(logits(model, filled)[:, :5], logits(model, TOKENS)[:, :5], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("kind", "levels"), [("Q4_1", 15), ("Q8_0", 254)])
def test_quantized_numbers_are_the_nearest_levels(tmp_path, kind, levels):
    """Blocks of 32 numbers, each spread over so many steps (Q8_0's are symmetric about 0); scales have 11 bits."""
    tensors = {"token_embd.weight": drawn(SHAPE)["token_embd.weight"]}
    path = write(tmp_path / "q.gguf", tensors, quantized=gguf.GGMLQuantizationType[kind])
    expected, read = tensors["token_embd.weight"], GGUF(path).tensor("token_embd.weight")
    blocks = expected.reshape(-1, 32)
    span = np.ptp(blocks, 1) if kind == "Q4_1" else 2 * np.abs(blocks).max(1)
    distance = np.abs(read.reshape(-1, 32) - blocks).max(1)
    assert (distance <= span / levels * 0.5 + 2e-3 * span).all()


def test_tokens_are_those_of_tokenizers(file):
    tokenizers = pytest.importorskip("tokenizers", reason="optional extra: tokenizers")
    merges = [tuple(merge.split(" ")) for merge in MERGES]
    vocabulary = {symbol: i for i, symbol in enumerate(SYMBOLS)}
    peer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    split = tokenizers.pre_tokenizers
    peer.pre_tokenizer = split.Sequence([split.Digits(True), split.ByteLevel(add_prefix_space=False)])
    ours = read_tokenizer(GGUF(file).metadata)
    rng = np.random.default_rng(2)
    texts = ["".join(rng.choice([*"the 123a  é½٣", "\n"], 12)) for _ in range(300)] + ["", "12", "  3 the"]
    for text in texts:
        assert ours.encode(text) == peer.encode(text).ids, repr(text)
        assert ours.decode(ours.encode(text)) == text
    assert ours.encode("12") == [*ours.encode("1"), *ours.encode("2")]


def test_a_byte_without_a_token_is_unknown(file):
    fields = {"tokenizer.ggml.pre": "smollm", "tokenizer.ggml.unknown_token_id": 0}
    fields |= {"tokenizer.ggml.tokens": ["<|endoftext|>", "a"], "tokenizer.ggml.merges": []}
    tokenizer = read_tokenizer(fields.__getitem__)
    assert tokenizer.encode("a?a") == [1, 0, 1]
    assert tokenizer.decode([1, 0]) == "a<|endoftext|>"


def test_bad_files_are_refused_in_one_line(tmp_path, file):
    tensors = drawn(SHAPE)
    short = {name: tensor for name, tensor in tensors.items() if name != "blk.1.ffn_up.weight"}
    wrong = tensors | {"output_norm.weight": np.ones(5, np.float32)}
    (tmp_path / "cut.gguf").write_bytes(file.read_bytes()[:4000])
    cases = {
        r"tensors of .* must have blk\.1\.ffn_up\.weight": write(tmp_path / "short.gguf", short),
        r"head must be the embedding's transpose, got a tensor output\.weight": write(
            tmp_path / "head.gguf", tensors | {"output.weight": tensors["token_embd.weight"]}
        ),
        r"output_norm\.weight must have shape \(96,\), got \(5,\)": write(tmp_path / "wrong.gguf", wrong),
        r"general\.architecture must be 'llama', got 'gpt2'": write(
            tmp_path / "a.gguf", {}, architecture="gpt2"
        ),
        r"path must be that of a \.gguf file": tmp_path / "nothing.gguf",
        r"path must be that of a whole \.gguf file": tmp_path / "cut.gguf",
    }
    for message, path in cases.items():
        with pytest.raises(ValueError, match=message) as raised:
            load_smollm2(path)
        assert "\n" not in str(raised.value)


def test_refuses_to_train_no_block_or_too_many():
    weights = Weights(*(np.zeros(1), Block(*(np.zeros((3, 1)),) * 6), np.zeros(1)))
    for count in (0, 4):
        with pytest.raises(
            ValueError, match=f"trained must be between 1 and the model's 3 blocks, got {count}"
        ):
            last_blocks(SHAPE, weights, types.SimpleNamespace(), count)
