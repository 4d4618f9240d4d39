"""From flags to a privacy profile and priors."""

import dataclasses
import pathlib
from collections.abc import Callable

import numpy as np
from absl import flags

from privacy_audit.bounds import priors as prior_objects
from privacy_audit.bounds.calibrate_risk import adjacency_of
from privacy_audit.bounds.profiles import (
    DPSGD,
    ApproximateDP,
    GaussianDP,
    GaussianMechanism,
    LaplaceMechanism,
    PrivacyProfile,
    PureDP,
    RandomizedResponse,
    ZeroConcentratedDP,
)
from privacy_audit.bounds.success import Priors
from privacy_audit.command import Command

PRIORS = ("uniform", "membership", "zipf", "categorical")
_FILES = (".csv", ".npy")
# The priors that read each companion of --prior.
_COMPANIONS = {"symbols": ("uniform", "zipf"), "exponent": ("zipf",), "distribution": ("categorical",)}


@dataclasses.dataclass(frozen=True)
class _Kind:
    """A profile by name: the flags that it needs, and how to make it from their values and an adjacency."""

    needs: tuple[str, ...]
    make: Callable[..., PrivacyProfile]


_PROFILES = {
    "pure": _Kind(("epsilon",), lambda epsilon, **a: PureDP(epsilon, **a)),
    "approximate": _Kind(
        ("epsilon", "delta"), lambda epsilon, delta, **a: ApproximateDP(epsilon, delta, **a)
    ),
    "gaussian_dp": _Kind(("mu",), lambda mu, **a: GaussianDP(mu, **a)),
    "gaussian": _Kind(
        ("noise_multiplier", "steps"),
        lambda noise_multiplier, steps, **a: GaussianMechanism(noise_multiplier, steps, **a),
    ),
    "laplace": _Kind(
        ("noise_multiplier",), lambda noise_multiplier, **a: LaplaceMechanism(noise_multiplier, **a)
    ),
    "randomized_response": _Kind(
        ("epsilon", "symbols"), lambda epsilon, symbols, **a: RandomizedResponse(epsilon, symbols, **a)
    ),
    "zcdp": _Kind(("rho",), lambda rho, **a: ZeroConcentratedDP(rho, **a)),
    "dpsgd": _Kind(
        ("noise_multiplier", "sampling_rate", "steps", "accountant"),
        lambda noise_multiplier, sampling_rate, steps, accountant, **a: DPSGD(
            noise_multiplier, sampling_rate, steps, accountant=accountant, **a
        ),
    ),
}


def define_profile(command: Command) -> None:
    """Flags of the mechanism's privacy."""
    group, add = "Mechanism", command.define
    add(group, flags.DEFINE_string, "profile", "approximate", f"one of {', '.join(_PROFILES)}")
    add(group, flags.DEFINE_float, "epsilon", None, "of pure, approximate and randomized_response")
    add(group, flags.DEFINE_float, "delta", 0.0, "of approximate")
    add(group, flags.DEFINE_float, "mu", None, "of gaussian_dp")
    add(group, flags.DEFINE_float, "rho", None, "of zcdp")
    add(group, flags.DEFINE_float, "noise_multiplier", None, "sigma, of gaussian, laplace and dpsgd")
    add(group, flags.DEFINE_float, "sampling_rate", None, "q, of dpsgd")
    add(group, flags.DEFINE_integer, "steps", None, "T, of gaussian and dpsgd")
    add(group, flags.DEFINE_string, "accountant", "pld", "pld or rdp, of dpsgd")
    add(
        group,
        flags.DEFINE_string,
        "adjacency",
        None,
        "add_remove or replace_one; by default what the priors' game needs",
    )


def define_priors(command: Command) -> None:
    """Flags of the secrets."""
    group, add = "Secrets", command.define
    add(
        group,
        flags.DEFINE_string,
        "prior",
        "membership",
        f"success of the best blind guess: a number, numbers with commas, a CSV or NPY file of one number a "
        f"secret, or one of {', '.join(PRIORS)}",
    )
    add(group, flags.DEFINE_integer, "secrets", None, "n; by default 100, or as many as --prior lists")
    add(group, flags.DEFINE_integer, "symbols", None, "number of values of a secret (uniform, zipf)")
    add(group, flags.DEFINE_float, "exponent", 1.0, "of zipf")
    add(
        group,
        flags.DEFINE_string,
        "distribution",
        None,
        "CSV or NPY file of symbol probabilities (categorical)",
    )


def define_confidence(command: Command) -> None:
    """The flag shared by every limit."""
    command.define("Question", flags.DEFINE_float, "confidence", 0.95, "with which the limit holds")


