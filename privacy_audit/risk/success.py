"""`risk success`: how many of n secrets any attack can recover."""

import numpy as np
from absl import flags

from privacy_audit.bounds import expected_successes, max_successes, success_bound
from privacy_audit.bounds.priors import as_targets
from privacy_audit.command import Command
from privacy_audit.risk import inputs, outputs

_SUMMARY = (
    "Bounds the number of secrets that any attack on any mechanism with this privacy recovers. Example: "
    "python -m privacy_audit.risk success --epsilon=1 --delta=1e-5 --prior=0.56 --secrets=100"
)
_METHODS = ("certified", "optimal", "printed")


def make_command() -> Command:
    """The subcommand with its flags."""
    command = Command("privacy_audit.risk success", _SUMMARY)
    inputs.define_profile(command)
    inputs.define_priors(command)
    inputs.define_confidence(command)
    command.define(
        "Question", flags.DEFINE_list, "v", None, "successes to bound; by default a spread of them"
    )
    command.define(
        "Question",
        flags.DEFINE_string,
        "method",
        "certified",
        f"one of {', '.join(_METHODS)}; optimal needs a uniform prior, printed is the paper's formula and not sound",
    )
    command.define(
        "Question", flags.DEFINE_bool, "refine", True, "let certified spend seconds on a tighter value"
    )
    outputs.define_outputs(command)
    return command


def body(command: Command) -> None:
    """Answers the question on the screen and in files."""
    outputs.check_outputs(command)
    values = command.values
    method, confidence, refine = values["method"].value, values["confidence"].value, values["refine"].value
    if method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(_METHODS)}, got {method!r}")
    priors = inputs.read_priors(command)
    profile = inputs.read_profile(command, priors)
    targets = as_targets(priors)
    asked = _asked(values["v"].value, targets.count)
    most = max_successes(profile, targets, confidence, method, refine=refine)
    counts = _around(most, targets.count) if asked is None else asked
    bounds = np.atleast_1d(
        success_bound(counts, profile, targets, method, refine=refine and len(counts) <= 12)
    )
    summary = {
        "profile": repr(profile),
        "secrets": targets.count,
        "largest prior": float(targets.largest.max()),
        "method": method + (" (not sound: for comparison)" if method == "printed" else ""),
        "confidence": confidence,
        "at most recovered": most,
        "expected at most": expected_successes(profile, targets),
    }
    rows = [
        {"v": int(v), "Pr[L >= v] at most": float(bound)} for v, bound in zip(counts, bounds, strict=True)
    ]
    outputs.deliver(command, summary, rows, lambda: _draw(profile, targets, method, confidence, most))


def _around(most: int, secrets: int) -> np.ndarray:
    return np.unique(np.clip(most + np.array([-10, -5, -2, 0, 1, 2, 5, 10]), 0, secrets))


def _asked(text: list[str] | None, secrets: int) -> np.ndarray | None:
    if text is None:
        return None
    try:
        counts = [int(part) for part in text]
    except ValueError:
        raise ValueError(f"v must be whole numbers, got {','.join(text)}") from None
    outside = [v for v in counts if not 0 <= v <= secrets]
    if outside or not counts:
        raise ValueError(f"v must lie in [0, {secrets}], got {outside[0] if outside else 'nothing'}")
    return np.array(counts)


def _draw(profile, targets, method: str, confidence: float, most: int):
    canvas, axes = outputs.figure()
    v = np.arange(targets.count + 1)
    bound = success_bound(v, profile, targets, method, refine=False)
    axes.step(v, bound, where="mid", color=outputs.PALETTE[0], label=f"{method} bound")
    axes.axhline(1 - confidence, color="0.5", linestyle=":", label=f"{1 - confidence:.3g}")
    axes.axvline(most, color=outputs.PALETTE[1], linestyle="--", label=f"at most {most} at {confidence:.0%}")
    axes.set(
        yscale="log",
        ylim=(1e-6, 1.5),
        xlabel=f"v, recovered secrets of {targets.count}",
        ylabel="probability of v or more, at most",
    )
    axes.legend()
    return canvas
