"""The accuracy table: one model per data set and ε, trained on all that the paper trains on; resumable by epochs."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from etils import epath

from privacy_audit.bounds.profiles import DPSGD
from privacy_audit.ledger import write_json
from privacy_audit.progress import Progress
from privacy_audit.report.document import hardware, versions
from privacy_audit.reproduce.adversary_instantiation.cells import Cell, most_steps
from privacy_audit.reproduce.adversary_instantiation.checkpoint import Checkpoint, check_same
from privacy_audit.reproduce.adversary_instantiation.settings import DELTA, Scale, Source
from privacy_audit.train.clipping import ClippedSum
from privacy_audit.train.data import Dataset, Examples
from privacy_audit.train.datasets import DATASETS
from privacy_audit.train.dpsgd import Plan, dpsgd_step
from privacy_audit.train.engines import choose_engine
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS
from privacy_audit.train.sampling import capacity_for, poisson_batch

SEGMENTS = 60
"""Checkpoints of a training."""
TESTED_AT_ONCE = 500


def train_cell(
    cell: Cell, scale: Scale, data_dir: str | None, seed: int, out: epath.Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """Trains (or goes on with) one model and writes its test accuracy to `out`.

    Returns:
        The result as it is written: accuracy in %, proven ε, plan, versions, hardware, seconds.
    """
    out.mkdir(parents=True, exist_ok=True)
    trained = trained_cell(cell, scale, seed, out)
    if trained is not None:
        return trained
    source, plan = scale.accuracy_sources[cell.dataset], _plan(cell, scale)
    settings = _settings(source, plan, seed)
    dataset = DATASETS[source.dataset](data_dir)
    train, test = deal(dataset, source.size, seed)
    model = MODELS[source.model](dataset.input_shape, dataset.num_classes)
    say(f"{cell.name}: {plan.steps} steps")
    checkpoint = Checkpoint(out / f"{cell.name}.npz", settings)
    params, seconds = _train(model, plan, source.learning_rate, train, seed, checkpoint)
    result = {
        "cell": cell.name,
        "dataset": cell.dataset,
        "title": source.title,
        "epsilon": cell.epsilon,
        "accuracy": 100 * accuracy(model, params, test),
        "tested_on": len(test),
        "epsilon_proven": float(DPSGD(plan.noise_multiplier, plan.sampling_rate, plan.steps).epsilon(DELTA)),
        "delta": DELTA,
        **{
            name: settings[name]
            for name in ("seed", "num_examples", "batch_size", "steps", "noise_multiplier")
        },
        "settings": settings,
        "seconds": round(seconds, 1),
        "versions": versions(),
        "hardware": hardware(),
    }
    write_json(out / f"{cell.name}.json", result)
    checkpoint.path.unlink(missing_ok=True)
    return result


def trained_cell(cell: Cell, scale: Scale, seed: int, out: epath.Path) -> dict[str, Any] | None:
    """The model's result as it was written; None where there is none.

    Raises:
        ValueError: it is of other settings.
    """
    file = out / f"{cell.name}.json"
    if not file.exists():
        return None
    result = json.loads(file.read_text())
    wanted = _settings(scale.accuracy_sources[cell.dataset], _plan(cell, scale), seed)
    check_same(file, wanted, result.get("settings", {}))
    return result


def _plan(cell: Cell, scale: Scale) -> Plan:
    source = scale.accuracy_sources[cell.dataset]
    sigma, batch_size = scale.accuracy_budgets[cell.dataset][cell.epsilon]
    steps = most_steps(cell.epsilon, sigma, batch_size / source.size)
    return Plan(source.size, batch_size, min(steps, scale.most_steps or steps), source.clipping_norm, sigma)


def _settings(source: Source, plan: Plan, seed: int) -> dict[str, Any]:
    """All that a model depends on."""
    return {
        "source": source.dataset,
        "model": source.model,
        "learning_rate": source.learning_rate,
        **dataclasses.asdict(plan),
        "seed": seed,
    }


def deal(dataset: Dataset, size: int, seed: int) -> tuple[Examples, Examples]:
    """The training examples, and the test split, or what training leaves where there is none."""
    order = np.random.default_rng(seed).permutation(len(dataset.train))
    rest = dataset.test if len(dataset.test) else dataset.train.take(order[size:])
    return dataset.train.take(order[:size]), rest


def accuracy(model, params, test: Examples) -> float:
    """Share of test examples whose class has the largest output."""
    inputs, labels = test.as_float()
    right = jax.jit(lambda x, y: jnp.sum(jnp.argmax(model.apply(params, x), -1) == y))
    starts = range(0, len(labels), TESTED_AT_ONCE)
    return sum(
        int(right(inputs[i : i + TESTED_AT_ONCE], labels[i : i + TESTED_AT_ONCE])) for i in starts
    ) / len(labels)


def _train(model, plan: Plan, learning_rate: float, train: Examples, seed: int, checkpoint: Checkpoint):
    """Parameters at the end, and the seconds that all sessions took."""
    examples = tuple(jnp.asarray(part) for part in train.as_float())
    segment = _segment(model, plan, learning_rate, examples, jax.random.key(seed + 1))
    params = model.init(jax.random.key(seed))
    first, seconds = 0, 0.0
    if checkpoint.path.exists():
        params, first, seconds = checkpoint.load(params)
    length = max(1, plan.steps // SEGMENTS)
    progress = Progress(plan.steps, "steps", done=first)
    try:
        while first < plan.steps:
            began, count = time.monotonic(), min(length, plan.steps - first)
            params, overflowed = segment(params, first, count)
            if overflowed:
                raise RuntimeError("a batch overflowed its capacity; use another seed")
            first, seconds = first + count, seconds + time.monotonic() - began
            checkpoint.save(params, first, seconds)
            progress.advance(count)
    finally:
        progress.close()
    return params, seconds


def _segment(model, plan: Plan, learning_rate: float, examples, key):
    """(params, first step, steps) -> params; the randomness of a step depends on its number alone."""
    engine = choose_engine(model, cross_entropy, plan.clipping_norm)
    optimizer = optax.sgd(learning_rate)
    capacity = capacity_for(plan.num_examples, plan.sampling_rate, draws=plan.steps)

    @jax.jit
    def run(params, first, count, examples):
        def one(step, carry):
            params, overflowed = carry
            batch_key, noise_key = jax.random.split(jax.random.fold_in(key, step))
            batch = poisson_batch(batch_key, plan.num_examples, plan.sampling_rate, capacity)
            nobody = ClippedSum(jax.tree.map(jnp.zeros_like, params), jnp.int32(0))
            done = dpsgd_step(
                noise_key,
                params,
                optimizer.init(params),
                examples,
                batch,
                nobody,
                plan=plan,
                engine=engine,
                optimizer=optimizer,
            )
            return done.released.params, overflowed | batch.overflowed

        return jax.lax.fori_loop(first, first + count, one, (params, jnp.bool_(False)))

    return lambda params, first, count: jax.block_until_ready(run(params, first, count, examples))
