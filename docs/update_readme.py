"""`python docs/update_readme.py runs/first`: puts the table and the figure of a finished run into README.md."""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[1]
MARK = "<!-- table of command 1 -->"


def table(report: dict) -> str:
    """The adversaries of a report as Markdown, with what the run was and took."""
    lines = [
        "| adversary | ε̂ ≥ (95%) | same-sample, not valid | AUC (95% interval) |",
        "|---|---|---|---|",
    ]
    for name, entry in report["adversaries"].items():
        chosen = entry["statistics"][entry["statistic"]]
        area = chosen["auc"]
        lines.append(
            f"| `{name}` | {entry['epsilon_lower']:.2f} | {chosen['same_sample']['epsilon_lower']:.2f} "
            f"| {area['point']:.3f} ({area['lower']:.3f}–{area['upper']:.3f}) |"
        )
    first = next(iter(report["adversaries"].values()))
    lines += [
        "",
        f"Proven: ε = {report['epsilon_proven']:.2f} at δ = {report['delta']:g}. "
        f"{first['trials_per_world']} trials per world, {first['method']}, "
        f"{report['seconds']:.0f} s on {report['hardware']['devices']} CPU cores, "
        f"seed {report['config']['seed']}, jax {report['versions']['jax']}.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Rewrites README's table and copies the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=pathlib.Path, help="folder of the finished run")
    run = parser.parse_args().run
    text = (ROOT / "README.md").read_text()
    block = f"{MARK}\n{table(json.loads((run / 'report.json').read_text()))}\n<!-- end -->"
    text = re.sub(rf"{re.escape(MARK)}.*?<!-- end -->", lambda _: block, text, flags=re.DOTALL)
    (ROOT / "README.md").write_text(text)
    shutil.copy(run / "figure.png", ROOT / "docs" / "first_audit.png")


if __name__ == "__main__":
    main()
