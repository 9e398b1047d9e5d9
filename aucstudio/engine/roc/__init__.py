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
    describe,
    equal_error_rate,
    h_measure,
    ks,
)
from aucstudio.engine.roc.partial import (
    PartialAUC,
    partial_auc,
    partial_auc_of,
)
from aucstudio.engine.roc.precision_recall import (
    average_precision,
    precision_recall,
)
from aucstudio.engine.roc.ranking import Ranking
from aucstudio.engine.roc.rules import RULES, ThresholdRule, UnreachableTargetError
from aucstudio.engine.roc.thresholds import (
    cost_threshold,
    equal_error_threshold,
    fpr_threshold,
    minmax_threshold,
)
from aucstudio.engine.roc.weights import (
    FREQUENCY,
    SAMPLING,
    WEIGHT_KINDS,
    Sampled,
    binomial_bounds,
    check_weight_kind,
    check_weights,
    effective_rows,
    effective_trials,
    group_codes,
    repeats,
)

__all__ = [
    "FREQUENCY",
    "RULES",
    "SAMPLING",
    "WEIGHT_KINDS",
    "Curve",
    "KolmogorovSmirnov",
    "Line",
    "PartialAUC",
    "PointMeasure",
    "Ranking",
    "Sampled",
    "Scores",
    "ThresholdRule",
    "UnreachableTargetError",
    "accuracy",
    "auc",
    "auc_of",
    "auch",
    "average_precision",
    "band_coverage",
    "band_ranks",
    "binomial_bounds",
    "check_band",
    "check_weight_kind",
    "check_weights",
    "cost_curve",
    "cost_line",
    "cost_threshold",
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
    "minmax_threshold",
    "pair_share",
    "partial_auc",
    "partial_auc_of",
    "precision",
    "precision_recall",
    "rank_pauc",
    "rank_weights",
    "reflect",
    "repeats",
    "roc_curve",
    "skew_of",
    "sorted_scores",
    "split_scores",
    "tpr_at",
    "vertical_average",
    "weighted_relative_accuracy",
]
