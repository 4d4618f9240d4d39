"""Llama models in the GGUF format of llama.cpp, their tensors dequantised; needs the package gguf."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Container
from typing import Any

import numpy as np
from jaxtyping import Float

from .llama import Block, Shape, Weights

Tensors = Callable[[str], Float[np.ndarray, "..."]]
"""name -> the tensor as float32, a dense layer's as [fan out, fan in]"""


HEAD = "output.weight"


class GGUF:
    """A file open for reading: `metadata(key)` and `tensor(name)`, each a one-line error where it is missing.

    Raises:
        ImportError: naming the extra to install.
        ValueError: there is no such file, or it is not whole.
    """

    def __init__(self, path: str | pathlib.Path):
        try:
            import gguf
        except ImportError:
            raise ImportError("gguf is needed: pip install 'privacy-audit[language]'") from None
        if not pathlib.Path(path).is_file():
            raise ValueError(f"path must be that of a .gguf file, got {str(path)!r}")
        self.path = path
        try:
            self._reader = gguf.GGUFReader(str(path))
        except (ValueError, IndexError, OverflowError) as broken:
            raise ValueError(
                f"path must be that of a whole .gguf file, got {str(path)!r}: {broken}"
            ) from broken
        self._tensors = {tensor.name: tensor for tensor in self._reader.tensors}
        self._dequantize = gguf.quants.dequantize

    def __contains__(self, name: str) -> bool:
        """Whether there is a tensor `name`."""
        return name in self._tensors

    def metadata(self, key: str) -> Any:
        """The value that the file gives for `key`: a number, a text or a list."""
        if key not in self._reader.fields:
            raise ValueError(f"the metadata of {str(self.path)!r} must have {key}, got none")
        return self._reader.fields[key].contents()

    def tensor(self, name: str) -> Float[np.ndarray, "..."]:
        """The tensor `name`, its quantised numbers as the float32 that they stand for."""
        if name not in self._tensors:
            raise ValueError(f"the tensors of {str(self.path)!r} must have {name}, got none")
        stored = self._tensors[name]
        return self._dequantize(stored.data, stored.tensor_type)


def read_shape(metadata: Callable[[str], Any]) -> Shape:
    """The sizes in a file's metadata.

    Raises:
        ValueError: the architecture is not Llama's, or something is missing.
    """
    architecture = metadata("general.architecture")
    if architecture != "llama":
        raise ValueError(f"general.architecture must be 'llama', got {architecture!r}")
    return Shape(
        vocab_size=int(metadata("llama.vocab_size")),
        context=int(metadata("llama.context_length")),
        blocks=int(metadata("llama.block_count")),
        width=int(metadata("llama.embedding_length")),
        hidden=int(metadata("llama.feed_forward_length")),
        heads=int(metadata("llama.attention.head_count")),
        groups=int(metadata("llama.attention.head_count_kv")),
        base=float(metadata("llama.rope.freq_base")),
        epsilon=float(metadata("llama.attention.layer_norm_rms_epsilon")),
    )


def check_tied(file: Container[str]) -> None:
    """Raises ValueError where the head is a tensor of its own: our models read logits off the embedding."""
    if HEAD in file:
        raise ValueError(f"the head must be the embedding's transpose, got a tensor {HEAD} beside it")


def read_weights(tensors: Tensors, shape: Shape) -> Weights:
    """All weights in our layout, 4 bytes a number.

    Raises:
        ValueError: a tensor is missing or of another shape.
    """
    blocks = [_block(tensors, shape, f"blk.{i}.") for i in range(shape.blocks)]
    return Weights(
        embedding=_checked(tensors, "token_embd.weight", (shape.vocab_size, shape.width)),
        blocks=Block(*(np.stack(each) for each in zip(*blocks, strict=True))),
        norm=_checked(tensors, "output_norm.weight", (shape.width,)),
    )


def _block(tensors: Tensors, shape: Shape, prefix: str) -> Block:
    width, hidden, shared = shape.width, shape.hidden, shape.groups * shape.head_width

    def read(name: str, *wanted: int) -> Float[np.ndarray, "..."]:
        return _checked(tensors, f"{prefix}{name}.weight", wanted)

    queries = _halves_apart(read("attn_q", width, width), shape.heads)
    keys = _halves_apart(read("attn_k", shared, width), shape.groups)
    return Block(
        attention_norm=read("attn_norm", width),
        qkv=np.concatenate([queries, keys, read("attn_v", shared, width)]).T,
        attention_out=read("attn_output", width, width).T,
        mlp_norm=read("ffn_norm", width),
        gate_up=np.concatenate([read("ffn_gate", hidden, width), read("ffn_up", hidden, width)]).T,
        down=read("ffn_down", width, hidden).T,
    )


def _halves_apart(
    weight: Float[np.ndarray, "fan_out fan_in"], heads: int
) -> Float[np.ndarray, "fan_out fan_in"]:
    """Rows of each head as `RotaryAttention` pairs them: the file has the two of a pair side by side."""
    pairs = weight.reshape(heads, -1, 2, weight.shape[-1])
    return pairs.swapaxes(1, 2).reshape(weight.shape)


def _checked(tensors: Tensors, name: str, wanted: tuple[int, ...]) -> Float[np.ndarray, "..."]:
    found = tensors(name)
    if found.shape != wanted:
        raise ValueError(f"{name} must have shape {wanted}, got {found.shape}")
    return found
