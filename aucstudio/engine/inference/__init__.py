"""Intervals, bands, tests and sample sizes for AUC, partial AUC and ROC curves.

Symbols: s scores of the m positives, t scores of the n negatives, g rank weights of the negatives
over the band [alpha, beta], psi10 and psi01 the components of a partial AUC: one number for each
positive and each negative, whose variances add up to that of the area. On [0, 1] they are
DeLong's V10 and V01. Partial areas are normalised, pAUC / (beta - alpha).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aucstudio.engine.inference.areas import (
    Placements,
    auc_test,
    delong_interval,
    delong_test,
    interval_of,
    pauc_interval,
    pauc_test,
)
from aucstudio.engine.inference.results import (
    Interval,
    TestResult,
    absent_interval,
    bonferroni,
    holm,
    is_significant,
)

if TYPE_CHECKING:
    from aucstudio.engine.inference.bands import (
        Band,
        bootstrap_band,
        kolmogorov_band,
        pointwise_band,
    )
    from aucstudio.engine.inference.folds import (
        LEAST_IN_FOLD,
        FoldedArea,
        GroupArea,
        equality_test,
        folds_interval,
    )
    from aucstudio.engine.inference.resampling import (
        Progress,
        bootstrap_interval,
        bootstrap_test,
        cost_threshold_interval,
        resamples,
    )
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
    "Placements",
    "Progress",
    "TestResult",
    "absent_interval",
    "auc_test",
    "bonferroni",
    "bootstrap_band",
    "bootstrap_interval",
    "bootstrap_test",
    "cost_threshold_interval",
    "delong_interval",
    "delong_test",
    "equality_test",
    "folds_interval",
    "holm",
    "interval_of",
    "is_significant",
    "kolmogorov_band",
    "pauc_interval",
    "pauc_test",
    "pointwise_band",
    "resamples",
    "splits_interval",
    "splits_test",
    "variance_factor",
]

_LATE = {
    "bands": ("Band", "bootstrap_band", "kolmogorov_band", "pointwise_band"),
    "folds": ("LEAST_IN_FOLD", "FoldedArea", "GroupArea", "equality_test", "folds_interval"),
    "resampling": (
        "Progress",
        "bootstrap_interval",
        "bootstrap_test",
        "cost_threshold_interval",
        "resamples",
    ),
    "splits": ("LEAST_SPLITS", "splits_interval", "splits_test", "variance_factor"),
}
"""Modules that are imported when one of their names is used: most runs need areas only."""


def __getattr__(name: str) -> Any:
    for module, names in _LATE.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
