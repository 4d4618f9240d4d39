"""Secrets of any prior, guessed with any rule of success: the certified success bound, inverted."""

import numbers
from collections.abc import Callable, Sequence

import numpy as np

from privacy_audit.bounds.priors import Prior, as_targets
from privacy_audit.bounds.success import success_bound
from privacy_audit.estimate.families import Family
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.scores import check_level
from privacy_audit.estimate.search import last_refuted


def one_run_secrets(
    guesses: Sequence,
    secrets: Sequence,
    priors: Prior | Sequence[Prior],
    *,
    family: Family,
    delta: float,
    confidence: float = 0.95,
    guessed: Sequence[bool] | None = None,
    match: Callable[[object, object], bool] | None = None,
) -> Estimate:
    """Lower bound on ε from one run in which secrets were drawn independently and then guessed.

    Holds for unequal priors, several candidates a guess and approximate matches: whatever `priors` say about
    the chance of success without the run. A uniform prior shared by all gets the optimal bound, anything else
    the certified one.

    Args:
        guesses: What was guessed, one entry a secret; None abstains.
        secrets: What was true.
        priors: One prior a secret, or one for all.
        family: What the mechanism is assumed to be, with the adjacency of the priors' game.
        delta: δ at which ε is stated.
        confidence: Coverage of `epsilon_lower`.
        guessed: Which secrets are guessed, fixed before the run; the others are left out on both sides.
            Required if any guess is None, since a set chosen by the output voids the bound.
        match: Whether a guess counts as right; equality when left out. The priors must be those of the match.

    Raises:
        ValueError: on unequal lengths, or abstentions that were not fixed beforehand.
    """
    check_level(delta, confidence)
    if isinstance(priors, Prior):
        priors = [priors] * len(secrets)
    elif isinstance(priors, numbers.Real):
        raise ValueError(f"priors must be a prior, or one a secret, got {priors}")
    priors = list(priors)
    if not 0 < len(secrets) == len(guesses) == len(priors):
        raise ValueError(
            f"guesses, secrets and priors must agree in length and not be empty, "
            f"got {len(guesses)}, {len(secrets)} and {len(priors)}"
        )
    kept = _kept(guesses, guessed)
    match = _equal if match is None else match
    correct = sum(bool(match(guesses[i], secrets[i])) for i in kept)
    used = [priors[i] for i in kept]
    method = "optimal" if as_targets(used).uniform is not None else "certified"

    def refuted(parameter: float) -> bool:
        return bool(success_bound(correct, family.profile(parameter), used, method) <= 1 - confidence)

    parameter = last_refuted(refuted, family.lowest, family.highest)
    return Estimate(
        method=f"one_run, {method}",
        epsilon_lower=float(family.profile(parameter).epsilon(delta)) if parameter > 0 else 0.0,
        delta=delta,
        confidence=confidence,
        valid=True,
        assumptions=(
            "the secrets were drawn independently from distributions that the priors describe",
            "which secrets are guessed was fixed before the run",
            f"the mechanism is one of {family.name}",
        ),
        details={"correct": correct, "guesses": len(kept), "canaries": len(secrets)},
    )


def _kept(guesses: Sequence, guessed: Sequence[bool] | None) -> list[int]:
    abstained = [i for i, guess in enumerate(guesses) if guess is None]
    if guessed is None:
        if abstained:
            raise ValueError(
                f"guessed must name the secrets guessed, fixed before the run, got abstention at {abstained[0]}"
            )
        return list(range(len(guesses)))
    if len(guessed) != len(guesses):
        raise ValueError(f"guessed must have one entry a secret ({len(guesses)}), got {len(guessed)}")
    if not np.isin(guessed, (0, 1)).all():
        raise ValueError(f"guessed must be booleans, one a secret, got {list(guessed)[:3]} …")
    kept = np.flatnonzero(np.asarray(guessed, bool)).tolist()
    missing = sorted(set(kept) & set(abstained))
    if missing or not kept:
        raise ValueError(f"guessed must select secrets with a guess, at least one, got none at {missing[:3]}")
    return kept


def _equal(guess, secret) -> bool:
    return guess == secret
