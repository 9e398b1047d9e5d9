"""Intervals, bands, tests and sample sizes for AUC, partial AUC and ROC curves.

Symbols: s scores of the m positives, t scores of the n negatives, g rank weights of the negatives
over the band [alpha, beta], psi10 and psi01 the components of a partial AUC: one number for each
positive and each negative, whose variances add up to that of the area. On [0, 1] they are
DeLong's V10 and V01. Partial areas are normalised, pAUC / (beta - alpha).
"""

from __future__ import annotations

from aucstudio.engine.inference.bands import Band, bootstrap_band, kolmogorov_band
from aucstudio.engine.inference.bootstrap import bootstrap_interval, bootstrap_test
from aucstudio.engine.inference.correction import bonferroni, holm, settled
from aucstudio.engine.inference.cost_threshold import cost_threshold_interval
from aucstudio.engine.inference.delong import (
    auc_test,
    delong_covariance,
    delong_interval,
    delong_test,
)
from aucstudio.engine.inference.folds import LEAST_IN_FOLD, FoldedArea, folds_interval
from aucstudio.engine.inference.groups import GroupArea, equality_test
from aucstudio.engine.inference.partial import Placements, interval_of, pauc_interval, pauc_test
from aucstudio.engine.inference.pointwise import pointwise_band
from aucstudio.engine.inference.power import (
    auc_power,
    auc_sample_size,
    auc_se,
    difference_se,
    power_of,
    precision_sample_size,
)
from aucstudio.engine.inference.resampling import Progress
from aucstudio.engine.inference.results import Interval, TestResult, absent_interval
from aucstudio.engine.inference.same_rows import NotSameRows, check_same_rows
from aucstudio.engine.inference.splits import (
    LEAST_SPLITS,
    splits_interval,
    splits_test,
    variance_factor,
)

__all__ = [
    "LEAST_IN_FOLD",
    "LEAST_SPLITS",
    "Band",
    "FoldedArea",
    "GroupArea",
    "Interval",
    "NotSameRows",
    "Placements",
    "Progress",
    "TestResult",
    "absent_interval",
    "auc_power",
    "auc_sample_size",
    "auc_se",
    "auc_test",
    "bonferroni",
    "bootstrap_band",
    "bootstrap_interval",
    "bootstrap_test",
    "check_same_rows",
    "cost_threshold_interval",
    "delong_covariance",
    "delong_interval",
    "delong_test",
    "difference_se",
    "equality_test",
    "folds_interval",
    "holm",
    "interval_of",
    "kolmogorov_band",
    "pauc_interval",
    "pauc_test",
    "pointwise_band",
    "power_of",
    "precision_sample_size",
    "settled",
    "splits_interval",
    "splits_test",
    "variance_factor",
]
