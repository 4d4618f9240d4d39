"""The report of an audit: terminal table, `report.json`, `figure.png`."""

from privacy_audit.report.publish import publish

__all__ = ["publish"]
