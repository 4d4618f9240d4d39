"""Opacus in its three modes."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from .workloads import CLASSES, CLIPPING_NORM, LEARNING_RATE, NOISE_MULTIPLIER, Row, examples

STEPS = 4


def _network(name: str):
    from torch import nn

    if name == "fully_connected":
        widths = [(600, 128), (128, 128), (128, CLASSES)]
        layers = [part for a, b in widths for part in (nn.Linear(a, b), nn.ReLU())]
        return nn.Sequential(*layers[:-1])
    return nn.Sequential(
        *(nn.ZeroPad2d(3), nn.Conv2d(1, 16, 8, 2), nn.ReLU(), nn.MaxPool2d(2, 1)),
        *(nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1)),
        *(nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, CLASSES)),
    )


def opacus(mode: str) -> Callable:
    """`mode`: hooks, ew (expanded weights) or ghost."""

    def build(row: Row):
        import torch
        from opacus import PrivacyEngine

        warnings.simplefilter("ignore")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        inputs, labels = (torch.from_numpy(x[: row.batch]).to(device) for x in examples(row))
        labels = labels.long()
        if row.network == "cnn":
            inputs = inputs.permute(0, 3, 1, 2).contiguous()
        network = _network(row.network).to(device)
        criterion = torch.nn.CrossEntropyLoss()
        data = torch.utils.data.TensorDataset(inputs, labels)
        private = PrivacyEngine().make_private(
            module=network,
            optimizer=torch.optim.SGD(network.parameters(), lr=LEARNING_RATE),
            data_loader=torch.utils.data.DataLoader(data, batch_size=row.batch),
            noise_multiplier=NOISE_MULTIPLIER,
            max_grad_norm=CLIPPING_NORM,
            poisson_sampling=False,
            grad_sample_mode=mode,
            criterion=criterion,
        )
        network, optimizer = private[:2]
        criterion = private[2] if mode == "ghost" else criterion

        def run() -> int:
            for _ in range(STEPS):
                optimizer.zero_grad()
                criterion(network(inputs), labels).backward()
                optimizer.step()
            if device == "cuda":
                torch.cuda.synchronize()
            return STEPS * row.batch

        return run, None

    return build
