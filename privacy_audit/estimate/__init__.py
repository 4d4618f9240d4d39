"""The verdict: from the scores of two worlds to a lower bound on ε that stands up in a review."""

from privacy_audit.estimate.auc import Interval, auc, auc_difference
from privacy_audit.estimate.bayesian import bayesian
from privacy_audit.estimate.best_of import best_of
from privacy_audit.estimate.clopper_pearson import clopper_pearson, epsilon_from_counts
from privacy_audit.estimate.f_dp_test import ProfileTest, f_dp_test
from privacy_audit.estimate.families import Family, approximate_dp_family, dpsgd_family, gaussian_family
from privacy_audit.estimate.gaussian_dp import gaussian_dp
from privacy_audit.estimate.mechanism_fit import mechanism_fit
from privacy_audit.estimate.one_run import one_run_audit, one_run_secrets
from privacy_audit.estimate.result import Estimate
from privacy_audit.estimate.tpr_at_fpr import tpr_at_fpr
from privacy_audit.estimate.trials_needed import ceiling, trials_needed

__all__ = [
    "Estimate",
    "Family",
    "Interval",
    "ProfileTest",
    "approximate_dp_family",
    "auc",
    "auc_difference",
    "bayesian",
    "best_of",
    "ceiling",
    "clopper_pearson",
    "dpsgd_family",
    "epsilon_from_counts",
    "f_dp_test",
    "gaussian_dp",
    "gaussian_family",
    "mechanism_fit",
    "one_run_audit",
    "one_run_secrets",
    "tpr_at_fpr",
    "trials_needed",
]
