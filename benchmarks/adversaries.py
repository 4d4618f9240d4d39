"""The six adversaries on real images, the gradient attack's three statistics, and the dataset attack's reduction.

    python benchmarks/adversaries.py --part=ordering --out=benchmarks/results/adversaries_ordering.json
    python benchmarks/adversaries.py --part=gradient --out=benchmarks/results/adversaries_gradient.json
    python benchmarks/adversaries.py --part=reduction --out=benchmarks/results/adversaries_reduction.json

All on mnist5k. The settings of `ordering` were chosen on shorter runs with the seed 7: a clipping norm above a typical
example's gradient and a poison far from the data, so that what an adversary may do shows. Which statistic stands for an
adversary is fixed here, not chosen by the result.
"""

import json
import tempfile
from pathlib import Path

import jax
import numpy as np
from absl import app, flags
from scipy import stats

from privacy_audit.attacks import ADVERSARIES
from privacy_audit.config import AuditConfig, calibrated_noise
from privacy_audit.devices import use_all_cores
from privacy_audit.estimate import auc, auc_difference, clopper_pearson
from privacy_audit.estimate.result import finite_or_none
from privacy_audit.ledger import Ledger
from privacy_audit.report.document import hardware, versions
from privacy_audit.run import run_audit

PART = flags.DEFINE_enum("part", None, ["ordering", "gradient", "reduction"], "what to run", required=True)
OUT = flags.DEFINE_string("out", None, "JSON file", required=True)
TRIALS = flags.DEFINE_integer("trials", 0, "per world; 0: 600, 1000 and 2000 for the three parts")
RUNS = flags.DEFINE_string(
    "runs", None, "folder for the ledgers, which a second start resumes; default: temporary"
)

ORDER = {
    "api_access": "loss",
    "static_poison": "loss",
    "intermediate_poison": "matched_filter",
    "adaptive_poison": "matched_filter",
    "gradient": "likelihood_ratio",
    "dataset": "likelihood_ratio",
}
PAIRS = [
    ("api_access", "static_poison"),
    ("static_poison", "intermediate_poison"),
    ("intermediate_poison", "gradient"),
    ("gradient", "dataset"),
    ("static_poison", "adaptive_poison"),
]


def configuration(trials: int, epsilon: float, adversaries, options=None, **settings) -> AuditConfig:
    """DP-SGD on the dense network, its noise calibrated to `epsilon` at δ = 1e-5."""
    rate = settings["batch_size"] / settings["num_examples"]
    values = options or {}
    return AuditConfig(
        dataset="mnist5k",
        data_dir=None,
        model="fully_connected",
        adversaries=tuple(adversaries),
        options={name: _options(name, values) for name in adversaries},
        noise_multiplier=calibrated_noise(epsilon, 1e-5, rate, settings["steps"], "pld"),
        delta=1e-5,
        accountant="pld",
        initialization="fixed",
        trials=trials,
        confidence=0.95,
        threshold="held-out",
        seed=1,
        **settings,
    )


def _options(name: str, values: dict):
    kind = ADVERSARIES[name].options
    return kind(**{key: value for key, value in values.items() if key in kind.__dataclass_fields__})


def play(config: AuditConfig, folder: Path):
    """Runs an audit; its report and both worlds' scores."""
    report = run_audit(config, folder)
    return report, *Ledger(folder).read_all(config.trials)


def ordering(folder: Path) -> dict:
    """Paired AUC differences between adversaries of growing power."""
    config = configuration(
        TRIALS.value or 600,
        10.0,
        ADVERSARIES,
        {"poison": "mislabelled"},
        num_examples=400,
        batch_size=200,
        steps=8,
        clipping_norm=16.0,
        learning_rate=0.3,
    )
    report, d, d_prime = play(config, folder)
    shown = {name: f"{name}/{statistic}" for name, statistic in ORDER.items()}
    differences = [
        _difference(
            d, d_prime, shown[stronger], shown[weaker], same_trials="dataset" not in (weaker, stronger)
        )
        for weaker, stronger in PAIRS
    ]
    papers = [
        _difference(d, d_prime, f"{name}/{statistic}", "static_poison/loss", same_trials=True)
        for name in ("intermediate_poison", "adaptive_poison")
        for statistic in ("max", "mean")
    ]
    return {"report": report, "auc_differences_fixed_beforehand": differences, "papers_statistics": papers}


