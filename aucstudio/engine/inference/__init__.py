"""Intervals and tests for AUC and partial AUC: DeLong, placements, bootstrap, repeated splits.

Symbols: s scores of the m positives, t scores of the n negatives, g rank weights of the negatives
over the band [alpha, beta], psi10 and psi01 the components of a partial AUC: one number for each
positive and each negative, whose variances add up to that of the area. On [0, 1] they are
DeLong's V10 and V01. Partial areas are normalised, pAUC / (beta - alpha).
"""

from __future__ import annotations

from aucstudio.engine.inference.bootstrap import (
    Progress,
    bootstrap_interval,
    bootstrap_test,
)
from aucstudio.engine.inference.bootstrap import _resampled_area as _resampled_area
from aucstudio.engine.inference.delong import (
    delong_covariance,
    delong_interval,
    delong_test,
)
from aucstudio.engine.inference.partial import (
    pauc_interval,
    pauc_test,
)
from aucstudio.engine.inference.results import (
    Array,
    Interval,
    TestResult,
)
from aucstudio.engine.inference.splits import (
    splits_interval,
)

__all__ = [
    "Array",
    "Interval",
    "Progress",
    "TestResult",
    "bootstrap_interval",
    "bootstrap_test",
    "delong_covariance",
    "delong_interval",
    "delong_test",
    "pauc_interval",
    "pauc_test",
    "splits_interval",
]
