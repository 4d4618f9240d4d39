"""The small model: trained once, kept whole, and better than chance on text that it has not seen."""

import numpy as np
import pytest

from privacy_audit.train.language import small
from privacy_audit.train.language.small import Form, SmallGPT2, perplexity, public_text, small_gpt2

TINY = SmallGPT2(blocks=1, width=16, heads=2, context=16, steps=40, batch=8, records=4, learning_rate=0.02)


def test_is_trained_once_and_kept(tmp_path):
    heard = []
    language = small_gpt2(TINY, tmp_path, heard.append)
    held_out = public_text()[1]
    assert (
        perplexity(language, language.params, held_out, rows=16) < 60
    )  # 256 bytes are equally likely at first
    (path,) = tmp_path.iterdir()  # nothing else is left behind
    before = path.stat().st_mtime_ns
    again = small_gpt2(TINY, tmp_path)
    assert path.stat().st_mtime_ns == before
    for name, value in language.params.items():
        np.testing.assert_array_equal(value, again.params[name])


def test_another_form_is_another_model(tmp_path, monkeypatch):
    monkeypatch.setattr(small, "_pretrained", lambda *_: {"w": np.zeros(1)})
    for forms in (
        small.DIGITS_ONLY,
        [Form("{}=", lambda generator, count: ["x"] * count)],
        small.DIGITS_ONLY,
    ):
        small_gpt2(TINY, tmp_path, forms=forms)
    assert len(list(tmp_path.iterdir())) == 2


def test_refuses_a_single_step():
    with pytest.raises(ValueError, match="steps must be >= 2, got 1"):
        SmallGPT2(steps=1)
