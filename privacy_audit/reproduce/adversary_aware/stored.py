"""What a part keeps in its folder, one file a game, so that a run which is stopped goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from etils import epath

from privacy_audit.attacks.secrets.priors import SecretPrior
from privacy_audit.estimate.result import finite_or_none
from privacy_audit.ledger import write_json

Make = Callable[[], dict[str, Any]]


def kept(
    folder: epath.Path, identity: str, what: str, makers: Mapping[str, Make], say: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """What the files hold; those that are missing are made. All are read before any is made.

    Args:
        folder: of the files, which is made with the first one.
        identity: hash of all that their numbers depend on, `identity_of`.
        what: the folder should hold, as in `games of these settings`.
        makers: by file name; each returns JSON values, in which infinities and NaN become null.
        say: hears which file is made.

    Raises:
        ValueError: a file was made with another identity; nothing is written then.
    """
    paths = {name: folder / f"{name}.json" for name in makers}
    found = {name: _read(path, identity, what) for name, path in paths.items()}
    for name, make in makers.items():
        if found[name] is None:
            say(f"{name} …")
            found[name] = finite_or_none({"identity": identity, **make()})
            folder.mkdir(parents=True, exist_ok=True)
            write_json(paths[name], found[name])
    return found


def identity_of(*known: Any) -> str:
    """Hash of JSON values."""
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def hash_of_arrays(tree: Any) -> str:
    """Of every array of a tree, with its place, type and shape.

    >>> hash_of_arrays({"a": np.zeros(2)}) == hash_of_arrays({"b": np.zeros(2)})
    False
    """
    digest = hashlib.sha256()
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        array = np.asarray(leaf)
        digest.update(f"{jax.tree_util.keystr(path)} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def described(prior: SecretPrior) -> list[Any]:
    """All that secrets are drawn from, as JSON values: the lists behind a prior may change with their package."""
    return [prior.prompt, prior.ending, list(prior.candidates), [float(p) for p in prior.probabilities]]


def _read(path: epath.Path, identity: str, what: str) -> dict[str, Any] | None:
    """None where the file is missing or was cut off."""
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text())
    except json.JSONDecodeError:
        return None
    if found.get("identity") != identity:
        raise ValueError(f"out must hold {what} or none, got another's {path.name}")
    return found
