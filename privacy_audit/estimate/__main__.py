"""`python -m privacy_audit.estimate scores.csv`: bounds on ε from scores that were made anywhere."""

import functools
import json
import sys

from absl import app, flags

from privacy_audit import estimate
from privacy_audit.estimate.tables import read_scores

METHODS = {
    "held-out": functools.partial(estimate.clopper_pearson, threshold="held-out"),
    "every": functools.partial(estimate.clopper_pearson, threshold="every"),
    "same-sample": functools.partial(estimate.clopper_pearson, threshold="same-sample"),
    "gaussian_dp": estimate.gaussian_dp,
    "bayesian": estimate.bayesian,
    "mechanism_fit": estimate.mechanism_fit,
}

_DELTA = flags.DEFINE_float("delta", 1e-5, "δ at which ε is stated, in [0, 1).")
_CONFIDENCE = flags.DEFINE_float("confidence", 0.95, "Coverage of each bound, in (0, 1).")
_METHODS = flags.DEFINE_list(
    "methods", ["held-out", "every", "gaussian_dp", "mechanism_fit"], f"Which of: {', '.join(METHODS)}."
)
_THRESHOLD = flags.DEFINE_float(
    "threshold", None, "Count at this threshold, fixed before the scores were seen."
)
_JSON = flags.DEFINE_bool("json", False, "Print one JSON object instead of a table.")


def run(path: str) -> str:
    """The report on one file, as text."""
    d, d_prime = read_scores(path)
    chosen = {name: METHODS[name] for name in _METHODS.value}
    if _THRESHOLD.value is not None:
        explicit = functools.partial(estimate.clopper_pearson, threshold=_THRESHOLD.value)
        chosen = {"explicit": explicit, **chosen}
    level = {"delta": _DELTA.value, "confidence": _CONFIDENCE.value}
    results = {name: method(d, d_prime, **level) for name, method in chosen.items()}
    area = estimate.auc(d, d_prime, confidence=_CONFIDENCE.value)
    if _JSON.value:
        bounds = {name: result.to_json() for name, result in results.items()}
        return json.dumps({"estimates": bounds, "auc": area.to_json()}, indent=2, allow_nan=False)
    lines = [f"{len(d)} trials of D, {len(d_prime)} of D'; ceiling ε = {_ceiling(d, d_prime):.4g}"]
    lines += [f"AUC {area.point:.4f} [{area.lower:.4f}, {area.upper:.4f}]", *map(str, results.values())]
    return "\n".join(lines + [f"note: {note}" for note in area.notes])


def _ceiling(d, d_prime) -> float:
    trials = min(len(d), len(d_prime))
    return estimate.ceiling(trials, delta=_DELTA.value, confidence=_CONFIDENCE.value)


def main(arguments: list[str]) -> None:
    """Prints the report; a bad input is one line on stderr and exit code 2."""
    try:
        if len(arguments) != 2:
            raise ValueError(f"give one file of scores, got {len(arguments) - 1}")
        unknown = sorted(set(_METHODS.value) - set(METHODS))
        if unknown:
            raise ValueError(f"methods must be among {', '.join(METHODS)}, got {unknown[0]}")
        print(run(arguments[1]))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    app.run(main)
