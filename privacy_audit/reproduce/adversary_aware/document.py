"""`reproduction_adversary_aware.md`, generated from the parts' results: never typed."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from etils import epath

from privacy_audit.ledger import write_json
from privacy_audit.reproduce.adversary_aware.part import Part

NAME, OTHER = "reproduction_adversary_aware", "reproduction.md"
COMMAND = "python -m privacy_audit.reproduce --paper=adversary_aware"


def write_document(
    parts: Mapping[str, Part], results: Mapping[str, Mapping[str, Any]], scale: str, folder: pathlib.Path
) -> None:
    """Writes the document into `folder`, its figures and every part's results into a folder of its name.

    Args:
        results: of one scale, each with its own seed, which stands beside its section.
    """
    inside = folder / NAME
    inside.mkdir(parents=True, exist_ok=True)
    sections = [_head(parts, results, scale, folder)]
    for name, found in results.items():
        write_json(epath.Path(inside) / f"{name}.json", found)
        captions = parts[name].draw(found, inside)
        shown = [f"![{caption}]({NAME}/{file})" for file, caption in captions.items()]
        sections.append("\n\n".join([parts[name].write(found), *shown, _made_by(name, found)]))
    text = "\n\n".join(section.strip() for section in sections) + "\n"
    (folder / f"{NAME}.md").write_text(text, encoding="utf-8")


def _head(
    parts: Mapping[str, Part], results: Mapping[str, Mapping[str, Any]], scale: str, folder: pathlib.Path
) -> str:
    missing = [name for name, part in parts.items() if name not in results and scale in part.settings]
    lines = [
        "# Paper U reproduced",
        f"*A Unified Framework for Adversary-Aware DP Bounds* (arXiv 2507.08158 (U)) at scale `{scale}`. Every number "
        f"is in the JSON files of `{NAME}/`, with settings, seed, versions and hardware. This page and its figures "
        "are made from those files alone, by",
        _shell(f"{COMMAND} --scale={scale} --parts=report --out={folder / NAME} --docs={folder}"),
        "At the end of each part stands the command that made its file, with its seed.",
    ]
    if (folder / OTHER).exists():
        lines.append(f"[Paper L]({OTHER}) has its own document.")
    if missing:
        lines.append(f"**Partial.** Not run at this scale yet: {', '.join(missing)}.")
    return "\n\n".join(lines)


def _made_by(name: str, found: Mapping[str, Any]) -> str:
    """The command behind a part's results."""
    people = found.get("source")  # whose attributes they are, where they are people's
    whose = f" --people={people}" if people in ("adult", "acs") else ""
    folder = f" --{people}_dir=$HOME/{people}" if whose else ""
    command = f"{COMMAND} --scale={found['scale']} --parts={name} --seed={found['seed']}{whose}{folder}"
    return f"Made at seed {found['seed']} by\n\n{_shell(command)}"


def _shell(command: str) -> str:
    return f"```bash\n{command}\n```"
