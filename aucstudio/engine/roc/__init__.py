"""ROC curves, areas, measures and thresholds.

Symbols: s scores of the m positives, t scores of the n negatives, v_(1) >= ... >= v_(n) the
negatives in descending order, FPR and TPR the shares of negatives and positives predicted
positive, [alpha, beta] the band of FPR that counts, g_j the part of negative j inside the band.

Everywhere ``y`` is a boolean mask of the positives or holds two labels, of which the larger is
positive unless ``positive`` names one; tied pairs count one half. Where rows have ``weights``, a
pair counts with the product of both, and the counts of a curve are sums of weights.
"""

# Each name is listed once, as imported and exported.
# isort: skip_file

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aucstudio.engine.roc.curve import (
    RocCurve as RocCurve,
    PartialAUC as PartialAUC,
    auc_of as auc_of,
    band_ranks as band_ranks,
    fpr_at as fpr_at,
    hull as hull,
    partial_auc_of as partial_auc_of,
    position as position,
    rank_weights as rank_weights,
    tpr_at as tpr_at,
    vertical_average as vertical_average,
)
from aucstudio.engine.roc.ranking import (
    FREQUENCY as FREQUENCY,
    SAMPLING as SAMPLING,
    Ranking as Ranking,
    Sampled as Sampled,
    area as area,
    auc as auc,
    check_weights as check_weights,
    group_codes as group_codes,
    look_up as look_up,
    partial_auc as partial_auc,
    roc_curve as roc_curve,
)
from aucstudio.engine.roc.thresholds import (
    RULES as RULES,
    ThresholdRule as ThresholdRule,
    UnreachableTargetError as UnreachableTargetError,
    check_costs as check_costs,
    cost_threshold as cost_threshold,
    cut_at as cut_at,
    cuts as cuts,
    equal_error_threshold as equal_error_threshold,
    fpr_threshold as fpr_threshold,
)
from aucstudio.engine.roc.trials import (
    binomial_bounds as binomial_bounds,
    effective_rows as effective_rows,
    effective_trials as effective_trials,
)

if TYPE_CHECKING:
    from aucstudio.engine.roc.measures import (
        Line as Line,
        PointMeasure as PointMeasure,
        accuracy as accuracy,
        average_precision as average_precision,
        cost_curve as cost_curve,
        cost_line as cost_line,
        describe as describe,
        equal_error_rate as equal_error_rate,
        f_measure as f_measure,
        gain as gain,
        h_measure as h_measure,
        ks as ks,
        lift as lift,
        precision as precision,
        precision_recall as precision_recall,
        skew_of as skew_of,
        weighted_relative_accuracy as weighted_relative_accuracy,
    )


LATE = {
    "measures": "Line PointMeasure accuracy average_precision cost_curve cost_line describe "
    "equal_error_rate f_measure gain h_measure ks lift precision precision_recall skew_of "
    "weighted_relative_accuracy",
}
"""Modules that are imported when one of their names is used: a fit needs none of them."""


def __getattr__(name: str) -> Any:
    for module, names in LATE.items():
        if name in names.split():
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
