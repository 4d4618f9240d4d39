"""Audits an Opacus training loop: `python examples/opacus_trainer.py` (needs `pip install 'privacy-audit[peers]'`).

The divisor is a constant: `PrivacyEngine.make_private` would take it from the size of the data set, which differs
between neighbours and leaks.
"""

import torch
from canary import (
    BATCH_SIZE,
    CLIPPING_NORM,
    LEARNING_RATE,
    NOISE_MULTIPLIER,
    PROFILE,
    SAMPLING_RATE,
    STEPS,
    canary,
    dataset,
)
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer

from privacy_audit.own_trainer import audit_trainer


def train(world: int, seed: int) -> torch.nn.Module:
    """Ten steps of DP-SGD with Poisson sampling, from initial weights of zero."""
    generator = torch.Generator().manual_seed(seed)
    images, labels = (torch.from_numpy(part) for part in dataset(world))
    linear = torch.nn.Linear(784, 10)
    torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(linear.bias)
    model = GradSampleModule(linear)
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=LEARNING_RATE),
        noise_multiplier=NOISE_MULTIPLIER,
        max_grad_norm=CLIPPING_NORM,
        expected_batch_size=BATCH_SIZE,
        generator=generator,
    )
    for _ in range(STEPS):
        taken = torch.rand(len(labels), generator=generator) < SAMPLING_RATE
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images[taken]), labels[taken].long()).backward()
        optimizer.step()
    return linear


def score(model: torch.nn.Module) -> float:
    """−loss of the final model on the canary."""
    image, label = (torch.from_numpy(part) for part in canary())
    with torch.no_grad():
        return -torch.nn.functional.cross_entropy(model(image.reshape(1, -1)), label.long()).item()


if __name__ == "__main__":
    audit_trainer(train, score, 500, out="runs/opacus", delta=1e-5, profile=PROFILE, threshold="every")
