"""Our two engines: trials over the devices, or one trial's batch over them."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax

from privacy_audit.devices import over_devices
from privacy_audit.train.backend import compiler_options, is_cpu, most_trials_at_once
from privacy_audit.train.clipping import ClippedSum, Engine
from privacy_audit.train.dpsgd import Plan, dpsgd_step
from privacy_audit.train.engines import choose_engine
from privacy_audit.train.losses import cross_entropy
from privacy_audit.train.models import MODELS
from privacy_audit.train.sampling import Batch, capacity_for, poisson_batch

from .workloads import CLASSES, CLIPPING_NORM, LEARNING_RATE, NOISE_MULTIPLIER, SHAPES, Row, examples

STEPS_AT_ONE_TRIAL = 32
SPLIT_FROM = {"cnn": 1, "fully_connected": 1024}
"""Examples from which on one trial's batch is dealt to several cores: below, waiting for each other costs more."""


def program(row: Row, devices: list[jax.Device]) -> tuple[Callable[[], int], Callable]:
    """(run, lower): `run` trains for some steps and returns how many examples it used."""
    model = MODELS[row.network](SHAPES[row.network], CLASSES)
    inputs, labels = (jnp.asarray(x) for x in examples(row))
    plan = Plan(
        len(inputs), row.batch, max(1, STEPS_AT_ONE_TRIAL // row.trials), CLIPPING_NORM, NOISE_MULTIPLIER
    )
    size = {"batch_size": row.batch} if row.poisson else {}
    name = row.program
    if name == "plain_vmap_grad":
        name, size = "vmap_grad", {"chunk": row.batch}
    engine = choose_engine(model, cross_entropy, CLIPPING_NORM, name, **size)
    if row.trials == 1 and len(devices) > 1 and row.batch >= SPLIT_FROM[row.network]:
        engine = _batch_over_devices(engine, devices, deal=row.poisson)
    keys = jax.random.split(jax.random.key(0), row.trials)
    params = jax.vmap(model.init)(keys)

    # JAX cannot vmap the vmapped gradient of a convolution (NotImplementedError): one trial after the other
    together = 1 if name == "vmap_grad" else min(row.trials, most_trials_at_once())

    def trials(inputs, labels, keys, params):
        one = lambda arguments: _train(*arguments, (inputs, labels), plan, engine, row.poisson)  # noqa: E731
        return jax.lax.map(one, (keys, params), batch_size=together if together > 1 else None)

    spread = over_devices(trials, devices, mapped=2) if row.trials % len(devices) == 0 else trials
    jitted = jax.jit(spread, compiler_options=compiler_options())
    arguments = (inputs, labels, keys, params)

    def run() -> int:
        _, counts = jax.block_until_ready(jitted(*arguments))
        return int(counts.sum())

    return run, lambda: jitted.lower(*arguments)


def _train(key, params, data, plan: Plan, engine: Engine, poisson: bool):
    """Trains one model; returns it and the number of examples that were sampled."""
    optimizer = optax.sgd(LEARNING_RATE)
    capacity = capacity_for(plan.num_examples, plan.sampling_rate, plan.steps)

    def step(carry, i):
        params, state = carry
        step_key = jax.random.fold_in(key, i)
        if poisson:
            batch = poisson_batch(step_key, plan.num_examples, plan.sampling_rate, capacity)
        else:
            rows = (i * int(plan.batch_size) + jnp.arange(int(plan.batch_size))) % plan.num_examples
            batch = Batch(rows, jnp.ones(len(rows)), jnp.bool_(False))
        nobody = ClippedSum(jax.tree.map(jnp.zeros_like, params), jnp.int32(0))
        done = dpsgd_step(
            step_key, params, state, data, batch, nobody, plan=plan, engine=engine, optimizer=optimizer
        )
        return (done.released.params, done.optimizer_state), jnp.sum(batch.weights)

    (params, _), counts = jax.lax.scan(step, (params, optimizer.init(params)), jnp.arange(plan.steps))
    return params, jnp.sum(counts)


def _batch_over_devices(engine: Engine, devices: list[jax.Device], deal: bool) -> Engine:
    """Gives each device a share of a batch (dealt like cards where padding is last) and adds up their sums."""
    share = over_devices(
        lambda params, inputs, labels, weights: jax.tree.map(
            lambda x: x[None], engine(params, inputs, labels, weights)
        ),
        devices,
        mapped=3,
    )

    def dealt(x):
        spare = -len(x) % len(devices)
        padded = jnp.concatenate([x, jnp.zeros((spare, *x.shape[1:]), x.dtype)]) if spare else x
        return padded.reshape(-1, len(devices), *x.shape[1:]).swapaxes(0, 1).reshape(padded.shape)

    def whole(params, *batch):
        shares = [dealt(x) for x in batch] if deal else batch
        return jax.tree.map(lambda x: x.sum(0), share(params, *shares))

    return whole


def devices_of(row: Row) -> list[jax.Device]:
    """All cores of a CPU host; one accelerator, since the peers use one."""
    return jax.devices() if is_cpu() else jax.devices()[:1]
