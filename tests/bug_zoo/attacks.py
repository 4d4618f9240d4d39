"""The adversaries of the zoo: what the target contributes in each step, and how a trial is scored."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from .trainer import STEPS, C, N, ground

FAR = 100.0
"""Raw gradients are this many clipping norms long: correct clipping makes them C."""


class Attack(NamedTuple):
    """One adversary.

    Attributes:
        contributes: raw gradient `[STEPS, P]` of the target in world 1.
        instead: the same for the record in its place in world 0: zero, but in the replace-one game.
        score: released gradients `[STEPS, P]` -> scalar, higher = more likely world 1.
        sampling_rate: q of the game.
        sigma: noise multiplier of the game.
    """

    contributes: jax.Array
    instead: jax.Array
    score: Callable[[jax.Array], jax.Array]
    sampling_rate: float = 1.0
    sigma: float = 1.0


def attacks() -> dict[str, Attack]:
    """By name; every one is valid against the correct trainer."""
    g = ground()
    between = (g.leaf != g.first) & (g.leaf != g.last)
    spread = _quiet(jnp.where(g.ranks % 2 == 0, 1.0, -1.0), between)
    nothing = jnp.zeros((STEPS, spread.size))
    first = _unit(jnp.where(g.leaf == g.first, 1.0, 0.0))
    watermark = Attack(_always(FAR * spread), nothing, _projection(spread))
    return {
        "watermark": watermark,
        "watermark on the first layer": Attack(_always(FAR * first), nothing, _projection(first)),
        "watermark in step 1 against step 2": _against_the_next_step(spread),
        "watermark on one bias against another": _against_an_equal_shape(),
        "opposite of its microbatch": _opposite(),
        "length of the released gradient": Attack(
            _always(FAR * spread), nothing, lambda released: -jnp.sum(released[0] ** 2)
        ),
        "watermark, batches of half the data": watermark._replace(
            sampling_rate=0.5, sigma=0.15, score=_once(spread, 0.5, 0.15)
        ),
        "watermark or its negative": watermark._replace(instead=_always(-FAR * spread)),
    }


CATCHES = {
    "noise for the average added to the sum": "watermark",
    "mean gradient clipped, not each": "watermark",
    "clipping per microbatch": "opposite of its microbatch",
    "divided by the realised batch": "length of the released gradient",
    "noise scaled by the learning rate": "watermark",
    "one key for all parameters": "watermark on one bias against another",
    "one key for all steps": "watermark in step 1 against step 2",
    "fixed-size shuffled batches claimed as Poisson": "watermark, batches of half the data",
    "replace-one neighbours with add/remove noise": "watermark or its negative",
    "no noise on one layer": "watermark on the first layer",
    "norm taken over the last layer only": "watermark",
}
"""The adversary that each bug is vulnerable to."""


def _unit(vector):
    return vector / jnp.linalg.norm(vector)


def _quiet(vector, where):
    """The part of `vector` inside `where` that the gradients of D do not touch at the initial weights."""
    own = ground().at_start * where
    inside = vector * where
    return _unit(inside - own.T @ jnp.linalg.lstsq(own.T, inside)[0])


def _always(row):
    return jnp.tile(row, (STEPS, 1))


def _projection(direction):
    return lambda released: jnp.sum(released @ direction)


def _once(direction, rate: float, sigma: float):
    """Log-likelihood ratio of taking part in exactly one step, any of them, against in none."""

    def score(released):
        projected = N * rate * (released @ direction) / C
        return jax.nn.logsumexp((2 * projected - 1) / (2 * sigma**2))

    return score


def _against_the_next_step(direction) -> Attack:
    only_first = jnp.zeros((STEPS, direction.size)).at[0].set(FAR * direction)
    return Attack(
        only_first, jnp.zeros_like(only_first), lambda released: (released[0] - released[1]) @ direction
    )


def _against_an_equal_shape() -> Attack:
    """The watermark lies on one array; another of the same size gets the same noise where its key is reused."""
    g = ground()
    sizes = list(g.sizes)
    one, other = next(
        (i, j) for i in range(len(sizes)) for j in range(i + 1, len(sizes)) if sizes[i] == sizes[j]
    )
    flat = jnp.where(g.leaf == one, 1.0, 0.0)
    direction = _unit(flat)
    difference = direction - _unit(jnp.where(g.leaf == other, 1.0, 0.0))
    raw = _always(FAR * direction)
    return Attack(raw, jnp.zeros_like(raw), _projection(difference))


def _opposite() -> Attack:
    """Turns the clipped sum of its microbatch around: from +u to −u, twice what one example may move."""
    own = ground().at_start[-3:].sum(0)
    raw = _always(-FAR * _unit(own) * (1 + jnp.linalg.norm(own)))
    return Attack(raw, jnp.zeros_like(raw), _projection(-_unit(own)))
