"""What the document says of the part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privacy_audit.reproduce.adversary_aware.secrets import left_out
from privacy_audit.reproduce.adversary_aware.tightness.figures import TITLES
from privacy_audit.reproduce.markdown import table

ROUNDING = 1e-9
_WORDS = {"add_remove": "add/remove", "replace_one": "replace-one"}


def write(results: Mapping[str, Any]) -> str:
    """Gaps of both mechanisms."""
    return "\n\n".join(["## Tightness", _response(results), _gaussian(results), _many(results)])


def _response(results: Mapping[str, Any]) -> str:
    head = ("ε", "gap at the uniform prior", "widest gap", "at κ", "guess follows the output up to κ")
    rows = [
        (
            f"{row['epsilon']:g}",
            f"{abs(row['gap_uniform']):.1e}",
            f"{row['gap_widest']:.3f}",
            f"{row['at']:.2f}",
            f"{row['last_near_uniform']:.3f}",
        )
        for row in results["response_gaps"]
    ]
    return (
        f"**Randomized response** over {results['symbols']} symbols, one of them heavier than the others: bound "
        "β(ε, κ) minus the success of the best attack.\n\n" + table(head, rows)
    )


def _gaussian(results: Mapping[str, Any]) -> str:
    head = ("secret", "κ", "adjacency", "widest gap", "at ε", "with the whole prior", "least gap")
    rows = [
        (
            TITLES[name],
            f"{found['kappa']:.3g}",
            _WORDS[adjacency],
            f"{found[adjacency]['widest_gap']:.3f}",
            f"{found[adjacency]['widest_gap_epsilon']:.1f}",
            f"{found[adjacency]['widest_gap_whole_prior']:.3f}",
            f"{found[adjacency]['least_gap']:.1e}",
        )
        for name, found in results["gaussian"].items()
        for adjacency in ("add_remove", "replace_one")
    ]
    return (
        f"**Idealised Gaussian Bayes-optimal attack**, ε from 1 to 100 at δ = {results['delta']:g}: bound minus the "
        "attack's exact success on one secret. The game substitutes a secret, so replace-one (signals √2 apart) is its "
        "adjacency; the add/remove curve compares with the world without the secret (signals 1 apart). U's bound knows "
        "the likeliest secret alone; the next column is the widest gap of a bound that uses the whole prior (ours). "
        f"The least gap is that of the lower of the two: {_exceeded(results)}.{left_out(results['gaussian'])}\n\n"
        + table(head, rows)
    )


def _exceeded(results: Mapping[str, Any]) -> str:
    """Whether the attack is somewhere above a bound, beyond rounding."""
    exceeded = [
        f"{TITLES[name]}, {_WORDS[adjacency]}"
        for name, found in results["gaussian"].items()
        for adjacency in _WORDS
        if found[adjacency]["least_gap"] < -ROUNDING
    ]
    if exceeded:
        return f"a bound IS EXCEEDED for {'; '.join(exceeded)}"
    return f"no bound is exceeded (by more than {ROUNDING:g}, for rounding)"


def _many(results: Mapping[str, Any]) -> str:
    if not any(found["of_100"] for found in results["gaussian"].values()):
        return "100 secrets at once are left out at this scale."
    head = ("secret", "ε", "bound: most of 100", "this attack: most of 100", "its mean")
    rows = [
        (TITLES[name], f"{row['epsilon']:g}", row["bound"], row["attack"], f"{row['attack_mean']:.2f}")
        for name, found in results["gaussian"].items()
        for row in found["of_100"]
    ]
    return (
        "Of 100 secrets, each through its own channel, at 95 % under replace-one (certified bound):\n\n"
        + table(head, rows)
    )
