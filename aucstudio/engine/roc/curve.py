"""The empirical ROC curve, areas under it, and the negatives that a range of FPR covers.

Symbols: [alpha, beta] the range of FPR; T(x) the TPR of the curve at the FPR x.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.arrays import Array, Mask
from aucstudio.notices import text

Scores = NDArray[np.floating[Any]]


class _AtVertices:
    """Arrays with a value for each vertex of a curve."""

    def at(self, kept: Mask) -> Self:
        """Return those of some of the vertices."""
        arrays = {name: values[kept] for name, values in vars(self).items()}
        return type(self)(**arrays)


@dataclasses.dataclass(frozen=True, eq=False)
class Behind(_AtVertices):
    """Cumulative weights behind the vertices of a curve.

    Attributes
    ----------
    fp, tp : ndarray of int, shape (n_vertices,)
        Rows predicted positive.
    fp_squares : ndarray of shape (n_vertices,)
        Sums of the squared weights of these negatives.
    """

    fp: NDArray[np.int64]
    tp: NDArray[np.int64]
    fp_squares: Array


@dataclasses.dataclass(frozen=True, eq=False)
class Trials(_AtVertices):
    """How many independent rows of equal weight a rate at each vertex is worth.

    Attributes
    ----------
    tpr, fpr, precision, alerts : ndarray of shape (n_vertices,)
        Alerts are the share of all rows that is predicted positive.
    """

    tpr: Array
    fpr: Array
    precision: Array
    alerts: Array


@dataclasses.dataclass(frozen=True, eq=False)
class RocCurve:
    """An empirical ROC curve as counts, one vertex for each group of tied scores.

    Attributes
    ----------
    fp, tp : ndarray of int, shape (n_vertices,)
        Negatives and positives predicted positive, from (0, 0) to (n, m); sums of weights (float)
        where rows are weighted.
    thresholds : ndarray of shape (n_vertices,)
        A vertex predicts positive where score >= threshold; the first is +inf.
    behind : Behind or None
        The rows behind these sums, where they are weighted.
    trials : Trials or None
        What rates are worth where rows come in groups or are weighted.
    """

    fp: NDArray[Any]
    tp: NDArray[Any]
    thresholds: Scores
    behind: Behind | None = None
    trials: Trials | None = None

    @property
    def positives(self) -> Any:
        """How many there are, or the sum of their weights."""
        return self.tp[-1].item()

    @property
    def negatives(self) -> Any:
        """How many there are, or the sum of their weights."""
        return self.fp[-1].item()

    @property
    def rows(self) -> tuple[int, int]:
        """How many rows are positive and negative, whatever they weigh."""
        counts = self.behind or self
        return int(counts.tp[-1]), int(counts.fp[-1])

    def effective(self, alpha: float = 0.0, beta: float = 1.0) -> float:
        """Return how many negatives of equal weight would say as much of a range of FPR."""
        if self.behind is None:
            return float(self.negatives * (beta - alpha))
        first = max(0, int(np.searchsorted(self.fpr, alpha, "right")) - 1)
        last = min(len(self.fp) - 1, int(np.searchsorted(self.fpr, beta, "left")))
        squares = self.behind.fp_squares[last] - self.behind.fp_squares[first]
        between = self.fp[last] - self.fp[first]
        # The outermost vertices may lie beyond the range: as much of the rows as lies within.
        share = (beta - alpha) * self.negatives / between if between else 0.0
        return float(min(share, 1.0) * between**2 / squares) if squares > 0 else 0.0

    @cached_property
    def fpr(self) -> Array:
        rates: Array = self.fp / self.negatives
        return rates

    @cached_property
    def tpr(self) -> Array:
        rates: Array = self.tp / self.positives
        return rates

    def corners(self) -> RocCurve:
        """Return the same polyline without the vertices inside its straight runs."""
        return self.at(inner(turns(self) != 0))

    def thinned(self, most: int) -> RocCurve:
        """Return the polyline of at most so many vertices, evenly along it."""
        if len(self.fp) <= most:
            return self
        along = self.fpr + self.tpr
        kept = np.zeros(len(along), dtype=bool)
        kept[np.searchsorted(along, np.linspace(0, along[-1], most))] = True
        return self.at(kept)

    def at(self, kept: Mask) -> RocCurve:
        """Return the polyline of some of the vertices."""
        behind = self.behind and self.behind.at(kept)
        trials = self.trials and self.trials.at(kept)
        return RocCurve(self.fp[kept], self.tp[kept], self.thresholds[kept], behind, trials)


def turns(curve: RocCurve) -> NDArray[Any]:
    """Cross product of the edges at each inner vertex; negative where the curve bends down."""
    dx, dy = np.diff(curve.fp), np.diff(curve.tp)
    turns: NDArray[Any] = dx[:-1] * dy[1:] - dy[:-1] * dx[1:]
    return turns


def inner(kept: Mask) -> Mask:
    """Extend a mask of the inner vertices to all: both ends stay."""
    return np.concatenate([[True], kept, [True]])


def hull(curve: RocCurve) -> RocCurve:
    """Find the upper convex hull: the curve's vertices that are optimal for some costs."""
    while True:
        # A vertex on or below the chord of its neighbours is off the hull, whatever else is.
        kept = inner(turns(curve) < 0)
        if kept.all():
            return curve
        curve = curve.at(kept)


