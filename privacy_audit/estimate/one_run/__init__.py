"""ε from a single training run with many canaries."""

from privacy_audit.estimate.one_run.audit import one_run_audit
from privacy_audit.estimate.one_run.secrets import one_run_secrets

__all__ = ["one_run_audit", "one_run_secrets"]
