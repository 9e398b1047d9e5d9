"""ROC curves, areas, measures and thresholds.

Symbols: s scores of the m positives, t scores of the n negatives, v_(1) >= ... >= v_(n) the
negatives in descending order, FPR and TPR the shares of negatives and positives predicted
positive, [alpha, beta] the band of FPR that counts, g_j the part of negative j inside the band.

Everywhere ``y`` is a boolean mask of the positives or holds two labels, of which the larger is
positive unless ``positive`` names one; tied pairs count one half. Where rows have ``weights``, a
pair counts with the product of both, and the counts of a curve are sums of weights.
"""

from __future__ import annotations

from aucstudio.engine.roc.areas import (
    PartialAUC,
    area,
    auc_of,
    band_ranks,
    partial_auc,
    partial_auc_of,
    position,
    rank_weights,
)
from aucstudio.engine.roc.curve import (
    Curve,
    fpr_at,
    hull,
    reflect,
    tpr_at,
    vertical_average,
)
from aucstudio.engine.roc.measures import (
    Line,
    PointMeasure,
    accuracy,
    average_precision,
    cost_curve,
    cost_line,
    describe,
    equal_error_rate,
    f_measure,
    gain,
    h_measure,
    ks,
    lift,
    precision,
    precision_recall,
    skew_of,
    weighted_relative_accuracy,
)
from aucstudio.engine.roc.ranking import (
    FREQUENCY,
    SAMPLING,
    Ranking,
    Sampled,
    auc,
    binomial_bounds,
    check_weights,
    effective_rows,
    effective_trials,
    group_codes,
    look_up,
    roc_curve,
)
from aucstudio.engine.roc.thresholds import (
    RULES,
    ThresholdRule,
    UnreachableTargetError,
    check_costs,
    cost_threshold,
    cut_at,
    cuts,
    equal_error_threshold,
    fpr_threshold,
)

__all__ = [
    "FREQUENCY",
    "RULES",
    "SAMPLING",
    "Curve",
    "Line",
    "PartialAUC",
    "PointMeasure",
    "Ranking",
    "Sampled",
    "ThresholdRule",
    "UnreachableTargetError",
    "accuracy",
    "area",
    "auc",
    "auc_of",
    "average_precision",
    "band_ranks",
    "binomial_bounds",
    "check_costs",
    "check_weights",
    "cost_curve",
    "cost_line",
    "cost_threshold",
    "cut_at",
    "cuts",
    "describe",
    "effective_rows",
    "effective_trials",
    "equal_error_rate",
    "equal_error_threshold",
    "f_measure",
    "fpr_at",
    "fpr_threshold",
    "gain",
    "group_codes",
    "h_measure",
    "hull",
    "ks",
    "lift",
    "look_up",
    "partial_auc",
    "partial_auc_of",
    "position",
    "precision",
    "precision_recall",
    "rank_weights",
    "reflect",
    "roc_curve",
    "skew_of",
    "tpr_at",
    "vertical_average",
    "weighted_relative_accuracy",
]
