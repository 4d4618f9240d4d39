"""Published GPT-2 weights: a folder or hub name with config.json, safetensors and the tokenizer's files."""

from __future__ import annotations

import json
import pathlib

import jax.numpy as jnp
import numpy as np

from ..functional import Model, Params
from .bpe import ByteLevelBPE
from .gpt2 import GPT2Config, gpt2, published_names
from .interface import LanguageModel, Tokenizer, whole

FILES = ("config.json", "*.safetensors", "vocab.json", "merges.txt")


def load_gpt2(source: str | pathlib.Path) -> LanguageModel:
    """A GPT-2 as Hugging Face publishes it, all of whose weights are fine-tuned.

    Args:
        source: a folder with config.json, *.safetensors, vocab.json and merges.txt; or a name on the hub, `gpt2`.

    Raises:
        ValueError: a file or a tensor is missing or misshapen, or the configuration is not GPT-2's.
        ImportError: naming the extra to install.
    """
    folder, config, tokenizer = find_gpt2(source)
    model = gpt2(config)
    params = read_params(model, _tensors(folder), str(source))
    return LanguageModel(whole, model, params, tokenizer, config.context)


def find_gpt2(source: str | pathlib.Path) -> tuple[pathlib.Path, GPT2Config, Tokenizer]:
    """The local folder of such a model, fetched where need be, its sizes and its tokenizer; weights are not read.

    Raises:
        ValueError, ImportError: as `load_gpt2`, but for what the tensors hold.
    """
    folder = _folder(source)
    config = read_config(folder)
    tokenizer = ByteLevelBPE.from_files(folder / "vocab.json", folder / "merges.txt")
    if tokenizer.vocab_size > config.vocab_size:
        raise ValueError(
            f"vocab.json must have at most the model's {config.vocab_size} tokens, got {tokenizer.vocab_size}"
        )
    _tensor_files(folder)
    return folder, config, tokenizer


def read_config(folder: pathlib.Path) -> GPT2Config:
    """The sizes in config.json.

    Raises:
        ValueError: it is missing, lacks a size, or asks for what GPT-2 does not do.
    """
    content = json.loads(_existing(folder / "config.json").read_text(encoding="utf-8"))
    activation = content.get("activation_function", "gelu_new")
    if content.get("model_type", "gpt2") != "gpt2" or activation != "gelu_new" or content.get("n_inner"):
        raise ValueError(
            f"config.json must be GPT-2's with gelu_new, got {content.get('model_type')}, {activation}"
        )
    keys = ("vocab_size", "n_positions", "n_embd", "n_layer", "n_head")
    missing = [key for key in keys if key not in content]
    if missing:
        raise ValueError(f"config.json must name {', '.join(keys)}, got none of {', '.join(missing)}")
    return GPT2Config(*(content[key] for key in keys), content.get("layer_norm_epsilon", 1e-5))


def read_params(model: Model, tensors: dict[str, np.ndarray], source: str) -> Params:
    """The model's parameters out of published tensors, with or without the prefix `transformer.`.

    Raises:
        ValueError: tensors are missing or have other shapes; all are named.
    """
    bare = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    wanted = published_names(model)
    missing = sorted(set(wanted.values()) - set(bare))
    if missing:
        raise ValueError(f"{source} must hold every tensor of the model, missing: {', '.join(missing)}")
    variables = model.module.vars()
    head = next(reversed(wanted))
    params = {name: bare[tensor].T if name == head else bare[tensor] for name, tensor in wanted.items()}
    for name, value in params.items():
        if value.shape != variables[name].shape:
            raise ValueError(f"{wanted[name]} must have shape {variables[name].shape}, got {value.shape}")
    return {name: jnp.asarray(value, jnp.float32) for name, value in params.items()}


def _tensors(folder: pathlib.Path) -> dict[str, np.ndarray]:
    try:
        from safetensors.numpy import load_file
    except ImportError:
        raise ImportError("safetensors is needed: pip install 'privacy-audit[language]'") from None
    return {name: tensor for file in _tensor_files(folder) for name, tensor in load_file(file).items()}


def _tensor_files(folder: pathlib.Path) -> list[pathlib.Path]:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ValueError(f"source must hold a *.safetensors file, got {folder}")
    return files


def _folder(source: str | pathlib.Path) -> pathlib.Path:
    """The local folder, or the one that the hub's files are downloaded to."""
    folder = pathlib.Path(source)
    if folder.is_dir():
        return folder
    if folder.is_absolute() or str(source).count("/") > 1:
        raise ValueError(f"source must be a folder or a name on the hub, got {source}")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise ImportError("huggingface_hub is needed: pip install 'privacy-audit[language]'") from None
    try:
        return pathlib.Path(snapshot_download(str(source), allow_patterns=list(FILES)))
    except Exception as error:  # its own exceptions changed between versions; the reason is what counts
        raise ValueError(
            f"source must be a folder or a name on the hub that can be reached, got {source} ({error})"
        ) from None


def _existing(path: pathlib.Path) -> pathlib.Path:
    if not path.is_file():
        raise ValueError(f"{path.name} must be in the model's folder, got {path.parent} without it")
    return path
