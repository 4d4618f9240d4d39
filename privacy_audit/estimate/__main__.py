"""`python -m privacy_audit.estimate FILE`: bounds on ε from scores that were made anywhere."""

import functools
import json

from absl import flags

from privacy_audit import estimate
from privacy_audit.command import Command, main
from privacy_audit.estimate.tables import read_scores

SUMMARY = (
    "Turns scores that were made elsewhere into lower bounds on epsilon. FILE is a .csv, .npz or .parquet with "
    "columns world (0: D, 1: D'), score (higher = more likely D') and, if it has one, trial."
)

METHODS = {
    "held-out": functools.partial(estimate.clopper_pearson, threshold="held-out"),
    "every": functools.partial(estimate.clopper_pearson, threshold="every"),
    "same-sample": functools.partial(estimate.clopper_pearson, threshold="same-sample"),
    "gaussian_dp": estimate.gaussian_dp,
    "bayesian": estimate.bayesian,
    "mechanism_fit": estimate.mechanism_fit,
}


def make_command() -> Command:
    """The command with its flags."""
    command = Command("privacy_audit.estimate", SUMMARY, positional=("FILE",))
    what, output = "What to estimate", "Output"
    command.define(what, flags.DEFINE_float, "delta", 1e-5, "δ at which ε is stated, in [0, 1)")
    command.define(what, flags.DEFINE_float, "confidence", 0.95, "coverage of each bound, in (0, 1)")
    default = ["held-out", "every", "gaussian_dp", "mechanism_fit"]
    command.define(what, flags.DEFINE_list, "methods", default, f"some of {', '.join(METHODS)}")
    fixed = "count at this threshold, fixed before the scores were seen"
    command.define(what, flags.DEFINE_float, "threshold", None, fixed)
    command.define(output, flags.DEFINE_bool, "json", False, "print one JSON object instead of a table")
    return command


def body(command: Command) -> None:
    """Reads the scores and prints what they show."""
    values = command.values
    if not values.methods:
        raise ValueError(f"methods must be some of {', '.join(METHODS)}, got none")
    unknown = sorted(set(values.methods) - set(METHODS))
    if unknown:
        raise ValueError(f"methods must be among {', '.join(METHODS)}, got {unknown[0]}")
    d, d_prime = read_scores(command.arguments[0])
    level = {"delta": values.delta, "confidence": values.confidence}
    results = {name: METHODS[name](d, d_prime, **level) for name in values.methods}
    if values.threshold is not None:
        explicit = estimate.clopper_pearson(d, d_prime, threshold=values.threshold, **level)
        results = {"explicit": explicit, **results}
    area = estimate.auc(d, d_prime, confidence=values.confidence)
    if values.json:
        bounds = {name: result.to_json() for name, result in results.items()}
        print(json.dumps({"estimates": bounds, "auc": area.to_json()}, indent=2, allow_nan=False))
        return
    ceiling = estimate.ceiling(min(len(d), len(d_prime)), **level)
    print(
        f"{len(d)} trials of D, {len(d_prime)} of D'; no count of errors can show more than ε = {ceiling:.4g}"
    )
    print(f"AUC {area.point:.4f} [{area.lower:.4f}, {area.upper:.4f}]")
    for result in results.values():
        print(result, f"    assumes: {'; '.join(result.assumptions)}", sep="\n")
    for note in area.notes:
        print(f"note: {note}")


if __name__ == "__main__":
    main(make_command(), body)
