"""The report of an audit: terminal table, `report.json`, `figure.png`."""

from privacy_audit.report.document import report_document
from privacy_audit.report.figure import draw_roc
from privacy_audit.report.table import render_table

__all__ = ["draw_roc", "render_table", "report_document"]
