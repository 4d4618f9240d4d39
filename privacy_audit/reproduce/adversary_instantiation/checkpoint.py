"""Where a long training stands, on disk: parameters, step and seconds, with the settings that they belong to."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from etils import epath

from privacy_audit.train.functional import Params


@dataclass(frozen=True)
class Checkpoint:
    """One file, replaced as a whole.

    Attributes:
        settings: all that the parameters depend on, as JSON values.
    """

    path: epath.Path
    settings: Mapping[str, Any]

    def save(self, params: Params, step: int, seconds: float) -> None:
        """Writes where the training stands."""
        buffer = io.BytesIO()
        leaves = {f"leaf{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(params))}
        np.savez(buffer, step=step, seconds=seconds, settings=json.dumps(self.settings), **leaves)
        temporary = self.path.parent / f".{self.path.name}.tmp"
        temporary.write_bytes(buffer.getvalue())
        temporary.replace(self.path)

    def load(self, like: Params) -> tuple[Params, int, float]:
        """Parameters shaped as `like`, the next step, and the seconds so far.

        Raises:
            ValueError: the file is of other settings.
        """
        with np.load(io.BytesIO(self.path.read_bytes())) as stored:
            settings = json.loads(str(stored["settings"])) if "settings" in stored else {}
            check_same(self.path, self.settings, settings)
            leaves = [jnp.asarray(stored[f"leaf{i}"]) for i in range(len(jax.tree.leaves(like)))]
            params = jax.tree.unflatten(jax.tree.structure(like), leaves)
            return params, int(stored["step"]), float(stored["seconds"])


def check_same(path: epath.Path, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Raises ValueError where a stored training is of other settings than those that are asked for."""
    for name, value in wanted.items():
        if found.get(name) != value:
            raise ValueError(
                f"{path} must be of {name} {value}, got {found.get(name)}; move it away to train anew"
            )
