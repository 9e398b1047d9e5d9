"""Intervals, bands, tests and sample sizes for AUC, partial AUC and ROC curves.

Symbols: s scores of the m positives, t scores of the n negatives, g rank weights of the negatives
over the band [alpha, beta], psi10 and psi01 the components of a partial AUC: one number for each
positive and each negative, whose variances add up to that of the area. On [0, 1] they are
DeLong's V10 and V01. Partial areas are normalised, pAUC / (beta - alpha).
"""

# Each name is listed once, as imported and exported.
# isort: skip_file

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from aucstudio.engine.inference.areas import (
    LEAST_IN_FOLD as LEAST_IN_FOLD,
    Placements as Placements,
    auc_test as auc_test,
    delong_interval as delong_interval,
    delong_test as delong_test,
    interval_of as interval_of,
    pauc_interval as pauc_interval,
    pauc_test as pauc_test,
)
from aucstudio.engine.inference.results import (
    Interval as Interval,
    TestResult as TestResult,
    bonferroni as bonferroni,
    holm as holm,
    is_significant as is_significant,
)

if TYPE_CHECKING:
    from aucstudio.engine.inference.bands import (
        Band as Band,
        bootstrap_band as bootstrap_band,
        kolmogorov_band as kolmogorov_band,
        pointwise_band as pointwise_band,
    )
    from aucstudio.engine.inference.folds import (
        GroupArea as GroupArea,
        equality_test as equality_test,
        folds_interval as folds_interval,
    )
    from aucstudio.engine.inference.resampling import (
        bootstrap_interval as bootstrap_interval,
        bootstrap_test as bootstrap_test,
        cost_threshold_interval as cost_threshold_interval,
        resamples as resamples,
    )
    from aucstudio.engine.inference.splits import (
        LEAST_SPLITS as LEAST_SPLITS,
        splits_interval as splits_interval,
        splits_test as splits_test,
        variance_factor as variance_factor,
    )


LATE = {
    "bands": "Band bootstrap_band kolmogorov_band pointwise_band",
    "folds": "GroupArea equality_test folds_interval",
    "resampling": "bootstrap_interval bootstrap_test cost_threshold_interval resamples",
    "splits": "LEAST_SPLITS splits_interval splits_test variance_factor",
}
"""Modules that are imported when one of their names is used: most runs need areas only."""


def __getattr__(name: str) -> Any:
    for module, names in LATE.items():
        if name in names.split():
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