def _difference(d, d_prime, first: str, second: str, *, same_trials: bool) -> dict:
    worlds = d[first], d_prime[first], d[second], d_prime[second]
    interval = auc_difference(*worlds, paired=same_trials, confidence=0.95)
    return {
        "first": first,
        "second": second,
        "separated": interval.lower > 0 or interval.upper < 0,
        **interval.to_json(),
    }


def gradient(folder: Path) -> dict:
    """Signed likelihood ratio, eq. 6 and absolute sum on the same trials, at q = 1 and q < 1."""
    rows = []
    for batch_size, steps in ((100, 4), (25, 16)):
        config = configuration(
            TRIALS.value or 1000,
            4.0,
            ["gradient"],
            {"gradient_statistics": "all"},
            num_examples=100,
            batch_size=batch_size,
            steps=steps,
            clipping_norm=1.0,
            learning_rate=0.15,
        )
        _, d, d_prime = play(config, folder / str(batch_size))
        for name in ("likelihood_ratio", "eq6", "absolute_sum"):
            worlds = d[f"gradient/{name}"], d_prime[f"gradient/{name}"]
            bound = clopper_pearson(*worlds, delta=1e-5)
            rows.append(
                {
                    "sampling_rate": config.plan.sampling_rate,
                    "steps": steps,
                    "noise_multiplier": config.noise_multiplier,
                    "statistic": name,
                    "auc": auc(*worlds).to_json(),
                    "epsilon_lower": bound.epsilon_lower,
                    "estimate": bound.to_json(),
                }
            )
    return {"epsilon_proven": 4.0, "rows": rows, "config_of_the_last_row": config.to_json()}


def reduction(folder: Path) -> dict:
    """The scalars against whole trainings, and against their exact law, by Kolmogorov-Smirnov."""
    rows = []
    for batch_size, steps in ((60, 4), (15, 12)):
        scores = {}
        for index, kind in enumerate(("reduced", "trained")):
            config = configuration(
                TRIALS.value or 2000,
                4.0,
                ["dataset"],
                {"dataset_trials": kind},
                num_examples=60,
                batch_size=batch_size,
                steps=steps,
                clipping_norm=1.0,
                learning_rate=0.15,
            )
            _, *worlds = play(config, folder / f"{batch_size}-{index}")
            scores[kind] = [world["dataset/likelihood_ratio"] for world in worlds]
        law = ADVERSARIES["dataset"].law(config.plan, config.options["dataset"])
        for world in (0, 1):
            reduced, trained = scores["reduced"][world], scores["trained"][world]

            def cdf(x, law=law, world=world):
                return law.cdf(x, world)

            rows.append(
                {
                    "sampling_rate": config.plan.sampling_rate,
                    "steps": steps,
                    "world": world,
                    "trials": len(reduced),
                    "p_reduced_against_trained": stats.ks_2samp(reduced, trained).pvalue,
                    "p_reduced_against_law": stats.kstest(reduced, cdf).pvalue,
                    "p_trained_against_law": stats.kstest(trained, cdf).pvalue,
                }
            )
    return {"rows": rows, "config_of_the_last_row": config.to_json()}


def main(argv):
    """Runs a part and writes its JSON."""
    del argv
    use_all_cores(2)
    np.seterr(all="ignore")
    parts = {"ordering": ordering, "gradient": gradient, "reduction": reduction}
    with tempfile.TemporaryDirectory() as temporary:
        found = parts[PART.value](Path(RUNS.value or temporary))
    command = f"python benchmarks/adversaries.py --part={PART.value} --out={OUT.value}"
    document = {"command": command, **found, "versions": versions(), "hardware": hardware()}
    Path(OUT.value).write_text(json.dumps(finite_or_none(document), indent=1, ensure_ascii=False) + "\n")
    print(jax.devices())


if __name__ == "__main__":
    app.run(main)
