"""The attacks by name: without the release, by projection alone, and by projection and posterior sampling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from ...train.tabular.marginals import NoisyMarginals
from .posterior import Gibbs, sample_posterior
from .prior import Knowledge
from .projection import Projection, project


def reconstruct(
    released: Float[np.ndarray, "games cells"],
    mechanism: NoisyMarginals,
    knowledge: Sequence[Knowledge],
    projection: Projection | None = None,
    gibbs: Gibbs | None = None,
    seed: int = 0,
) -> dict[str, Int[np.ndarray, "games n d"]]:
    """Every attack's guesses of all targets' unknown attributes, in several games at once.

    `prior` is the best guess without the release, `projection` uses the marginals alone, `posterior` both together.

    Args:
        released: the noisy marginals of one table per game, whose records are the game's targets. Other records whose
            values are known are subtracted beforehand.
        mechanism: how they were made; its noise is public.
        knowledge: one per game, all of as many targets with the same unknown attributes.

    Raises:
        ValueError: games of different shape, or marginals of the wrong number of cells.
    """
    unknown, cells = knowledge[0].unknown, mechanism.marginals.cells
    if any(found.unknown != unknown for found in knowledge):
        raise ValueError(
            f"knowledge must be of the same unknown attributes in all games, got {unknown} and others"
        )
    if np.shape(released) != (len(knowledge), cells):
        raise ValueError(f"released must be [{len(knowledge)}, {cells}], got {list(np.shape(released))}")
    projected = project(released, mechanism.marginals, knowledge, projection or Projection(), seed)
    sampled = sample_posterior(released, mechanism, knowledge, projected, gibbs or Gibbs(), seed)
    values = knowledge[0].values
    prior = np.stack([found.best_guess for found in knowledge])
    return {"prior": prior, "projection": values[projected], "posterior": values[sampled]}
