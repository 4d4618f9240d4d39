"""Plays the kinds of secrets one after the other, one file each; a run that is stopped goes on from there."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from typing import Any

from etils import epath

from privacy_audit.ledger import write_json
from privacy_audit.report.document import hardware, versions
from privacy_audit.reproduce.adversary_aware.larger.game import play
from privacy_audit.reproduce.adversary_aware.larger.settings import OURS, Settings
from privacy_audit.reproduce.adversary_aware.stored import read_stored
from privacy_audit.train.language.pretrained import Pretrained
from privacy_audit.train.language.smollm2 import load_smollm2

WHAT = "files of these settings"


def run(
    settings: Settings,
    out: epath.Path,
    seed: int,
    say: Callable[[str], None],
    load: Callable[[], Pretrained] = load_smollm2,
) -> dict[str, Any]:
    """Plays what `out` does not hold yet.

    Returns:
        Every kind with the settings, versions and hardware, as strict JSON values.

    Raises:
        ImportError: naming what to install.
        ValueError: `out` holds files of other settings; nothing is written then.
    """
    relevant = _plain(settings) | {"seed": seed}
    relevant.pop("kinds")
    identity = hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()
    paths = {kind: out / f"{kind}.json" for kind in settings.kinds}
    found = {kind: read_stored(path, identity, WHAT) for kind, path in paths.items()}
    whole = load() if None in found.values() else None
    for kind, path in paths.items():
        if found[kind] is None:
            found[kind] = {"identity": identity, **play(kind, whole, settings, seed, say)}
            out.mkdir(parents=True, exist_ok=True)
            write_json(path, found[kind])
    return {
        "settings": _plain(settings),
        "ours": OURS,
        "seed": seed,
        "kinds": found,
        "seconds": round(sum(_seconds(kind) for kind in found.values()), 1),
        "versions": versions(),
        "hardware": hardware(),
    }


def cost(settings: Settings) -> str:
    """What a scale plays, in one line."""
    steps = " and ".join(str(run.steps) for run in settings.runs)
    return (
        f"larger model: for each of {len(settings.kinds)} kinds of secrets, fine-tunings of {steps} steps on "
        f"{settings.targets} canaries; half an hour on two shared cores at desk scale, 3 GB of memory"
    )


def _plain(settings: Settings) -> dict[str, Any]:
    """ε = ∞ as a word, since strict JSON has no such number."""
    runs = [run._asdict() | {"epsilon": f"{run.epsilon:g}"} for run in settings.runs]
    return dataclasses.asdict(settings) | {"runs": runs}


def _seconds(kind: dict[str, Any]) -> float:
    return kind["seconds_attack"] + sum(run["seconds_training"] for run in kind["runs"])
