"""The tokenizer against `tokenizers` on a small trained vocabulary, and what is refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy_audit.train.language.bpe import ByteLevelBPE, Bytes, byte_alphabet
from privacy_audit.train.language.texts import completions, ending_tokens

pytest.importorskip("regex", reason="optional extra: pip install 'privacy-audit[language]'")

SAMPLE = "The number of the beast is 666; it's 1000 years old, isn't it? Ünïcödé naïve — 東京 " * 20
TEXTS = st.text(max_size=60) | st.text("theanumbr 'sd0123456789\n\t.é東", max_size=60)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    tokenizers = pytest.importorskip("tokenizers", reason="optional extra: tokenizers")
    peer = tokenizers.ByteLevelBPETokenizer()
    peer.train_from_iterator([SAMPLE], vocab_size=420, min_frequency=2, show_progress=False)
    folder = tmp_path_factory.mktemp("bpe")
    peer.save_model(str(folder))
    return ByteLevelBPE.from_files(folder / "vocab.json", folder / "merges.txt"), peer


def test_tokens_are_those_of_tokenizers(pair):
    ours, peer = pair

    @settings(max_examples=300, deadline=None, derandomize=True)
    @given(TEXTS)
    def agree(text):
        tokens = ours.encode(text)
        assert tokens == peer.encode(text).ids
        assert ours.decode(tokens) == text == Bytes().decode(Bytes().encode(text))

    assert len(ours.encode(SAMPLE)) < len(SAMPLE) / 2  # it does merge
    agree()


def test_without_merges_bytes_are_left():
    alphabet = {letter: byte for byte, letter in enumerate(byte_alphabet())}
    assert ByteLevelBPE(alphabet, []).encode("is é 7") == Bytes().encode("is é 7")


def test_refuses_files_that_do_not_fit(tmp_path):
    alphabet = {letter: byte for byte, letter in enumerate(byte_alphabet())}
    with pytest.raises(ValueError, match="missing: ab$"):
        ByteLevelBPE(alphabet, [("a", "b")])
    (tmp_path / "vocab.json").write_text(json.dumps(alphabet))
    with pytest.raises(ValueError, match=r"merges\.txt must be in the tokenizer's folder"):
        ByteLevelBPE.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt")


def test_refuses_a_secret_merged_with_its_prompt():
    alphabet = {letter: byte for byte, letter in enumerate(byte_alphabet())}
    merging = ByteLevelBPE(alphabet | {"ab": 256}, [("a", "b")])
    assert ending_tokens(merging, "x", "ab") == [256]
    with pytest.raises(ValueError, match="secret must be split by the tokenizer.*'b' behind 'a'"):
        ending_tokens(merging, "a", "b")


def test_rows_and_labels():
    texts = completions(Bytes(), ["ab", "c"], ["de", "f"], 4)
    a, b, c, d, e, f = b"abcdef"
    assert texts.tokens.tolist() == [[a, b, d, 0], [c, 0, 0, 0]]
    assert texts.labels.tolist() == [[-1, d, e, -1], [f, -1, -1, -1]]
    assert completions(Bytes(), ["ab"], ["de"], 3, whole=True).labels.tolist() == [[b, d, e]]
    with pytest.raises(ValueError, match="text must have at most 3 tokens, got 4"):
        completions(Bytes(), ["ab"], ["de"], 2)
