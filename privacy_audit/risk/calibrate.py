"""`risk calibrate`: the ε or the noise that keeps every attack below a limit."""

import math

from absl import flags

from privacy_audit.bounds import epsilon_for_advantage
from privacy_audit.bounds.calibrate import noise_multiplier_for_epsilon
from privacy_audit.bounds.calibrate_risk import (
    adjacency_of,
    epsilon_for_success,
    noise_multiplier_for_advantage,
    noise_multiplier_for_success,
)
from privacy_audit.bounds.priors import as_targets
from privacy_audit.bounds.profiles import DPSGD
from privacy_audit.command import Command
from privacy_audit.risk import inputs, outputs

_SUMMARY = (
    "Turns a limit on risk into an epsilon, and for DP-SGD (--sampling_rate, --steps) into noise. The limit is a "
    "share of the secrets (--max_rate) or an advantage on one of them (--max_advantage). Example: python -m "
    "privacy_audit.risk calibrate --max_rate=0.3 --prior=uniform --symbols=10 --secrets=100 --delta=1e-5 "
    "--sampling_rate=0.01 --steps=1000"
)


def make_command() -> Command:
    """The subcommand with its flags."""
    command = Command("privacy_audit.risk calibrate", _SUMMARY)
    add = command.define
    add("Limit", flags.DEFINE_float, "max_rate", None, "largest share of the secrets that may be recovered")
    add(
        "Limit",
        flags.DEFINE_float,
        "max_advantage",
        None,
        "largest (posterior - prior)/(1 - prior) on one secret",
    )
    inputs.define_confidence(command)
    inputs.define_priors(command)
    add("Mechanism", flags.DEFINE_float, "delta", 1e-5, "of the epsilon that is reported")
    add("Mechanism", flags.DEFINE_float, "sampling_rate", None, "q of DP-SGD")
    add("Mechanism", flags.DEFINE_integer, "steps", None, "T of DP-SGD")
    outputs.define_outputs(command, plot=False)
    return command


def body(command: Command) -> None:
    """Answers the question on the screen and in files."""
    outputs.check_outputs(command)
    values = command.values
    rate, advantage = values["max_rate"].value, values["max_advantage"].value
    if (rate is None) == (advantage is None):
        raise ValueError(f"max_rate or max_advantage must be given, one of them, got {rate} and {advantage}")
    priors = inputs.read_priors(command)
    summary = {"secrets": as_targets(priors).count, "adjacency": adjacency_of(priors)}
    if rate is not None:
        summary |= _for_rate(command, rate, priors)
    else:
        summary |= _for_advantage(command, advantage, priors)
    outputs.deliver(command, summary, [])


def _training(command: Command) -> tuple[float, int] | None:
    rate, steps = (command.values[name].value for name in ("sampling_rate", "steps"))
    if (rate is None) != (steps is None):
        raise ValueError(f"sampling_rate and steps must be given together, got {rate} and {steps}")
    return None if rate is None else (rate, steps)


def _for_rate(command: Command, rate: float, priors) -> dict:
    confidence, delta = command.values["confidence"].value, command.values["delta"].value
    training = _training(command)
    epsilon = epsilon_for_success(rate, priors, delta, confidence, refine=False)
    answer = {"limit": f"{rate:g} of the secrets at {confidence:g}", f"epsilon at delta={delta:g}": epsilon}
    if training and math.isfinite(epsilon):
        sigma = noise_multiplier_for_success(rate, priors, *training, confidence)
        by_epsilon = noise_multiplier_for_epsilon(epsilon, delta, *training, adjacency=adjacency_of(priors))
        answer |= _noise(command, sigma, priors, training) | {
            "noise multiplier by way of epsilon": by_epsilon
        }
    return answer


def _for_advantage(command: Command, advantage: float, priors) -> dict:
    training = _training(command)
    inside, rule = (0 < advantage < 1, "(0, 1)") if training else (0 <= advantage <= 1, "[0, 1]")
    if not inside:
        raise ValueError(f"max_advantage must lie in {rule}, got {advantage}")
    targets = as_targets(priors)
    worst = max(targets.kinds, key=lambda prior: prior.largest)
    answer = {
        "limit": f"advantage {advantage:g} on one secret",
        "largest prior": worst.largest,
        "pure epsilon": float(epsilon_for_advantage(advantage, worst.largest)),
    }
    if training:
        one = worst.largest if targets.bare else worst
        sigma = noise_multiplier_for_advantage(advantage, *training, one)
        answer |= _noise(command, sigma, priors, training)
    return answer


def _noise(command: Command, sigma: float, priors, training) -> dict:
    delta = command.values["delta"].value
    profile = DPSGD(sigma, *training, adjacency=adjacency_of(priors))
    return {"noise multiplier": sigma, f"its epsilon at delta={delta:g}": float(profile.epsilon(delta))}
