"""The report in a cell's folder, if it is of the audit that is asked for."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from etils import epath

from privacy_audit.config import AuditConfig


def report_of(folder: epath.Path, make: Callable[[], AuditConfig]) -> dict[str, Any] | None:
    """The finished audit's report; None where there is none.

    Where its data lay does not matter.

    Args:
        make: the configuration that is asked for; called only where there is a report.

    Raises:
        ValueError: the report is of other settings.
    """
    file = folder / "report.json"
    if not file.exists():
        return None
    try:
        report = json.loads(file.read_text())
        stored = report["config"]
    except (ValueError, KeyError):
        raise ValueError(
            f"out must hold readable reports, got a damaged {file}; remove it to conclude anew from the scores"
        ) from None
    wanted = dataclasses.replace(make(), data_dir=stored["data_dir"])
    if report["identity"] != wanted.identity:
        asked = json.loads(json.dumps(wanted.to_json()))
        unlike = sorted(name for name in asked if asked[name] != stored.get(name))
        raise ValueError(
            f"out must hold audits of these settings or none, got another {', '.join(unlike)} in {folder}; "
            "use another --out"
        )
    return report
