"""GPT-2 (Radford et al. 2019) as an Objax Sequential that book-keeping can train."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import objax
from jaxtyping import Array, Float

from ..functional import Model, from_objax
from ..layers import Embedding, LayerNorm, Residual
from .attention import CausalAttention, gelu


@dataclass(frozen=True)
class GPT2Config:
    """Sizes of a GPT-2; the defaults are those of the published small one.

    Attributes:
        vocab_size: number of tokens.
        context: number of positions.
        width: of the hidden states; the inner layer of each block is four times as wide.
        blocks: each attention, then two dense layers.
        heads: attention heads of a block.
        epsilon: of the layer normalisations.
        spread: standard deviation of the weights drawn for dense layers and tokens.
    """

    vocab_size: int = 50_257
    context: int = 1024
    width: int = 768
    blocks: int = 12
    heads: int = 12
    epsilon: float = 1e-5
    spread: float = 0.02

    def __post_init__(self):
        if self.width % self.heads:
            raise ValueError(f"width must be a multiple of heads ({self.heads}), got {self.width}")


class Positions(objax.Module):
    """Adds a trained vector for each position."""

    def __init__(self, context: int, width: int):
        self.w = objax.TrainVar(objax.random.normal((context, width), stddev=0.01))

    def __call__(self, values: Float[Array, "b t n"]) -> Float[Array, "b t n"]:
        return values + self.w.value[: values.shape[1]]


def gpt2(config: GPT2Config) -> Model:
    """The network; `apply` maps tokens `[b, t]` to logits `[b, t, vocab_size]`.

    The published model uses the token table again as its head. Here the head is a layer of its own that starts as
    a copy of the table: the same logits, but fine-tuning moves the two apart, and no weights are shared between
    layers, as book-keeping needs it.

    >>> import jax
    >>> params = gpt2(GPT2Config(256, context=64, width=128, blocks=5, heads=4)).init(jax.random.key(0))
    >>> sum(leaf.size for leaf in params.values())
    1065344
    """
    return from_objax(functools.partial(_network, config))


def _network(config: GPT2Config) -> objax.nn.Sequential:
    halves = [half for _ in range(config.blocks) for half in _block(config)]
    return objax.nn.Sequential(
        [
            Embedding(config.vocab_size, config.width, config.spread),
            Positions(config.context, config.width),
            *halves,
            LayerNorm(config.width, config.epsilon),
            _dense(config.width, config.vocab_size, config.spread, bias=False),
        ]
    )


def _block(config: GPT2Config) -> tuple[Residual, Residual]:
    """Attention, then the two dense layers, each in its residual branch behind a normalisation."""
    width = config.width
    spread = config.spread
    quiet = (
        spread * (2 * config.blocks) ** -0.5
    )  # branches add up: GPT-2 draws what leads out of them smaller
    attention = [_dense(width, 3 * width, spread), CausalAttention(config.heads), _dense(width, width, quiet)]
    inner = [_dense(width, 4 * width, spread), gelu, _dense(4 * width, width, quiet)]
    first, second = (
        Residual(objax.nn.Sequential([LayerNorm(width, config.epsilon), *layers]))
        for layers in (attention, inner)
    )
    return first, second


def _dense(fan_in: int, fan_out: int, spread: float, bias: bool = True) -> objax.nn.Linear:
    draw = functools.partial(objax.random.normal, stddev=spread)
    return objax.nn.Linear(fan_in, fan_out, use_bias=bias, w_init=draw)


def published_names(model: Model) -> dict[str, str]:
    """Name of each parameter -> name of its tensor in Hugging Face's `gpt2` (the head: of the token table)."""
    layers = list(model.module)
    places = [("wte", layers[0].w, "weight"), ("wpe", layers[1].w, "weight")]
    for i, (attention, inner) in enumerate(zip(layers[2:-2:2], layers[3:-2:2], strict=True)):
        norm, projection, _, out = attention.inner
        places += _places(f"h.{i}.ln_1", norm) + _places(f"h.{i}.attn.c_attn", projection)
        places += _places(f"h.{i}.attn.c_proj", out)
        norm, wide, _, out = inner.inner
        places += _places(f"h.{i}.ln_2", norm) + _places(f"h.{i}.mlp.c_fc", wide)
        places += _places(f"h.{i}.mlp.c_proj", out)
    places += [*_places("ln_f", layers[-2]), ("wte", layers[-1].w, "weight")]
    names = {id(var): name for name, var in model.module.vars().items()}
    return {names[id(var)]: f"{place}.{kind}" for place, var, kind in places}


def _places(place: str, layer: LayerNorm | objax.nn.Linear) -> list[tuple[str, objax.TrainVar, str]]:
    pair = (layer.scale, layer.shift) if isinstance(layer, LayerNorm) else (layer.w, layer.b)
    return [(place, var, kind) for var, kind in zip(pair, ("weight", "bias"), strict=True)]
