"""ROC curves, the areas under them, and the thresholds read off them.

Symbols: s scores of the m positives, t scores of the n negatives, v_(1) >= ... >= v_(n) the
negatives in descending order, FPR and TPR the shares of negatives and positives predicted
positive, [alpha, beta] the band of FPR that counts, g_j the part of negative j inside the band.

Everywhere ``y`` is a boolean mask of the positives or holds two labels, of which the larger is
positive unless ``positive`` names one; tied pairs count one half.
"""

from __future__ import annotations

from aucstudio.engine.roc.area import (
    PartialAUC,
    auc,
    auc_of,
    band_ranks,
    check_band,
    look_up,
    pair_share,
    partial_auc,
    partial_auc_of,
    rank_pauc,
    rank_weights,
)
from aucstudio.engine.roc.curve import (
    Array,
    Curve,
    Mask,
    Scores,
    roc_curve,
    sorted_scores,
    split_scores,
)
from aucstudio.engine.roc.geometry import (
    hull,
    tpr_at,
    vertical_average,
)
from aucstudio.engine.roc.thresholds import (
    cost_threshold,
    equal_error_threshold,
    fpr_threshold,
    minmax_threshold,
)

__all__ = [
    "Array",
    "Curve",
    "Mask",
    "PartialAUC",
    "Scores",
    "auc",
    "auc_of",
    "band_ranks",
    "check_band",
    "cost_threshold",
    "equal_error_threshold",
    "fpr_threshold",
    "hull",
    "look_up",
    "minmax_threshold",
    "pair_share",
    "partial_auc",
    "partial_auc_of",
    "rank_pauc",
    "rank_weights",
    "roc_curve",
    "sorted_scores",
    "split_scores",
    "tpr_at",
    "vertical_average",
]
