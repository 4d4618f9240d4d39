"""The likeliest values given the release: Gibbs sampling of the targets' posterior, started from a projection.

With Gaussian noise s on every count, target i has joint value x with probability proportional to

    prior_i(x)·exp(Σ_w r_i[cell of x in marginal w]/s²),    r_i = released - counts of the other targets,

because every record fills the same number of cells. The most frequent value over the kept sweeps is guessed: the best
guess for one target's exact match, as far as the chain has mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ...train.tabular.marginals import Marginals, NoisyMarginals
from .prior import Knowledge

_LEAST_PRIOR = 1e-9
_LEAST_NOISE = 0.3


@dataclass(frozen=True)
class Gibbs:
    """Options of the sampler.

    Attributes:
        sweeps: of a chain over all targets, of which the second half is kept.
        chains: from the same start, counted together.
        first_noise: a smaller noise is approached from here over the first half, so that a chain does not freeze in
            the first table that fits in part.
    """

    sweeps: int = 300
    chains: int = 8
    first_noise: float = 3.0

    def __post_init__(self):
        if self.sweeps < 2:
            raise ValueError(f"sweeps must be >= 2, got {self.sweeps}")
        if self.chains < 1:
            raise ValueError(f"chains must be >= 1, got {self.chains}")
        if not self.first_noise > 0:
            raise ValueError(f"first_noise must be > 0, got {self.first_noise}")


def sample_posterior(
    released: Float[np.ndarray, "games cells"],
    mechanism: NoisyMarginals,
    knowledge: Sequence[Knowledge],
    start: Int[np.ndarray, "games n"],
    options: Gibbs = Gibbs(),
    seed: int = 0,
) -> Int[np.ndarray, "games n"]:
    """The most frequent joint value of every target, as a place among `Knowledge.values`; games as in `project`."""
    levels = _levels(max(mechanism.noise, _LEAST_NOISE), options)
    games = [cells_of_values(mechanism.marginals, found) for found in knowledge]
    cells = jax.tree.map(lambda *parts: jnp.asarray(np.stack(parts), jnp.int32), *games)
    log_prior = np.stack([np.log(np.maximum(found.prior, _LEAST_PRIOR)) for found in knowledge])
    keys = jax.random.split(jax.random.key(seed), (len(knowledge), options.chains))
    visits = _sample(
        jnp.asarray(released, jnp.float32),
        cells,
        jnp.asarray(log_prior, jnp.float32),
        jnp.asarray(start, jnp.int32),
        keys,
        jnp.asarray(levels, jnp.float32),
    )
    return np.asarray(jnp.argmax(visits, axis=-1))


def cells_of_values(marginals: Marginals, knowledge: Knowledge) -> tuple[Int[np.ndarray, "n ..."], ...]:
    """The cells that every target would fill, one array for each set of unknown attributes that marginals share.

    An array is [n, size or 1 for each unknown attribute, marginals of the set]: 1 where the attribute is not in the
    set, so that sums over these arrays broadcast to all joint values. Marginals of known attributes alone are left out.
    """
    unknown = knowledge.unknown
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, chosen in enumerate(marginals.sets):
        groups.setdefault(tuple(a for a in unknown if a in chosen), []).append(place)
    shapes = {
        inside: [marginals.sizes[a] if a in inside else 1 for a in unknown] for inside in groups if inside
    }
    return tuple(
        _cells_of_group(marginals, knowledge, shape, groups[inside]) for inside, shape in shapes.items()
    )


def _cells_of_group(marginals, knowledge, shape: list[int], places: list[int]) -> Int[np.ndarray, "n ..."]:
    values = np.indices(shape).reshape(len(shape), -1).T
    filled = np.repeat(knowledge.codes[:, None], len(values), axis=1)
    filled[:, :, list(knowledge.unknown)] = values
    return marginals.cells_of(filled)[..., places].reshape(len(filled), *shape, len(places))


def _levels(noise: float, options: Gibbs) -> Float[np.ndarray, "sweeps"]:
    """Assumed noise of every sweep: falling to the true one, which the kept half has."""
    falling = options.sweeps - options.sweeps // 2
    first = max(options.first_noise, noise)
    return np.concatenate([np.geomspace(first, noise, falling), np.full(options.sweeps // 2, noise)])


@jax.jit
def _sample(released, cells, log_prior, start, keys, levels):
    chains = jax.vmap(_visits, in_axes=(None, None, None, None, 0, None))
    games = jax.vmap(chains, in_axes=(0, 0, 0, 0, 0, None))
    return jnp.sum(games(released, cells, log_prior, start, keys, levels), axis=1)


def _visits(released, cells, log_prior, values, key, levels):
    """How often every target had each joint value in the kept sweeps."""
    targets = jnp.arange(len(values))
    shape = jnp.broadcast_shapes(*(part.shape[1:-1] for part in cells))

    def move(rest, here, value, sign):
        """Takes the record with this value out of the counts, or puts it back."""
        places = jnp.unravel_index(value, shape)
        for part in here:
            inside = tuple(p if size > 1 else 0 for p, size in zip(places, part.shape, strict=False))
            rest = rest.at[part[inside]].add(sign)
        return rest

    def update(rest, record):
        here, prior, shaken, value, noise = record
        rest = move(rest, here, value, 1.0)
        fit = sum(jnp.sum(rest[part], axis=-1) for part in here)
        fit = jnp.broadcast_to(fit, shape).reshape(-1) / noise**2
        value = jnp.argmax(fit + prior + shaken)
        return move(rest, here, value, -1.0), value

    def sweep(carry, inputs):
        rest, values, visits = carry
        number, noise = inputs
        gumbel = jax.random.gumbel(jax.random.fold_in(key, number), log_prior.shape)
        noises = jnp.full(len(values), noise)
        rest, values = jax.lax.scan(update, rest, (cells, log_prior, gumbel, values, noises))
        kept = number >= len(levels) - len(levels) // 2
        return (rest, values, visits.at[targets, values].add(jnp.where(kept, 1.0, 0.0))), None

    start = jax.lax.scan(lambda rest, record: (move(rest, *record, -1.0), None), released, (cells, values))[0]
    carry = (start, values, jnp.zeros_like(log_prior))
    (_, _, visits), _ = jax.lax.scan(sweep, carry, (jnp.arange(len(levels)), levels))
    return visits
