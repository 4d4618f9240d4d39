"""`python -m privacy_audit.estimate FILE`: bounds on ε from scores that were made anywhere."""

import functools
import json
from collections.abc import Callable, Sequence

from absl import flags

from privacy_audit import estimate
from privacy_audit.command import Command, main
from privacy_audit.estimate.tables import Columns, canaries_of, read_columns, worlds_of

SUMMARY = (
    "Turns scores that were made elsewhere into lower bounds on epsilon. FILE is a .csv, .npz or .parquet. Many "
    "trainings: columns world (0: D, 1: D'), score (higher = more likely D') and, if it has one, trial. One training "
    "with many canaries: columns included (0 or 1, by each canary's own fair coin) and score."
)

WORLDS = {
    "held-out": functools.partial(estimate.clopper_pearson, threshold="held-out"),
    "every": functools.partial(estimate.clopper_pearson, threshold="every"),
    "same-sample": functools.partial(estimate.clopper_pearson, threshold="same-sample"),
    "gaussian_dp": estimate.gaussian_dp,
    "bayesian": estimate.bayesian,
    "mechanism_fit": estimate.mechanism_fit,
}
USUAL_OF_WORLDS = ("held-out", "every", "gaussian_dp", "mechanism_fit")

CANARIES = {
    "optimal": estimate.one_run_audit,
    "optimal_gaussian": functools.partial(estimate.one_run_audit, family=estimate.gaussian_family()),
    "steinke": functools.partial(estimate.one_run_audit, method="steinke"),
    "mahloujifar": functools.partial(estimate.one_run_audit, method="mahloujifar"),
}
USUAL_OF_CANARIES = ("optimal", "optimal_gaussian", "steinke")


def make_command() -> Command:
    """The command with its flags."""
    command = Command("privacy_audit.estimate", SUMMARY, positional=("FILE",))
    what, output = "What to estimate", "Output"
    command.define(what, flags.DEFINE_float, "delta", 1e-5, "δ at which ε is stated, in [0, 1)")
    command.define(what, flags.DEFINE_float, "confidence", 0.95, "coverage of each bound, in (0, 1)")
    some = f"some of {', '.join(WORLDS)}; of one training: {', '.join(CANARIES)}"
    command.define(what, flags.DEFINE_list, "methods", None, some)
    fixed = "many trainings: count at this threshold, fixed before the scores were seen"
    command.define(what, flags.DEFINE_float, "threshold", None, fixed)
    guesses = "one training: so many guesses, fixed beforehand; by default one a canary"
    command.define(what, flags.DEFINE_integer, "guesses", None, guesses)
    command.define(output, flags.DEFINE_bool, "json", False, "print one JSON object instead of a table")
    return command


def body(command: Command) -> None:
    """Reads the scores and prints what they show."""
    columns = read_columns(command.arguments[0])
    if {"included", "world"} <= set(columns):
        raise ValueError("columns must hold world or included, got both: many trainings, or one?")
    if "included" in columns:
        _of_one_training(command, columns)
    else:
        _of_two_worlds(command, columns)


def _of_one_training(command: Command, columns: Columns) -> None:
    values = command.values
    command.refuse("threshold", "one training with many canaries")
    scores, included = canaries_of(columns)
    options = {"delta": values.delta, "confidence": values.confidence, "guesses": values.guesses}
    chosen = _chosen(values.methods, CANARIES, USUAL_OF_CANARIES)
    results = {name: method(scores, included, **options) for name, method in chosen.items()}
    if values.json:
        _print_json(results)
        return
    right = next(iter(results.values())).details
    print(f"{right['canaries']} canaries, {right['guesses']} guesses, {right['correct']} of them right")
    _print_bounds(results)


def _of_two_worlds(command: Command, columns: Columns) -> None:
    values = command.values
    command.refuse("guesses", "scores of two worlds")
    d, d_prime = worlds_of(columns)
    level = {"delta": values.delta, "confidence": values.confidence}
    chosen = _chosen(values.methods, WORLDS, USUAL_OF_WORLDS)
    results = {name: method(d, d_prime, **level) for name, method in chosen.items()}
    if values.threshold is not None:
        explicit = estimate.clopper_pearson(d, d_prime, threshold=values.threshold, **level)
        results = {"explicit": explicit, **results}
    area = estimate.auc(d, d_prime, confidence=values.confidence)
    if values.json:
        _print_json(results, auc=area.to_json())
        return
    ceiling = estimate.ceiling(min(len(d), len(d_prime)), **level)
    print(
        f"{len(d)} trials of D, {len(d_prime)} of D'; no count of errors can show more than ε = {ceiling:.4g}"
    )
    print(f"AUC {area.point:.4f} [{area.lower:.4f}, {area.upper:.4f}]")
    _print_bounds(results)
    for note in area.notes:
        print(f"note: {note}")


def _chosen(
    asked: Sequence[str] | None, known: dict[str, Callable], usual: Sequence[str]
) -> dict[str, Callable]:
    """The methods that are asked for.

    Raises:
        ValueError: there are none, or one is unknown.
    """
    names = usual if asked is None else asked
    if not names:
        raise ValueError(f"methods must be some of {', '.join(known)}, got none")
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ValueError(f"methods must be among {', '.join(known)}, got {unknown[0]}")
    return {name: known[name] for name in names}


def _print_json(results: dict[str, estimate.Estimate], **more) -> None:
    bounds = {name: result.to_json() for name, result in results.items()}
    print(json.dumps({"estimates": bounds, **more}, indent=2, allow_nan=False))


def _print_bounds(results: dict[str, estimate.Estimate]) -> None:
    for result in results.values():
        print(result, f"    assumes: {'; '.join(result.assumptions)}", sep="\n")


if __name__ == "__main__":
    main(make_command(), body)
