"""Both papers on one fine-tuned model: bounds on ε from secrets guessed, from members told, and from gradients seen.

Every canary's secret is drawn, and a fair coin says whether the canary is in D. From the one trained model come
U's bound inverted (secrets of the canaries that are in, replace-one) and Steinke's (which canaries are in, add/remove).
Beside them stands L's gradient adversary against the same mechanism, which sees every step's noisy gradient: its
projection on the watermark is N(b_t, σ²) with b_t ~ Bernoulli(q), so its trials are drawn as these scalars. That is the
reduction of L's §4.6, where no other example leaks into the projection.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from privacy_audit.attacks.dataset import reduced_score
from privacy_audit.attacks.secrets.combine import COMBINE
from privacy_audit.attacks.secrets.guess import best, with_prior
from privacy_audit.estimate import clopper_pearson
from privacy_audit.estimate.families import approximate_dp_family
from privacy_audit.estimate.one_run import one_run_audit, one_run_secrets
from privacy_audit.reproduce.adversary_aware.canaries.game import (
    Table,
    key_of,
    log_ratios,
    noise_for,
    plan_of,
    profile_of,
    train,
)
from privacy_audit.reproduce.adversary_aware.canaries.settings import Settings

SEEN = "sum"
"""The adversary sees all models that were kept."""


def name_of(epsilon: float) -> str:
    """Of the run's file."""
    return f"joined-eps{epsilon:g}"


def join(table: Table, kind: str, epsilon: float, seed: int) -> dict[str, Any]:
    """All bounds on ε from one run, beside what is proven."""
    began = time.monotonic()
    settings, prior, name = table.settings, table.priors[kind], name_of(epsilon)
    generator = np.random.default_rng([seed, *name.encode()])
    secrets = prior.draw(generator, settings.targets)
    included = generator.random(settings.targets) < 0.5
    sigma = noise_for(settings, epsilon)
    models = train(table, prior, secrets, included, sigma, key_of(seed, name)).each()
    ratios = COMBINE[SEEN](log_ratios(table, prior, models))
    of_secret = ratios[np.arange(len(secrets)), [prior.candidates.index(secret) for secret in secrets]]
    ranked = best(with_prior(ratios, prior.probabilities), 1)[:, 0]
    guesses = [prior.candidates[i] for i in ranked]
    return {
        "kind": kind,
        "epsilon": f"{epsilon:g}",
        "noise_multiplier": sigma,
        "included": int(included.sum()),
        "epsilon_proven": {
            adjacency: float(profile_of(settings, sigma, adjacency).epsilon(settings.delta))
            for adjacency in ("replace_one", "add_remove")
        },
        "bounds": {
            "secrets guessed": _from_secrets(guesses, secrets, prior, included, settings),
            "members told": _from_members(of_secret - ratios.mean(axis=1), included, settings),
            "gradients seen": _from_gradients(settings, sigma, key_of(seed, f"{name}-gradients")),
        },
        "seconds": round(time.monotonic() - began, 1),
    }


def _from_secrets(guesses, secrets, prior, included, settings: Settings) -> dict[str, Any]:
    """The coins fell before the run, and tell nothing of the secrets: they may choose whose are guessed."""
    family = approximate_dp_family(settings.delta, "replace_one")
    estimate = one_run_secrets(
        guesses,
        secrets,
        prior.bound_prior(),
        family=family,
        delta=settings.delta,
        confidence=settings.confidence,
        guessed=included,
    )
    return {"adjacency": "replace_one", **estimate.to_json()}


def _from_members(scores, included, settings: Settings) -> dict[str, Any]:
    estimate = one_run_audit(
        scores, included, delta=settings.delta, confidence=settings.confidence, method="steinke"
    )
    return {"adjacency": "add_remove", **estimate.to_json()}


def _from_gradients(settings: Settings, sigma: float, key: Key[Array, ""]) -> dict[str, Any]:
    plan = replace(plan_of(settings, sigma), adjacency="add_remove")
    keys = jax.random.split(key, 2 * settings.gradient_trials)
    draw = jax.jit(lambda key, world: reduced_score(key, world, plan))
    worlds = [
        np.asarray(jax.lax.map(lambda key, w=world: draw(key, jnp.int32(w)), part, batch_size=1000))
        for world, part in enumerate(jnp.split(keys, 2))
    ]
    estimate = clopper_pearson(*worlds, delta=settings.delta, confidence=settings.confidence)
    return {"adjacency": "add_remove", **estimate.to_json()}
