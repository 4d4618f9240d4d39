"""The verdict: from the scores of two worlds to a lower bound on ε that stands up in a review."""

from privacy_audit.estimate.clopper_pearson import clopper_pearson, epsilon_from_counts
from privacy_audit.estimate.result import Estimate

__all__ = ["Estimate", "clopper_pearson", "epsilon_from_counts"]
