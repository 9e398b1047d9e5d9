"""The ranking of rows by a score, sorted once for all areas, intervals and tests.

A pair weighs the product of the weights of its rows. A weight of 0 is the same as no row. Shares,
areas and measures do not depend on the scale of the weights or on their kind; inference does:

- ``sampling``: the inverse probability with which the row was drawn. The row is one observation.
- ``frequency``: the number of equal rows that the row replaces. Each of them is an observation.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.arrays import Array, Index, Mask, ascending, sums_below, sums_from
from aucstudio.engine.roc.curve import (
    Behind,
    PartialAUC,
    RocCurve,
    Scores,
    Trials,
    check_band,
    partial_auc_of,
)
from aucstudio.engine.roc.trials import effective_rows, trials_at
from aucstudio.notices import text

SAMPLING, FREQUENCY = "sampling", "frequency"
WEIGHT_KINDS = (SAMPLING, FREQUENCY)
_MOST_REPEATS = 100_000_000


class Sampled(TypedDict, total=False):
    """The keyword arguments of :meth:`Ranking.of`: which class is positive, and the sampling."""

    positive: object
    weights: ArrayLike | None
    weight_kind: str
    groups: ArrayLike | None


def check_weights(weights: ArrayLike, positive: Mask) -> Array:
    """Return the weights of rows, one for each.

    Raises
    ------
    ValueError
        Unless every weight is finite and not negative, and some of each class are greater than 0.
    """
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != positive.shape:
        raise ValueError(text("weights_shape", found=checked.shape, rows=positive.shape))
    if not (np.isfinite(checked) & (checked >= 0)).all():
        raise ValueError("Every weight must be a finite number that is not negative.")
    for of_class, name in ((positive, "positive"), (~positive, "negative")):
        if not checked[of_class].any():
            raise ValueError(f"All weights of the {name} class are zero.")
    return checked


def repeats(weights: Array) -> Index:
    """Return the numbers of rows that frequency weights count.

    Raises
    ------
    ValueError
        Unless all are whole numbers, of at most 100 million rows together.
    """
    if (weights != np.floor(weights)).any():
        raise ValueError(
            "Frequency weights count rows and must be whole numbers; "
            f"{weights[weights != np.floor(weights)][0]:g} is not."
        )
    if weights.sum() > _MOST_REPEATS:
        raise ValueError(text("frequencies_too_many", most=_MOST_REPEATS, count=weights.sum()))
    return weights.astype(np.intp)


def group_codes(groups: ArrayLike, rows: int) -> Index:
    """Return the group of each row as a number from 0.

    Parameters
    ----------
    groups : array-like of shape (rows,)
        One label a row: numbers or texts.
    rows : int

    Raises
    ------
    ValueError
        Unless there is one label for each row, and none is missing.
    """
    labels: NDArray[Any] = np.asarray(groups)
    if labels.shape != (rows,):
        raise ValueError(text("groups_shape", found=labels.shape, rows=rows))
    if labels.dtype.kind == "O":
        # Equal labels of any type; a missing one differs from itself.
        known: dict[object, int] = {}
        missing = [label is None or label != label for label in labels.tolist()]
        codes = np.array([known.setdefault(one, len(known)) for one in labels.tolist()], np.intp)
    else:
        missing = (labels != labels).tolist() if labels.dtype.kind in "fcM" else [False]
        codes = np.unique(labels, return_inverse=True)[1].astype(np.intp)
    if any(missing):
        raise ValueError(text("group_missing", row=missing.index(True)))
    return codes


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
        has_trials = self.is_weighted or self.groups is not None
        curve = (5 + 6 * self.is_weighted + 4 * has_trials) * rows
        return sum(part.nbytes for part in parts) + curve + rows * (self.groups is not None)

    @property
    def auc(self) -> float:
        """The area under the curve, from exact pair counts."""
        if self.weights is None:
            pairs = len(self.s) * len(self.t)
            return (int(self.below.sum()) + int(self.at_most.sum())) / (2 * pairs)
        halves = self.weight_below(self.below) + self.weight_below(self.at_most)
        shares, weights = halves / (2 * self._above[1][0]), self.weights[0]
        # Both sums are rounded alike: an area of 0 or 1 is exact.
        return float(weights @ shares / (weights @ np.ones(len(weights))))

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
        return sums_from(self.weights[0]), sums_from(self.weights[1])

    @cached_property
    def curve(self) -> RocCurve:
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
        trials = self._trials(fp, tp, is_negative[::-1])
        if self.weights is None:
            return RocCurve(fp, tp, thresholds, None, trials)
        above_s, above_t = self._above
        behind = Behind(fp, tp, sums_from(self.weights[1] ** 2)[from_t])
        return RocCurve(above_t[from_t], above_s[from_s], thresholds, behind, trials)

    def _trials(self, fp: Index, tp: Index, is_negative: Mask) -> Trials | None:
        """Return what rates are worth where rows come in groups or are weighted.

        Parameters
        ----------
        is_negative : ndarray of bool
            Of the rows of both classes, the highest score first.
        """
        if self.units is None and self.weights is None:
            return None
        weights = self.weights or (np.ones(len(self.s)), np.ones(len(self.t)))
        each = _merged(weights, is_negative)
        if self.units is None:
            squares, sums = sums_below(each**2), sums_below(each)
            called = np.maximum(fp + tp, 1)
            of_called = sums[called] ** 2 / squares[called] * (fp + tp > 0)
            of_all = (np.full(len(fp), effective_rows(of)) for of in (*weights, each))
            tpr, fpr, alerts = of_all
            return Trials(tpr, fpr, of_called, alerts)
        tpr, fpr = (
            trials_at(units[::-1], of_class[::-1], ends)
            for units, of_class, ends in zip(self.units, weights, (tp, fp), strict=True)
        )
        units = _merged(self.units, is_negative)
        precision = trials_at(units, each, fp + tp, ~is_negative)
        return Trials(tpr, fpr, precision, trials_at(units, each, fp + tp))


def _merged(of_classes: tuple[Values, Values], is_negative: Mask) -> Values:
    """Return values of the positives and negatives, the highest score first."""
    of_s, of_t = of_classes
    merged: Values = np.empty_like(of_s, shape=is_negative.shape)
    merged[~is_negative], merged[is_negative] = of_s[::-1], of_t[::-1]
    return merged


def _order(scores: Scores, units: Index | None, rows: Index) -> Index:
    """Sort scores, those that are equal by their groups."""
    if units is None:
        return ascending(scores)[0]
    order: Index = np.lexsort((units[rows], scores))
    return order


def auc(y: ArrayLike, score: ArrayLike, **rows: Unpack[Sampled]) -> float:
    """Compute the area under the ROC curve from exact pair counts, in O(N log N).

    Parameters and errors are those of :meth:`Ranking.of`; tied pairs count one half.
    """
    return Ranking.of(y, score, **rows).auc


def roc_curve(y: ArrayLike, score: ArrayLike, **rows: Unpack[Sampled]) -> RocCurve:
    """Build the ROC curve; parameters and errors are those of :meth:`Ranking.of`."""
    return Ranking.of(y, score, **rows).curve


def area(ranking: Ranking, alpha: float, beta: float) -> float:
    """Return the normalised area over a range of FPR: over [0, 1] the AUC from pair counts."""
    if (alpha, beta) == (0.0, 1.0):
        return ranking.auc
    return partial_auc_of(ranking.curve, alpha, beta).normalized


def partial_auc(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float = 0.0,
    beta: float = 1.0,
    **rows: Unpack[Sampled],
) -> PartialAUC:
    """Compute the trapezoid area over alpha <= FPR <= beta, exact at interpolated ends.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1, and for input that :meth:`Ranking.of` refuses.
    """
    check_band(alpha, beta)
    return partial_auc_of(roc_curve(y, score, **rows), alpha, beta)


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
        raise ValueError(text("scores_shape", labels=mask.shape, scores=scores.shape))
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
