"""Plays the kinds of secrets one after the other, one file each; a run that is stopped goes on from there."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from etils import epath

from privacy_audit.attacks.secrets.priors import people
from privacy_audit.report.document import hardware, versions
from privacy_audit.reproduce.adversary_aware.larger.game import all_priors, play
from privacy_audit.reproduce.adversary_aware.larger.settings import OURS, Settings
from privacy_audit.reproduce.adversary_aware.stored import described, hash_of_arrays, identity_of, kept
from privacy_audit.train.language.pretrained import Pretrained
from privacy_audit.train.language.smollm2 import load_smollm2, read_header

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
        ValueError: `out` holds files of other settings, lists or weights; nothing is written then.
        TrainingFailed: a gradient was not finite.
    """
    whole = load()
    makers = {kind: functools.partial(play, kind, whole, settings, seed, say) for kind in settings.kinds}
    found = kept(out, identity_of_kinds(whole, settings, seed), WHAT, makers, say)
    return {
        "settings": _plain(settings),
        "ours": OURS,
        "seed": seed,
        "kinds": found,
        "seconds": round(sum(_seconds(kind) for kind in found.values()), 1),
        "versions": versions(),
        "hardware": hardware(),
    }


def identity_of_kinds(whole: Pretrained, settings: Settings, seed: int) -> str:
    """Hash of all that a kind's numbers depend on: settings, weights, tokens, and the lists of secrets and people.

    Which kinds there are is left out: each is played by itself.
    """
    relevant = _plain(settings)
    relevant.pop("kinds")
    priors, targets = all_priors(), people(settings.targets)
    tokens = {
        kind: [whole.tokenizer.encode(prior.prompt.format(who)) for who in targets]
        + [whole.tokenizer.encode(prior.ending.format(c)) for c in prior.candidates or ("0123456789",)]
        for kind, prior in priors.items()
    }
    lists = {kind: described(prior) for kind, prior in priors.items()}
    return identity_of(relevant, seed, whole.shape, lists, targets, tokens, hash_of_arrays(whole.weights))


def check(settings: Settings) -> None:
    """Raises ImportError where a list or the model is not installed, ValueError where the model is not whole."""
    all_priors()
    people(settings.targets)
    read_header()


def cost(settings: Settings) -> str:
    """What a scale plays, in one line."""
    steps = " and ".join(str(run.steps) for run in settings.runs)
    return (
        f"larger model: for each of {len(settings.kinds)} kinds of secrets, fine-tunings of {steps} steps on "
        f"{settings.targets} canaries; a quarter of an hour on two cores at desk scale, 3 GB of memory"
    )


def _plain(settings: Settings) -> dict[str, Any]:
    """ε = ∞ as a word, since strict JSON has no such number."""
    runs = [run._asdict() | {"epsilon": f"{run.epsilon:g}"} for run in settings.runs]
    return dataclasses.asdict(settings) | {"runs": runs}


def _seconds(kind: dict[str, Any]) -> float:
    return kind["seconds_attack"] + sum(run["seconds_training"] for run in kind["runs"])
