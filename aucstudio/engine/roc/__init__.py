"""ROC curves, their areas and other measures, and the thresholds read off them.

Symbols: s scores of the m positives, t scores of the n negatives, v_(1) >= ... >= v_(n) the
negatives in descending order, FPR and TPR the shares of negatives and positives predicted
positive, [alpha, beta] the band of FPR that counts, g_j the part of negative j inside the band.

Everywhere ``y`` is a boolean mask of the positives or holds two labels, of which the larger is
positive unless ``positive`` names one; tied pairs count one half. Where rows have ``weights``, a
pair counts with the product of both, and the counts of a curve are sums of weights.
"""

from __future__ import annotations

from aucstudio.engine.roc.area import (
    auc,
    auc_of,
    look_up,
    pair_share,
)
from aucstudio.engine.roc.axes import (
    cost_curve,
    gain,
    lift,
)
from aucstudio.engine.roc.band import (
    band_coverage,
    band_ranks,
    check_band,
    rank_pauc,
    rank_weights,
)
from aucstudio.engine.roc.curve import Curve, Scores, roc_curve, sorted_scores, split_scores
from aucstudio.engine.roc.geometry import (
    fpr_at,
    hull,
    reflect,
    tpr_at,
    vertical_average,
)
from aucstudio.engine.roc.isometrics import (
    Line,
    PointMeasure,
    accuracy,
    cost_line,
    f_measure,
    precision,
    skew_of,
    weighted_relative_accuracy,
)
from aucstudio.engine.roc.measures import (
    KolmogorovSmirnov,
    auch,
    auch_of,
    describe,
    describe_of,
    equal_error_rate,
    equal_error_rate_of,
    gini,
    h_measure,
    h_measure_of,
    ks,
    ks_of,
)
from aucstudio.engine.roc.partial import (
    PartialAUC,
    PartialAUCByTPR,
    TwoWayPartialAUC,
    partial_auc,
    partial_auc_by_tpr,
    partial_auc_by_tpr_of,
    partial_auc_of,
    two_way_partial_auc,
    two_way_partial_auc_of,
)
from aucstudio.engine.roc.precision_recall import (
    average_precision,
    average_precision_of,
    precision_recall,
    precision_recall_area,
    precision_recall_area_of,
)
from aucstudio.engine.roc.ranking import Ranking
from aucstudio.engine.roc.rules import RULES, ThresholdRule, UnreachableTargetError
from aucstudio.engine.roc.thresholds import (
    cost_threshold,
    equal_error_threshold,
    fpr_threshold,
    minmax_threshold,
)
from aucstudio.engine.roc.weights import check_weights, effective_rows

__all__ = [
    "RULES",
    "Array",
    "Curve",
    "KolmogorovSmirnov",
    "Line",
    "Mask",
    "PartialAUC",
    "PartialAUCByTPR",
    "PointMeasure",
    "Ranking",
    "Scores",
    "ThresholdRule",
    "TwoWayPartialAUC",
    "UnreachableTargetError",
    "accuracy",
    "auc",
    "auc_of",
    "auch",
    "auch_of",
    "average_precision",
    "average_precision_of",
    "band_coverage",
    "band_ranks",
    "check_band",
    "check_weights",
    "cost_curve",
    "cost_line",
    "cost_threshold",
    "describe",
    "describe_of",
    "effective_rows",
    "equal_error_rate",
    "equal_error_rate_of",
    "equal_error_threshold",
    "f_measure",
    "fpr_at",
    "fpr_threshold",
    "gain",
    "gini",
    "h_measure",
    "h_measure_of",
    "hull",
    "ks",
    "ks_of",
    "lift",
    "look_up",
    "minmax_threshold",
    "pair_share",
    "partial_auc",
    "partial_auc_by_tpr",
    "partial_auc_by_tpr_of",
    "partial_auc_of",
    "precision",
    "precision_recall",
    "precision_recall_area",
    "precision_recall_area_of",
    "rank_pauc",
    "rank_weights",
    "reflect",
    "roc_curve",
    "skew_of",
    "sorted_scores",
    "split_scores",
    "tpr_at",
    "two_way_partial_auc",
    "two_way_partial_auc_of",
    "vertical_average",
    "weighted_relative_accuracy",
]
