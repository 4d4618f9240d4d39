"""Where the time of one DP-SGD step goes on one core: the parts alone, beside the whole.

    python benchmarks/shares.py

Seconds of the processor, not of the clock, so that other work on the machine matters little. Result:
benchmarks/results/shares.json.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import time
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import jax
import jax.numpy as jnp
import optax
from speed.measure import machine
from speed.workloads import CLASSES, CLIPPING_NORM, LEARNING_RATE, NOISE_MULTIPLIER, SHAPES, Row, examples

from privacy_audit.train.backend import compiler_options
from privacy_audit.train.clipping import ClippedSum
from privacy_audit.train.dpsgd import Plan, dpsgd_step
from privacy_audit.train.engines import choose_engine
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS
from privacy_audit.train.noise import gaussian_like, normals
from privacy_audit.train.sampling import capacity_for, poisson_batch

STEPS, REPEATS, BATCH = 32, 7, 256
RESULT = pathlib.Path(__file__).resolve().parent / "results" / "shares.json"


def parts(network: str) -> dict[str, Callable]:
    """name -> (step, parameters) -> parameters; all but the first do one thing of what the first does."""
    row = Row(network, "book_keeping", batch=BATCH, poisson=True)
    data = tuple(jnp.asarray(x) for x in examples(row))
    plan = Plan(len(data[0]), BATCH, STEPS, CLIPPING_NORM, NOISE_MULTIPLIER)
    model = MODELS[network](SHAPES[network], CLASSES)
    engine = choose_engine(model, cross_entropy, CLIPPING_NORM, batch_size=BATCH)
    optimizer, key = optax.sgd(LEARNING_RATE), jax.random.key(0)
    capacity = capacity_for(plan.num_examples, plan.sampling_rate, STEPS)

    def drawn(i):
        return poisson_batch(jax.random.fold_in(key, i), plan.num_examples, plan.sampling_rate, capacity)

    def step(i, params):
        nobody = ClippedSum(jax.tree.map(jnp.zeros_like, params), jnp.int32(0))
        settings = {"plan": plan, "engine": engine, "optimizer": optimizer}
        state = optimizer.init(params)
        done = dpsgd_step(jax.random.fold_in(key, i), params, state, data, drawn(i), nobody, **settings)
        return done.released.params

    def sampling(i, params):
        return jax.tree.map(lambda p: p + drawn(i).weights.sum() * 1e-9, params)

    def gather(i, params):
        rows = (i * BATCH + jnp.arange(capacity)) % plan.num_examples
        return jax.tree.map(lambda p: p + data[0][rows].sum() * 1e-9, params)

    def noise(i, params):
        return jax.tree.map(jnp.add, params, gaussian_like(jax.random.fold_in(key, i), params, 1.0))

    def fastest_normals(i, params):
        total = normals(jax.random.fold_in(key, i), sum(p.size for p in params.values())).sum()
        return jax.tree.map(lambda p: p + total, params)

    alone = {"sampling": sampling, "gather": gather, "noise": noise, "normals alone": fastest_normals}
    start = model.init(jax.random.key(1))
    return {
        name: jax.jit(
            lambda f=f: jax.lax.fori_loop(0, STEPS, f, start), compiler_options=compiler_options() or None
        )
        for name, f in ({"step": step} | alone).items()
    }


def milliseconds(run: Callable) -> float:
    """Of the processor, a step; the least of several runs."""
    jax.block_until_ready(run())
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        jax.block_until_ready(run())
        found.append(time.process_time() - began)
    return 1e3 * min(found) / STEPS


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=RESULT)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {0})
    report = {"machine": machine(), "batch": BATCH, "steps": STEPS, "networks": {}}
    for network in ("cnn", "fully_connected"):
        found = {name: milliseconds(run) for name, run in parts(network).items()}
        share = sum(found[name] for name in ("sampling", "gather", "noise")) / found["step"]
        report["networks"][network] = {"milliseconds": found, "share_of_sampling_gather_noise": share}
        print(network, {name: round(ms, 3) for name, ms in found.items()}, f"share {share:.1%}")
    options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
