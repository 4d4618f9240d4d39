"""`risk sweep`: the certified bound over a grid of ε, δ and prior."""

import itertools

import numpy as np
from absl import flags

from privacy_audit.bounds import sweep_max_successes
from privacy_audit.command import Command
from privacy_audit.risk import inputs, outputs

_SUMMARY = (
    "The largest number of n secrets that any attack recovers, for every epsilon, delta and prior of a grid (closed "
    "form). A range is written first:last:count, evenly spaced, or first:last:count:log. Example: python -m "
    "privacy_audit.risk sweep --epsilons=0.1:8:40 --deltas=1e-5 --kappas=0.01,0.1,0.5 --secrets=100 --plot=sweep.png "
    "--out=sweep.parquet"
)
_MOST = 1_000_000
_AT_ONCE = 20_000


def make_command() -> Command:
    """The subcommand with its flags."""
    command = Command("privacy_audit.risk sweep", _SUMMARY)
    add = command.define
    add("Grid", flags.DEFINE_string, "epsilons", "0.1:8:20", "numbers with commas, or a range")
    add("Grid", flags.DEFINE_string, "deltas", "1e-5", "numbers with commas, or a range")
    add("Grid", flags.DEFINE_string, "kappas", "0.1,0.5", "prior successes: numbers with commas, or a range")
    add("Grid", flags.DEFINE_integer, "secrets", 100, "n")
    add(
        "Grid",
        flags.DEFINE_bool,
        "exact_uniform",
        False,
        "secrets are uniform over 1/kappa symbols, named exactly",
    )
    inputs.define_confidence(command)
    add("Output", flags.DEFINE_integer, "show", 20, "rows to print; files hold all of them")
    outputs.define_outputs(command)
    return command


def body(command: Command) -> None:
    """Computes the grid and delivers it."""
    outputs.check_outputs(command)
    values = command.values
    axes = [_range(name, values[name].value) for name in ("epsilons", "deltas", "kappas")]
    size = int(np.prod([axis.size for axis in axes]))
    if size > _MOST:
        raise ValueError(f"epsilons times deltas times kappas must be <= {_MOST} settings, got {size}")
    settings = np.array(list(itertools.product(*axes)))
    secrets, confidence = values["secrets"].value, values["confidence"].value
    most = _most(settings, secrets, confidence, values["exact_uniform"].value)
    rows = [
        {"epsilon": e, "delta": d, "kappa": k, "at most recovered": int(m), "share": m / secrets}
        for (e, d, k), m in zip(settings.tolist(), most.tolist(), strict=True)
    ]
    shown = rows if values["json"].value else rows[: values["show"].value]
    summary = {"settings": size, "secrets": secrets, "confidence": confidence}
    _deliver_all(
        command, summary, rows, shown, lambda: _draw(axes, most.reshape([a.size for a in axes]), secrets)
    )


def _deliver_all(command, summary, rows, shown, draw) -> None:
    if len(shown) == len(rows):
        outputs.deliver(command, summary, rows, draw)
        return
    print(outputs.table(shown) + f"\n… {len(rows) - len(shown)} more rows")
    outputs.write(command, summary, rows, draw)


def _most(settings: np.ndarray, secrets: int, confidence: float, exact_uniform: bool) -> np.ndarray:
    """In blocks of one size, so that one compiled program serves all and memory stays small."""
    block = min(_AT_ONCE, len(settings))
    padded = np.concatenate([settings, np.repeat(settings[-1:], -len(settings) % block, axis=0)])
    parts = [
        np.asarray(sweep_max_successes(*part.T, secrets, confidence, exact_uniform=exact_uniform))
        for part in np.split(padded, len(padded) // block)
    ]
    return np.concatenate(parts)[: len(settings)]


def _range(flag: str, text: str) -> np.ndarray:
    try:
        if ":" not in text:
            return np.array([float(part) for part in text.split(",")])
        first, last, count, *kind = text.split(":")
        if kind not in ([], ["log"]):
            raise ValueError
        return (np.geomspace if kind else np.linspace)(float(first), float(last), int(count))
    except ValueError:
        rule = "numbers with commas, first:last:count or first:last:count:log"
        raise ValueError(f"{flag} must be {rule}, got {text!r}") from None


def _draw(axes_values, most: np.ndarray, secrets: int):
    epsilon, delta, kappa = axes_values
    canvas, axes = outputs.figure()
    pairs = list(itertools.product(range(kappa.size), range(delta.size)))[: len(outputs.PALETTE)]
    for place, (k, d) in enumerate(pairs):
        axes.plot(
            epsilon,
            most[:, d, k] / secrets,
            color=outputs.PALETTE[place],
            linestyle=outputs.STYLES[place % len(outputs.STYLES)],
            label=f"κ = {kappa[k]:.3g}, δ = {delta[d]:.2g}",
        )
    axes.set(xlabel="ε (nats)", ylabel=f"share of {secrets} secrets recovered, at most", ylim=(0, 1.02))
    axes.legend(title="prior success, δ")
    return canvas
