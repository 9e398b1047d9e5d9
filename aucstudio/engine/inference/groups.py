"""Whether areas of different rows are equal: one for each subgroup of the rows.

Subgroups are independent where their rows are. Where rows were sampled in groups, a group may have
rows of several subgroups, and their areas are correlated.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np
import scipy

from aucstudio.engine import roc
from aucstudio.engine.inference.folds import FoldedArea
from aucstudio.engine.inference.partial import LEAST, LEAST_OF_CLASS
from aucstudio.engine.types import Array, Index

_MOST = 0.99  # correlation, so that the matrix of a few areas can be inverted


@dataclasses.dataclass(frozen=True)
class GroupArea:
    """The normalised area of one group of rows, and what its variance is made of.

    Attributes
    ----------
    value : float
    variances : (float, float)
        What positives and negatives add to the variance of the area.
    sizes : (float, float)
        Positives and negatives; weighted rows count by what they say.
    deciding : float
        Negatives that decide the range.
    units : ndarray of int
        The groups that the rows were sampled in, where several subgroups may share them.
    influences : ndarray
        What each adds to the estimate beyond the mean.
    """

    value: float
    variances: tuple[float, float]
    sizes: tuple[float, float]
    deciding: float
    units: Index = dataclasses.field(default_factory=lambda: np.empty(0, np.intp))
    influences: Array = dataclasses.field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(
        cls,
        rankings: Sequence[roc.Ranking],
        alpha: float,
        beta: float,
        labels: Sequence[Index] | None = None,
    ) -> GroupArea:
        """Average the area over folds, each with rows of both classes, weighted by their pairs.

        Parameters
        ----------
        rankings : sequence of Ranking
        alpha, beta : float
        labels : sequence of ndarray of int, optional
            For each fold, the numbers by which its groups are known in all subgroups, no two
            folds sharing any.
        """
        pairs = [float(one.curve.positives * one.curve.negatives) for one in rankings]
        found = FoldedArea.of(rankings, alpha, beta, pairs)
        variance, units, influences = found.variance, np.empty(0, np.intp), np.empty(0)
        if labels is not None:
            units = np.concatenate(labels)
            added = zip(found.folds, found.shares, strict=True)
            influences = np.concatenate([share * fold.influences() for fold, share in added])
        parts = variance.positives, variance.negatives + variance.shared
        decide = found.deciding.negatives
        return cls(found.value, parts, variance.sizes, decide, units, influences)

    @property
    def speaks(self) -> bool:
        """Whether enough rows decide it for a test."""
        enough = min(self.sizes) >= LEAST_OF_CLASS and self.deciding >= LEAST
        return enough and not math.isnan(sum(self.variances))


def equality_test(areas: Sequence[GroupArea]) -> float:
    """Test whether the areas of groups of rows are all equal.

    On the scale of the logit the weighted sum of squares about the common mean is chi-square with
    one degree of freedom fewer than groups. The variance of few rows is itself unknown, and often
    far too low where nearly all rank rightly: what a row of either class adds, on that scale,
    counts at least as much as it does in all groups together. An area is moved towards one half
    as by one more row, half of it right, so that areas of 0 and 1 have a logit. Groups that do not
    speak are left out.

    In simulations (``python -m tests.benchmarks.inference_folds``) without any difference it says
    p < 0.05 in 0 to 8 of 100, with 2 to 12 groups of 5 to 400 positives, equal or not in number
    and spread, AUCs of .5 to .96, and [0, 0.1].

    Returns
    -------
    float
        The p-value; NaN where fewer than two groups speak, or none ranks any row wrongly.
    """
    known = [area for area in areas if area.speaks]
    if len(known) < 2:
        return math.nan
    sizes = np.array([area.sizes for area in known])
    rows = np.minimum(sizes.min(axis=1), [area.deciding for area in known])
    values = (rows * [area.value for area in known] + 0.5) / (rows + 1)
    slopes = 1 / (values * (1 - values))
    of_row = np.array([area.variances for area in known]) * sizes * slopes[:, None] ** 2
    pooled = np.average(of_row, axis=0, weights=sizes - 1)
    variances = (np.maximum(of_row, pooled) / sizes).sum(axis=1)
    if not variances.all():
        return math.nan
    errors, logits = np.sqrt(variances), scipy.special.logit(values)
    inverse = np.linalg.pinv(_correlations(known) * np.outer(errors, errors))
    centred = logits - inverse.sum(axis=0) @ logits / inverse.sum()
    return float(scipy.special.chdtrc(len(known) - 1, centred @ inverse @ centred))


def _correlations(areas: Sequence[GroupArea]) -> Array:
    """Estimate the correlations of areas by the sampling units that they share."""
    found = np.eye(len(areas))
    for i, j in itertools.combinations(range(len(areas)), 2):
        a, b = areas[i], areas[j]
        _, of_a, of_b = np.intersect1d(a.units, b.units, return_indices=True)
        covariance = float(a.influences[of_a] @ b.influences[of_b])
        if len(of_a) > 1 and covariance:
            spread = math.sqrt(sum(a.variances) * sum(b.variances))
            shared = len(of_a) / (len(of_a) - 1) * covariance / spread if spread else 0.0
            found[i, j] = found[j, i] = min(max(shared, -_MOST), _MOST)
    return found
