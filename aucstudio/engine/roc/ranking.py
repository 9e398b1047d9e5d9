"""One scorer's order of rows, sorted once for every area, interval and test of it."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.order import ascending
from aucstudio.engine.roc.area import look_up, pair_share
from aucstudio.engine.roc.curve import Curve, Scores, positive_mask, split_scores
from aucstudio.engine.roc.weights import (
    FREQUENCY,
    SAMPLING,
    Behind,
    check_weight_kind,
    check_weights,
    group_codes,
    repeats,
    trials_at,
)
from aucstudio.engine.types import Array, Index

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
    weight_s, weight_t : ndarray or None
        Weights of both classes in these orders, where rows are weighted.
    unit_s, unit_t : ndarray of int or None
        Groups of both classes in these orders, numbered from 0, where rows come in groups: the
        sampling units. Equal scores are in the order of their groups.
    """

    s: Scores
    t: Scores
    order_s: Index
    order_t: Index
    below: Index
    at_most: Index
    weight_s: Array | None = None
    weight_t: Array | None = None
    unit_s: Index | None = None
    unit_t: Index | None = None

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
            For input that :func:`split_scores`, :func:`check_weights`, :func:`repeats` or
            :func:`group_codes` refuses.
        """
        check_weight_kind(weight_kind)
        s, t = split_scores(y, score, positive)
        if weights is None and groups is None:
            (order_s, s), (order_t, t) = ascending(s), ascending(t)
            return cls(s, t, order_s, order_t, *look_up(t, s))
        mask = positive_mask(y, positive)
        each = None if weights is None else check_weights(weights, mask)
        units = None if groups is None else group_codes(groups, len(mask))
        rows = [np.flatnonzero(mask), np.flatnonzero(~mask)]
        if each is not None:
            times = repeats(each) if weight_kind == FREQUENCY else (each > 0).astype(np.intp)
            rows = [np.repeat(of_class, times[of_class]) for of_class in rows]
        if each is not None and weight_kind == FREQUENCY:
            each = None
        scores = np.empty(len(mask), dtype=s.dtype)
        scores[mask], scores[~mask] = s, t
        order_s, order_t = (_order(scores[of_class], units, of_class) for of_class in rows)
        rows_s, rows_t = rows[0][order_s], rows[1][order_t]
        s, t = scores[rows_s], scores[rows_t]
        weighing = (None, None) if each is None else (each[rows_s], each[rows_t])
        sampled = (None, None) if units is None else (units[rows_s], units[rows_t])
        return cls(s, t, order_s, order_t, *look_up(t, s), *weighing, *sampled)

    @classmethod
    def of_sorted(cls, s: Scores, t: Scores) -> Ranking:
        """Take scores that ascend in both classes for rows in that order."""
        return cls(s, t, np.arange(len(s)), np.arange(len(t)), *look_up(t, s))

    def in_row_order(self, of_s: Values, of_t: Values) -> tuple[Values, Values]:
        """Return values of both classes, in ascending order of the scores, in row order."""
        rows_s, rows_t = np.empty_like(of_s), np.empty_like(of_t)
        rows_s[self.order_s], rows_t[self.order_t] = of_s, of_t
        return rows_s, rows_t

    @property
    def nbytes(self) -> int:
        """How much memory it takes, its curve included."""
        parts = (self.s, self.t, self.order_s, self.order_t, self.below, self.at_most)
        curves = 6 * self.s.nbytes + (6 * (self.s.nbytes + self.t.nbytes) * self.is_weighted)
        units = 0 if self.unit_s is None else self.order_s.nbytes + self.order_t.nbytes
        return sum(part.nbytes for part in parts) + curves + units

    @property
    def auc(self) -> float:
        """The area under the curve, from exact pair counts."""
        if self.weight_s is None:
            return pair_share(self.below, self.at_most, len(self.t))
        halves = self.weight_below(self.below) + self.weight_below(self.at_most)
        above_s, above_t = self._above
        return float(self.weight_s @ halves / (2 * above_s[0] * above_t[0]))

    @cached_property
    def units(self) -> tuple[Index, Index] | None:
        """The groups of both classes, as unit_s and unit_t; None where every row is its own."""
        if self.unit_s is None or self.unit_t is None:
            return None
        both = np.concatenate([self.unit_s, self.unit_t])
        return (self.unit_s, self.unit_t) if np.bincount(both).max() > 1 else None

    @property
    def is_weighted(self) -> bool:
        """Whether rows are weighted."""
        return self.weight_s is not None

    def weight_below(self, rank: Index) -> Array:
        """Return the sum of the weights of so many of the lowest negatives."""
        above = self._above[1]
        return np.asarray(above[0] - above[rank])

    @cached_property
    def _above(self) -> tuple[Array, Array]:
        """Sums of the weights of both classes from each place on, the highest score first."""
        assert self.weight_s is not None
        assert self.weight_t is not None
        return _sums_from(self.weight_s), _sums_from(self.weight_t)

    @cached_property
    def curve(self) -> Curve:
        """The ROC curve with its vertices before and after each group of tied positives.

        Between these it is straight: all areas and measures are those of the whole curve.
        """
        m, n = len(self.s), len(self.t)
        first = np.flatnonzero(np.append(True, self.s[1:] != self.s[:-1]))[::-1]  # highest first
        behind = np.append(m, first[:-1])
        # Before a group all above it are predicted positive, after it its ties too.
        from_t = np.stack([self.at_most[first], self.below[first]], axis=1).ravel()
        from_s = np.stack([behind, first], axis=1).ravel()
        above = self.t[np.minimum(self.at_most[first], n - 1)]
        higher = np.append(np.inf, self.s[first[:-1]])
        lowest = np.where(self.at_most[first] < n, np.minimum(above, higher), higher)
        thresholds = np.stack([lowest, self.s[first]], axis=1).ravel()
        from_t, from_s = np.append(from_t, 0), np.append(from_s, 0)
        thresholds = np.append(thresholds, min(self.s[0], self.t[0]))
        if from_t[0] < n:
            from_t, from_s = np.append(n, from_t), np.append(m, from_s)
            thresholds = np.append(np.inf, thresholds)
        thresholds = thresholds.astype(self.s.dtype)
        curve = Curve(n - from_t, m - from_s, thresholds)
        if self.is_weighted:
            curve = self._weigh(curve, from_s, from_t)
        return curve.at(np.append(True, (np.diff(curve.fp) > 0) | (np.diff(curve.tp) > 0)))

    def with_trials(self, curve: Curve) -> Curve:
        """Return a curve of these rows with the trials that its rates are worth."""
        if self.units is None:
            return curve
        rows = curve.behind or curve
        tpr, fpr = (
            trials_at(units[::-1], np.ones(len(units)) if weights is None else weights[::-1], ends)
            for units, weights, ends in (
                (self.units[0], self.weight_s, rows.tp),
                (self.units[1], self.weight_t, rows.fp),
            )
        )
        return dataclasses.replace(curve, trials=(tpr, fpr))

    def _weigh(self, rows: Curve, from_s: Index, from_t: Index) -> Curve:
        """Sum up weights where the curve counts rows."""
        assert self.weight_s is not None
        assert self.weight_t is not None
        above_s, above_t = self._above
        tp_squares, fp_squares = _sums_from(self.weight_s**2), _sums_from(self.weight_t**2)
        behind = Behind(rows.fp, rows.tp, fp_squares[from_t], tp_squares[from_s])
        return Curve(above_t[from_t], above_s[from_s], rows.thresholds, behind)


def _order(scores: Scores, units: Index | None, rows: Index) -> Index:
    """Sort scores, those that are equal by their groups."""
    if units is None:
        return ascending(scores)[0]
    order: Index = np.lexsort((units[rows], scores))
    return order


def _sums_from(weights: Array) -> Array:
    """Return the sums of the weights from each place to the end, and 0 behind it."""
    return np.append(0.0, np.cumsum(weights[::-1]))[::-1]