def tpr_at(curve: RocCurve, fpr: ArrayLike) -> Array:
    """Interpolate the TPR at FPRs within [0, 1]; the upper end of vertical segments."""
    return _limits(curve.fpr, curve.tpr, _rates(fpr, "fpr"))[1]


def fpr_at(curve: RocCurve, tpr: ArrayLike) -> Array:
    """Interpolate the FPR at TPRs within [0, 1]; the left end of horizontal segments."""
    return _limits(curve.tpr, curve.fpr, _rates(tpr, "tpr"))[0]


def _rates(values: ArrayLike, name: str) -> Array:
    rates = np.asarray(values, dtype=np.float64)
    if not ((rates >= 0) & (rates <= 1)).all():
        raise ValueError(f"{name} must lie within [0, 1].")
    return rates


def _limits(rate: Array, other: Array, x: Array) -> tuple[Array, Array]:
    """Lower and upper other rate where a rate is x; they differ where the curve is upright."""
    first = np.searchsorted(rate, x, "left")
    last = np.searchsorted(rate, x, "right") - 1
    between = first > last
    width = np.where(between, rate[first] - rate[last], 1.0)
    rise = np.where(between, other[first] - other[last], 0.0)
    upper = other[last] + rise * ((x - rate[last]) / width)
    return np.where(between, upper, other[first]), upper


def vertical_average(
    curves: Sequence[RocCurve], grid: ArrayLike | None = None
) -> tuple[Array, Array, Array]:
    """Average the TPR of several curves at equal FPR.

    Parameters
    ----------
    curves : sequence of RocCurve, at least one
    grid : array-like, optional
        FPRs to evaluate at, taking upper values. Without it the mean is exact everywhere: it
        bends only where a curve does, and an FPR at which a curve jumps occurs twice.

    Returns
    -------
    fpr, mean_tpr, sd_tpr : ndarray
        The standard deviation has the divisor len(curves) - 1, and is 0 for one curve.
    """
    if grid is not None:
        fpr = np.asarray(grid, dtype=np.float64)
        tpr = np.stack([tpr_at(curve, fpr) for curve in curves])
    else:
        bends = [curve.corners() for curve in curves]
        x = np.unique(np.concatenate([curve.fpr for curve in bends]))
        limits = np.stack([np.stack(_limits(c.fpr, c.tpr, x), axis=-1) for c in bends])
        jumps = (limits[:, :, 0] != limits[:, :, 1]).any(axis=0)
        kept = np.stack([np.ones_like(jumps), jumps], axis=-1)
        fpr, tpr = np.repeat(x, kept.sum(axis=1)), limits[:, kept]
    spread = tpr.std(axis=0, ddof=1) if len(tpr) > 1 else np.zeros(len(fpr))
    return fpr, tpr.mean(axis=0), spread


def auc_of(curve: RocCurve) -> float:
    """Compute the area under a curve by the trapezoid rule, from exact counts."""
    return _area_between(curve, 0, len(curve.fp) - 1)


