"""One small audit that many tests share: the dense network on 60 real images."""

import dataclasses

import pytest

from privacy_audit.config import AuditConfig

SMALL = AuditConfig(
    dataset="mnist5k",
    data_dir=None,
    model="fully_connected",
    adversaries=("gradient", "api_access"),
    options={},
    num_examples=60,
    batch_size=12,
    steps=4,
    clipping_norm=1.0,
    noise_multiplier=0.8,
    learning_rate=0.15,
    delta=1e-5,
    accountant="pld",
    initialization="fixed",
    trials=20,
    confidence=0.95,
    threshold="held-out",
    seed=7,
)


@pytest.fixture(scope="session")
def small_config():
    """A function from changed fields to a configuration."""
    return lambda **changes: dataclasses.replace(SMALL, **changes)