def read_profile(command: Command, priors: Priors) -> PrivacyProfile:
    """The profile that the flags describe.

    Raises:
        ValueError: naming the flag that is wrong or missing.
    """
    name = command.values["profile"].value
    if name not in _PROFILES:
        raise ValueError(f"profile must be one of {', '.join(_PROFILES)}, got {name!r}")
    kind = _PROFILES[name]
    _refuse_foreign(command, kind, name)
    given = {flag: needed(command, flag, f"--profile={name}") for flag in kind.needs}
    adjacency = command.values["adjacency"].value or adjacency_of(priors)
    profile = kind.make(**given, adjacency=adjacency)
    prior_objects.as_targets(priors).require_adjacency(profile.adjacency)
    return profile


def _refuse_foreign(command: Command, kind: _Kind, name: str) -> None:
    """Raises ValueError for a flag of other profiles alone: an answer would not be to what was asked."""
    of_others = dict.fromkeys(flag for other in _PROFILES.values() for flag in other.needs)
    for flag in of_others:
        if flag not in kind.needs and flag != "symbols":
            command.refuse(flag, f"--profile={name}")
    if "symbols" not in kind.needs:
        _refuse_foreign_to_prior(command, "symbols")


def _refuse_foreign_to_prior(command: Command, *names: str) -> None:
    prior = command.values["prior"].value
    for flag in names:
        if prior not in _COMPANIONS[flag]:
            command.refuse(flag, f"--prior={prior}")


def needed(command: Command, flag: str, why: str):
    """The value of a flag that must be set."""
    value = command.values[flag].value
    if value is None:
        raise ValueError(f"{flag} must be given for {why}, got nothing")
    return value


def read_priors(command: Command) -> Priors:
    """One prior per secret, from --prior and its companions.

    Raises:
        ValueError: naming the flag that is wrong or missing.
    """
    text, secrets = command.values["prior"].value, command.values["secrets"].value
    if secrets is not None and secrets < 1:
        raise ValueError(f"secrets must be >= 1, got {secrets}")
    # With a profile, which may read symbols too, its reader looks at them.
    _refuse_foreign_to_prior(
        command, *(flag for flag in _COMPANIONS if flag != "symbols" or "profile" not in command.values)
    )
    if text in PRIORS:
        return [_named(command, text)] * (secrets or 100)
    kappa = read_vector("prior", text) if text.endswith(_FILES) else _numbers(text)
    if ((kappa < 0) | (kappa > 1) | np.isnan(kappa)).any():
        wrong = kappa[(kappa < 0) | (kappa > 1) | np.isnan(kappa)][0]
        raise ValueError(f"prior must lie in [0, 1], got {wrong}")
    if kappa.size == 1:
        return np.full(secrets or 100, kappa[0])
    if secrets is not None and secrets != kappa.size:
        raise ValueError(f"secrets must be {kappa.size}, as many as --prior lists, got {secrets}")
    return kappa


def _named(command: Command, name: str) -> prior_objects.Prior:
    values = command.values
    if name == "membership":
        return prior_objects.membership()
    if name == "categorical":
        path = needed(command, "distribution", "--prior=categorical")
        p = read_vector("distribution", path)
        try:
            return prior_objects.categorical(p)
        except ValueError as error:
            raise ValueError(f"distribution must hold probabilities, got {path} ({error})") from None
    symbols = needed(command, "symbols", f"--prior={name}")
    return (
        prior_objects.uniform(symbols)
        if name == "uniform"
        else prior_objects.zipf(symbols, values["exponent"].value)
    )


def _numbers(text: str) -> np.ndarray:
    try:
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        known = ", ".join(PRIORS)
        raise ValueError(
            f"prior must be numbers, a .csv or .npy file, or one of {known}, got {text!r}"
        ) from None


def read_vector(flag: str, path: str) -> np.ndarray:
    """Numbers from a CSV (one column or one row; a heading is skipped) or an NPY file.

    Raises:
        ValueError: naming the flag, if the file cannot be read as numbers.
    """
    file = pathlib.Path(path)
    if not file.is_file():
        raise ValueError(f"{flag} must be a file that exists, got {path}")
    try:
        if file.suffix == ".npy":
            values = np.load(file, allow_pickle=False)
        else:
            values = _csv(file.read_text(encoding="utf-8"))
        values = np.asarray(values, np.float64)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{flag} must be a file of numbers, got {path} ({error})") from None
    if values.ndim > 1 and values.size > max(values.shape):
        raise ValueError(f"{flag} must be one column or one row, got {path} of shape {values.shape}")
    return values.ravel()


def _csv(text: str) -> list[float]:
    lines = [[cell.strip() for cell in line.split(",") if cell.strip()] for line in text.splitlines()]
    lines = [line for line in lines if line]
    if len(lines) > 1 and max(map(len, lines)) > 1:
        raise ValueError("more than one column and one row")
    cells = [cell for line in lines for cell in line]
    try:
        float(cells[0])
    except (ValueError, IndexError):
        cells = cells[1:]
    if not cells:
        raise ValueError("no numbers")
    return [float(cell) for cell in cells]
