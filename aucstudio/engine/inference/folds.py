"""Intervals of the mean area over disjoint folds.

No two folds hold out the same row.

Where many rows decide each fold, the variances of its components add up. Where few do, the partial
area of a fold is biased upwards (that of 1 negative in [0, 0.1] is the TPR at an FPR of about
1/11), and averaging folds leaves the bias in place. There the lower and the upper curves that are
drawn for each fold are averaged draw by draw: the mean over folds of the true area lies between
both. Each draw counts from the place between both averages where the estimate lies, moved outward
by what few rows leave open.

Folds are not independent: the rows of one train the models of the others. For K folds, normal
noise and a linear model, every pair of areas has the covariance s / (K - 1) times their variance,
where s is the share of noise in the squared length of the weights: 1 without signal. The variance
of the mean is thus 1 + s times the sum. As s is the part of the excess of the AUC over 1/2 on the
training rows that is lost on others, and no AUC exceeds 1, it is at most 2 (1 - AUC).

This factor is ours; it, and what a bound needs of the way outward, were checked by simulation:
``python -m tests.benchmarks.inference_folds``.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Index
from aucstudio.engine.inference.areas import (
    LEAST,
    LEAST_IN_FOLD,
    LEAST_OF_CLASS,
    PLENTY,
    Band,
    Placements,
    few_words,
    interval_of,
)
from aucstudio.engine.inference.drawn_curves import Deciding, deciding, drawn_areas
from aucstudio.engine.inference.results import (
    Interval,
    absent_interval,
    check_level,
    logit_interval,
    quantile_level,
    unanimous_interval,
    widened,
)
from aucstudio.engine.inference.sampling import Variance

_OUTWARD = 2.5
_SEED = 0
_MOST = 0.99  # correlation, so that the matrix of a few areas can be inverted
_WHOLE: Band = (0.0, 1.0)
_ALONE = "a fold has fewer than two rows, or groups, of a class"


def folds_interval(
    rankings: Sequence[roc.Ranking],
    alpha: float,
    beta: float,
    level: float = 0.95,
    *,
    shares: Sequence[float] | None = None,
) -> Interval:
    """Estimate the mean over folds of the normalised partial AUC.

    Parameters
    ----------
    rankings : sequence of Ranking
        One a fold, with rows of both classes.
    alpha, beta : float
        The range of FPR.
    level : float
    shares : sequence of float, optional
        Weights of the folds; equal by default.

    Returns
    -------
    Interval
        Of one fold that of :func:`pauc_interval`. The bounds are NaN, with the reason, where less
        than one negative decides the range in all folds together. Where no fold has a variance
        over [0, 1], as at AUC 1, they are the exact binomial bounds for the disjoint pairs of all
        folds: that all come out right is at most as probable as if every fold had the mean of
        their true areas.

    Raises
    ------
    ValueError
        Without folds, and unless 0 <= alpha < beta <= 1 and 0 < level < 1.
    """
    check_level(level)
    if len(rankings) == 1:
        return interval_of(rankings[0], alpha, beta, level)
    found = FoldedArea.of(rankings, alpha, beta, shares)
    unanimous = found.variance.se == 0
    drawn = None if unanimous and found.band == _WHOLE else found.drawn_bounds(level)
    if drawn is not None:
        return drawn
    if math.isnan(found.variance.se):
        return absent_interval(found.value, level, _ALONE)
    if unanimous:
        return unanimous_interval(found.value, level, "the mean of folds", found.trials)
    return found.summed(level)


@dataclasses.dataclass(frozen=True, eq=False)
class FoldedArea:
    """A weighted mean of the areas of folds.

    Attributes
    ----------
    folds : sequence of Placements
    shares : ndarray of shape (n_folds,)
        What each fold counts; their sum is 1.
    """

    folds: Sequence[Placements]
    shares: Array

    @classmethod
    def of(
        cls,
        rankings: Sequence[roc.Ranking],
        alpha: float,
        beta: float,
        shares: Sequence[float] | None = None,
    ) -> FoldedArea:
        """Compute the area and its components in each fold."""
        if not rankings:
            raise ValueError("There must be at least one fold.")
        weights = np.ones(len(rankings)) if shares is None else np.asarray(shares, np.float64)
        folds = [Placements(one, (alpha, beta)) for one in rankings]
        return cls(folds, weights / weights.sum())

    @property
    def band(self) -> Band:
        """The range of FPR."""
        return self.folds[0].band

    @cached_property
    def value(self) -> float:
        """The mean area."""
        return float(self.shares @ [fold.area for fold in self.folds])

    @cached_property
    def variance(self) -> Variance:
        """The variance of the mean, with the degrees of freedom of a sum of variances."""
        of_folds = [fold.variance for fold in self.folds]
        parts = np.array([[v.positives, v.negatives, v.shared] for v in of_folds])
        positives, negatives, shared = (self.shares**2 @ parts).tolist()
        squares = (self.shares * [v.se for v in of_folds]) ** 2
        spread = float(squares**2 @ [1 / v.degrees for v in of_folds])
        total = float(squares.sum())
        degrees = total**2 / spread if spread > 0 else math.inf
        m, n = np.sum([v.sizes for v in of_folds], axis=0).tolist()
        widening = max(v.widening for v in of_folds)
        return Variance(positives, negatives, shared, degrees, (m, n), widening)

    def summed(self, level: float) -> Interval:
        """Return the interval by the variances of the folds and the most that they may share."""
        auc = float(self.shares @ [roc.area(fold.ranking, *_WHOLE) for fold in self.folds])
        se = self.variance.se * math.sqrt(1 + min(2 * (1 - auc), 1.0))
        return logit_interval(self.value, se, level, "mean of folds", self.variance.degrees)

    @property
    def trials(self) -> int:
        """Disjoint pairs of a positive and a negative, as many in each fold as its share allows."""
        pairs = np.array([fold.trials(fold.variance.sizes) for fold in self.folds])
        return int((pairs / self.shares).min() + 1e-9)

    @cached_property
    def by_fold(self) -> list[Deciding]:
        """The rows that decide the range in each fold; where they come in groups, the groups."""
        return [
            deciding(fold.ranking, *fold.band, fold.area, fold.sampling.groups)
            for fold in self.folds
        ]

    @cached_property
    def deciding(self) -> Deciding:
        """The rows that decide the range in all folds together."""
        of_folds = [dataclasses.astuple(of) for of in self.by_fold]
        return Deciding(*np.sum(of_folds, axis=0).tolist())

    @property
    def fewest(self) -> float:
        """The negatives that decide the range in the fold with the fewest."""
        return min(of.negatives for of in self.by_fold)

    def drawn_bounds(self, level: float) -> Interval | None:
        """Return the interval by drawn curves; None where plenty of rows decide every fold."""
        rows = self.deciding
        if rows.negatives < 1:
            return absent_interval(
                self.value, level, few_words(self.folds[0].sampling, rows.negatives)
            )
        if min(rows.low, rows.high) >= PLENTY and self.fewest >= LEAST_IN_FOLD:
            return None
        drawn = self._drawn()
        if drawn is None:
            return None
        value, variance = self.value, self.variance
        lower, upper = drawn
        least, gap = lower.mean(), upper.mean() - lower.mean()
        place = float(np.clip((value - least) / gap, 0.0, 1.0)) if gap > 0 else 0.5
        # The gap between both averages does not narrow as folds are added, the draws' spread does.
        unit = _OUTWARD * math.sqrt(len(self.folds))
        out_low, out_high = (min(1.0, unit / of) if of > 0 else 1.0 for of in (rows.low, rows.high))
        outer = quantile_level(level, variance.degrees)
        middle = lower + place * (upper - lower)
        downward = middle - out_low * place * (upper - lower)
        upward = middle + out_high * (1 - place) * (upper - lower)
        low = float(np.quantile(downward, (1 - outer) / 2))
        high = float(np.quantile(upward, (1 + outer) / 2))
        low, high = widened(value, min(low, value), max(high, value), variance.widening)
        if self.band == _WHOLE or math.isfinite(variance.degrees):
            summed = self.summed(level)  # NaN where a fold has one row of a class
            low, high = np.fmin(low, summed.low).item(), np.fmax(high, summed.high).item()
        se = variance.widening * float(middle.std(ddof=1))
        method = f"order statistics, mean of {len(self.folds)} folds"
        return Interval(value, max(low, 0.0), min(high, 1.0), level, method, se)

    def _drawn(self) -> tuple[Array, Array] | None:
        """Average the drawn areas under the lower and the upper curves, folds independently."""
        rng = np.random.default_rng(_SEED)
        lower = upper = np.zeros(1)
        for fold, share in zip(self.folds, self.shares, strict=True):
            drawn = drawn_areas([fold.ranking], *fold.band, fold.variance.sizes)
            if drawn is None:
                return None
            # Every fold is drawn from the same seed: shuffling makes its draws its own.
            order = rng.permutation(len(drawn[0][0]))
            lower = lower + share * drawn[0][0][order]
            upper = upper + share * drawn[0][1][order]
        return lower, upper


@dataclasses.dataclass(frozen=True)
class GroupArea:
    """The normalised area of one group of rows, and what its variance is made of.

    Attributes
    ----------
    value : float
    variances : (float, float)
        What positives and negatives add to the variance of the area.
    sizes : (float, float)
        Positives and negatives; weighted rows count as effective rows.
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

    In simulations (``python -m tests.benchmarks.inference_folds``) without any difference
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
