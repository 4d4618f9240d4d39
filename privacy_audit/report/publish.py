"""Writes a report into a ledger's folder and prints its table."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

from privacy_audit.bounds.profiles import PrivacyProfile
from privacy_audit.ledger import Ledger, write_json
from privacy_audit.report.document import report_document
from privacy_audit.report.figure import draw_roc
from privacy_audit.report.table import render_table
from privacy_audit.verdict import Verdict


def publish(
    ledger: Ledger,
    verdict: Verdict,
    facts: Mapping[str, Any],
    profile: PrivacyProfile | None,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Writes `report.json` and `figure.png`, prints the table, and returns the document.

    Args:
        facts: what the report holds beside the verdict (configuration, wall time, …), strict JSON values.
        profile: what is proven of the mechanism; None where nothing is.
    """
    document = report_document(verdict, facts)
    write_json(ledger.folder / "report.json", document)
    picture = io.BytesIO()
    draw_roc(verdict, profile).savefig(picture)
    (ledger.folder / "figure.png").write_bytes(picture.getvalue())
    print(render_table(verdict))
    say(f"report.json and figure.png are in {ledger.folder}")
    return document
