"""The ranking of rows by a score, sorted once for all areas, intervals and tests."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.order import ascending
from aucstudio.engine.roc.curve import Curve, Scores
from aucstudio.engine.roc.weights import (
    FREQUENCY,
    SAMPLING,
    WEIGHT_KINDS,
    Behind,
    Sampled,
    check_weights,
    group_codes,
    repeats,
    trials_at,
)
from aucstudio.engine.types import Array, Index, Mask

Values = TypeVar("Values", bound=NDArray[Any])


@dataclasses.dataclass(frozen=True, eq=False)
class Ranking:
    """Scores of both classes in ascending order, and where they came from.

    Attributes
    ----------
    s, t : ndarray
        Scores of the positives and of the negatives.
    order_s, order_t : ndarray of int
        Places that these had within their class, rows without weight left out.
    below, at_most : ndarray of int, shape (len(s),)
        How many negatives are below each positive, and how many not above it.
    weights : (ndarray, ndarray) or None
        Weights of both classes in these orders, where rows are weighted.
    groups : (ndarray of int, ndarray of int) or None
        Groups of both classes in these orders, numbered from 0, where rows come in groups. Equal
        scores are in the order of their groups.
    """

    s: Scores
    t: Scores
    order_s: Index
    order_t: Index
    below: Index
    at_most: Index
    weights: tuple[Array, Array] | None = None
    groups: tuple[Index, Index] | None = None

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        score: ArrayLike,
        *,
        positive: object = None,
        weights: ArrayLike | None = None,
        weight_kind: str = SAMPLING,
        groups: ArrayLike | None = None,
    ) -> Ranking:
        """Sort the scores.

        Parameters
        ----------
        y, score : array-like of shape (n_samples,)
        positive : label, optional
        weights : array-like of shape (n_samples,), optional
        weight_kind : {"sampling", "frequency"}
            A row of frequency weight k is ranked as k rows without a weight.
        groups : array-like of shape (n_samples,), optional
            Labels of the groups that rows were sampled in; without them every row is its own.

        Raises
        ------
        ValueError
            If the lengths differ, a score is NaN or infinite, or y does not hold two classes, and
            for input that :func:`check_weights`, :func:`repeats` or :func:`group_codes` refuses.
        """
        if weight_kind not in WEIGHT_KINDS:
            kinds = ", ".join(WEIGHT_KINDS)
            raise ValueError(f"weight_kind must be one of {kinds}; it is {weight_kind!r}.")
        scores, mask = _checked_scores(y, score, positive)
        if weights is None and groups is None:
            (order_s, s), (order_t, t) = (ascending(scores.compress(of)) for of in (mask, ~mask))
            return cls(s, t, order_s, order_t, *look_up(t, s))
        each = None if weights is None else check_weights(weights, mask)
        units = None if groups is None else group_codes(groups, len(mask))
        rows = [np.flatnonzero(mask), np.flatnonzero(~mask)]
        if each is not None:
            times = repeats(each) if weight_kind == FREQUENCY else (each > 0).astype(np.intp)
            rows = [np.repeat(of_class, times[of_class]) for of_class in rows]
            each = None if weight_kind == FREQUENCY else each
        order_s, order_t = (_order(scores[of_class], units, of_class) for of_class in rows)
        rows_s, rows_t = rows[0][order_s], rows[1][order_t]
        s, t = scores[rows_s], scores[rows_t]
        weighing = None if each is None else (each[rows_s], each[rows_t])
        sampled = None if units is None else (units[rows_s], units[rows_t])
        return cls(s, t, order_s, order_t, *look_up(t, s), weighing, sampled)

    def in_row_order(self, of_s: Values, of_t: Values) -> tuple[Values, Values]:
        """Return values of both classes, in ascending order of the scores, in row order."""
        rows_s, rows_t = np.empty_like(of_s), np.empty_like(of_t)
        rows_s[self.order_s], rows_t[self.order_t] = of_s, of_t
        return rows_s, rows_t

    @property
    def nbytes(self) -> int:
        """How much memory it takes, its curve included."""
        parts = (self.s, self.t, self.order_s, self.order_t, self.below, self.at_most)
        rows = self.s.nbytes + self.t.nbytes
        curve = (5 + 6 * self.is_weighted) * rows
        return sum(part.nbytes for part in parts) + curve + rows * (self.groups is not None)

    @property
    def auc(self) -> float:
        """The area under the curve, from exact pair counts."""
        if self.weights is None:
            pairs = len(self.s) * len(self.t)
            return (int(self.below.sum()) + int(self.at_most.sum())) / (2 * pairs)
        halves = self.weight_below(self.below) + self.weight_below(self.at_most)
        above_s, above_t = self._above
        return float(self.weights[0] @ halves / (2 * above_s[0] * above_t[0]))

    @cached_property
    def units(self) -> tuple[Index, Index] | None:
        """The groups as sampling units; None where every row is its own."""
        several = self.groups and np.bincount(np.concatenate(self.groups)).max() > 1
        return self.groups if several else None

    @property
    def is_weighted(self) -> bool:
        """Whether rows are weighted."""
        return self.weights is not None

    def weight_below(self, rank: Index) -> NDArray[Any]:
        """Return the sum of the weights of so many of the lowest negatives."""
        if self.weights is None:
            return rank
        above = self._above[1]
        return np.asarray(above[0] - above[rank])

    @cached_property
    def _above(self) -> tuple[Array, Array]:
        """Sums of the weights of both classes from each place on, the highest score first."""
        assert self.weights is not None
        return _sums_from(self.weights[0]), _sums_from(self.weights[1])

    @cached_property
    def curve(self) -> Curve:
        """The ROC curve, with a vertex for each group of tied scores."""
        m, n = len(self.s), len(self.t)
        place = np.arange(m) + self.at_most  # of the positives in the merged order
        lower, is_negative = np.zeros(m + n + 1, np.intp), np.ones(m + n, dtype=bool)
        lower[place + 1], is_negative[place] = 1, False
        np.cumsum(lower, out=lower)  # positives among so many of the lowest rows
        merged = np.full(m + n + 1, np.inf, dtype=self.s.dtype)
        merged[place], merged[:-1][is_negative] = self.s, self.t
        ends = np.flatnonzero(np.append(True, merged[1:] != merged[:-1]))[::-1]  # of tied rows
        thresholds, from_s = merged[ends], lower[ends]
        from_t = ends - from_s
        fp, tp = n - from_t, m - from_s
        trials = self._trials(fp, tp)
        if self.weights is None:
            return Curve(fp, tp, thresholds, None, trials)
        above_s, above_t = self._above
        squares = _sums_from(self.weights[1] ** 2)[from_t], _sums_from(self.weights[0] ** 2)[from_s]
        return Curve(above_t[from_t], above_s[from_s], thresholds, Behind(fp, tp, *squares), trials)

    def _trials(self, fp: Index, tp: Index) -> tuple[Array, Array] | None:
        """Return the trials that the TPR and the FPR are worth, where rows come in groups."""
        if self.units is None:
            return None
        weights = self.weights or (np.ones(len(self.s)), np.ones(len(self.t)))
        tpr, fpr = (
            trials_at(units[::-1], each[::-1], ends)
            for units, each, ends in zip(self.units, weights, (tp, fp), strict=True)
        )
        return tpr, fpr


def _order(scores: Scores, units: Index | None, rows: Index) -> Index:
    """Sort scores, those that are equal by their groups."""
    if units is None:
        return ascending(scores)[0]
    order: Index = np.lexsort((units[rows], scores))
    return order


def _sums_from(weights: Array) -> Array:
    """Return the sums of the weights from each place to the end, and 0 behind it."""
    return np.append(0.0, np.cumsum(weights[::-1]))[::-1]


def auc(y: ArrayLike, score: ArrayLike, **rows: Unpack[Sampled]) -> float:
    """Compute the area under the ROC curve from exact pair counts, in O(N log N).

    Parameters and errors are those of :meth:`Ranking.of`; tied pairs count one half.
    """
    return Ranking.of(y, score, **rows).auc


def roc_curve(y: ArrayLike, score: ArrayLike, **rows: Unpack[Sampled]) -> Curve:
    """Build the ROC curve; parameters and errors are those of :meth:`Ranking.of`."""
    return Ranking.of(y, score, **rows).curve


def look_up(ascending: Scores, values: Scores) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Count for each value how many of the sorted scores are below it, and how many not above.

    Several times faster where the values are sorted too.
    """
    below = np.searchsorted(ascending, values, "left")
    tied = ascending[np.minimum(below, len(ascending) - 1)] == values
    at_most = below.copy()
    at_most[tied] = np.searchsorted(ascending, values[tied], "right")
    return below, at_most


