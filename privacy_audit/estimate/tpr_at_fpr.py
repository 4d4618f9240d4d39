"""True positive rate at a small false positive rate (Carlini et al. 2022, arXiv 2112.03570)."""

import numpy as np
from scipy.special import betainc

from privacy_audit.estimate.auc import Interval
from privacy_audit.estimate.clopper_pearson import INDEPENDENT, rate_lower, rate_upper
from privacy_audit.estimate.scores import check_level, check_scores, notes_on


def tpr_at_fpr(scores_d, scores_d_prime, false_positive_rate: float, *, confidence: float = 0.95) -> Interval:
    """True positive rate at the threshold whose false positive rate is at most the stated one.

    The point is the ROC curve's: the lowest threshold with at most ⌊fpr·n⌋ false positives. The interval is
    for a threshold at *exactly* that false positive rate, which lies between two order statistics of D with
    half of the error probability; the other half bounds the true positive rate at both (Clopper-Pearson). It
    is exact, so with few trials of D it is wide, from 0 where no order statistic is that far out.

    Args:
        scores_d: Scores of the trials of D.
        scores_d_prime: Scores of the trials of D'; higher = more likely D'.
        false_positive_rate: The false positive rate, in (0, 1).
        confidence: Coverage of the interval.

    Raises:
        ValueError: on empty, non-finite or misshapen scores, or a rate outside (0, 1).
    """
    d, d_prime = check_scores(scores_d, "scores_d"), check_scores(scores_d_prime, "scores_d_prime")
    check_level(0.0, confidence)
    if not 0 < false_positive_rate < 1:
        raise ValueError(f"false_positive_rate must be in (0, 1), got {false_positive_rate}")
    n, m, quarter = len(d), len(d_prime), (1 - confidence) / 4
    falling = np.sort(d)[::-1]
    # The (j+1)-th largest score of D stands at a level V ~ Beta(j+1, n−j).
    ranks = np.arange(n)
    below = betainc(ranks + 1.0, n - ranks + 0.0, false_positive_rate)
    strict = np.flatnonzero(below >= 1 - quarter)  # V <= fpr, surely enough
    generous = np.flatnonzero(below <= quarter)  # V >= fpr, surely enough
    allowed = int(np.floor(false_positive_rate * n * (1 + 1e-12)))
    hits_strict = int(np.sum(d_prime > falling[strict[-1]])) if strict.size else 0
    hits_generous = int(np.sum(d_prime >= falling[generous[0]])) if generous.size else m
    return Interval(
        f"tpr at fpr {false_positive_rate:g}",
        float(np.mean(d_prime > falling[allowed])),
        float(rate_lower(hits_strict, m, quarter)),
        float(rate_upper(hits_generous, m, quarter)),
        confidence,
        (INDEPENDENT,),
        notes_on(d, d_prime),
    )