def _area_between(curve: RocCurve, first: int, last: int) -> float:
    """Compute the area between two vertices."""
    rises = curve.tp[first + 1 : last + 1] + curve.tp[first:last]
    doubled = (np.diff(curve.fp[first : last + 1]) * rises).sum()
    return float(doubled.item() / (2 * curve.positives * curve.negatives))


def check_band(alpha: float, beta: float) -> None:
    """Raise ValueError unless 0 <= alpha < beta <= 1."""
    if not 0 <= alpha < beta <= 1:
        raise ValueError(text("range_out_of_order", alpha=alpha, beta=beta))


def band_ranks(n: int, alpha: float, beta: float) -> tuple[int, int]:
    """Return the ranks j (from 1) of the first and last of n negatives that meet the band."""
    first = math.floor(position(n, alpha)) + 1
    return first, max(first, math.ceil(position(n, beta)))


def position(n: int, share: float) -> float:
    """Compute n * share, a whole number where only rounding kept it from one (100 * 0.07)."""
    place = n * share
    nearest = round(place)
    return nearest if abs(place - nearest) <= 1e-14 * n else place


def rank_weights(n: int, alpha: float, beta: float) -> Array:
    """Return g_j for j = 1..n: n times the length of [(j-1)/n, j/n] inside [alpha, beta]."""
    check_band(alpha, beta)
    ends = np.clip(np.arange(n + 1.0), n * alpha, n * beta)
    return np.diff(ends)


@dataclasses.dataclass(frozen=True)
class PartialAUC:
    """Area under the curve over the band alpha <= FPR <= beta.

    Attributes
    ----------
    alpha, beta : float
    raw : float
        The area itself, the integral of T from alpha to beta.
    negatives : int
        How many negatives in the range: those whose rank interval meets the band.
    of_negatives : int
        How many there are.
    effective : float or None
        Where rows are weighted, how many negatives of equal weight would say as much.
    """

    alpha: float
    beta: float
    raw: float
    negatives: int
    of_negatives: int
    effective: float | None = None

    @property
    def maximum(self) -> float:
        """Area of a perfect ranking."""
        return self.beta - self.alpha

    @property
    def chance(self) -> float:
        """Area of the diagonal."""
        return (self.beta**2 - self.alpha**2) / 2

    @property
    def normalized(self) -> float:
        """Share of the maximum: the mean TPR over the range, as SVM-pAUC reports it."""
        return self.raw / self.maximum

    @property
    def mcclish(self) -> float:
        """McClish's scale: 1/2 for chance, 1 for perfect; less than 1/2 below the diagonal."""
        return (1 + (self.raw - self.chance) / (self.maximum - self.chance)) / 2


def partial_auc_of(curve: RocCurve, alpha: float = 0.0, beta: float = 1.0) -> PartialAUC:
    """Compute what :func:`partial_auc` does from a curve."""
    check_band(alpha, beta)
    ends = np.array([alpha, beta])
    vertex = np.searchsorted(curve.fpr, ends, "right") - 1
    beyond = (ends - curve.fpr[vertex]) * (curve.tpr[vertex] + tpr_at(curve, ends)) / 2
    area = _area_between(curve, *vertex.tolist()) + float(beyond[1] - beyond[0])
    # Rounding must not take a perfect ranking above its maximum.
    area = min(max(area, 0.0), beta - alpha)
    effective = None if curve.behind is None else curve.effective(alpha, beta)
    inside = _negatives_within(curve, alpha, beta)
    return PartialAUC(float(alpha), float(beta), area, inside, curve.rows[1], effective)


def _negatives_within(curve: RocCurve, low: float, high: float) -> int:
    """Count the negatives whose rank intervals meet a range; tied weighted rows are one piece."""
    if curve.behind is not None:
        start = max(0, int(np.searchsorted(curve.fpr, low, "right")) - 1)
        rows = curve.behind.fp
        return int(rows[np.searchsorted(curve.fpr, high, "left")] - rows[start])
    first, last = band_ranks(curve.negatives, low, high)
    return last - first + 1