def _checked_scores(y: ArrayLike, score: ArrayLike, positive: object) -> tuple[Scores, Mask]:
    """Check labels and scores; return the scores, and which rows are positive."""
    scores = np.asarray(score)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    mask = _positive_mask(y, positive)
    if scores.ndim != 1 or mask.shape != scores.shape:
        raise ValueError(
            f"y and score must be two columns of equal length; they have the shapes "
            f"{mask.shape} and {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise ValueError("score holds NaN or infinite values; every row needs a finite score.")
    return scores, mask


def _positive_mask(labels: ArrayLike, positive: object = None) -> Mask:
    """Return which rows are positive.

    Raises
    ------
    ValueError
        If the labels are not of two classes.
    """
    y = np.asarray(labels)
    if y.size == 0:
        raise ValueError("y is empty; at least one positive and one negative are needed.")
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
    else:
        low, high = np.unique(y)[[0, -1]]
    if low == high:
        raise ValueError(f"y holds one class only ({low}); a ROC curve needs two.")
    larger = y == high
    if np.count_nonzero(larger) + np.count_nonzero(y == low) != y.size:
        raise ValueError("y must hold exactly two distinct labels, none of them missing.")
    if positive is None or positive == high:
        return np.asarray(larger)
    if positive != low:
        raise ValueError(f"The positive label {positive!r} does not occur in y ({low}, {high}).")
    return ~np.asarray(larger)
