"""The empirical ROC curve, and the checks of the labels and scores it is made from."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.roc.weights import Behind, check_weights
from aucstudio.engine.types import Array, Mask

Scores = NDArray[np.floating[Any]]


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
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
    trials : (ndarray, ndarray) or None
        Where rows come in groups, how many independent rows the TPR and the FPR at each vertex
        are worth.
    """

    fp: NDArray[Any]
    tp: NDArray[Any]
    thresholds: Scores
    behind: Behind | None = None
    trials: tuple[Array, Array] | None = None

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

    def corners(self) -> Curve:
        """Return the same polyline without the vertices inside its straight runs."""
        return self.at(inner(turns(self) != 0))

    def at(self, kept: Mask) -> Curve:
        """Return the polyline of some of the vertices."""
        behind = self.behind and self.behind.at(kept)
        trials = self.trials and (self.trials[0][kept], self.trials[1][kept])
        return Curve(self.fp[kept], self.tp[kept], self.thresholds[kept], behind, trials)


def turns(curve: Curve) -> NDArray[Any]:
    """Cross product of the edges at each inner vertex; negative where the curve bends down."""
    dx, dy = np.diff(curve.fp), np.diff(curve.tp)
    turns: NDArray[Any] = dx[:-1] * dy[1:] - dy[:-1] * dx[1:]
    return turns


def inner(kept: Mask) -> Mask:
    """Extend a mask of the inner vertices to all: both ends stay."""
    return np.concatenate([[True], kept, [True]])


def split_scores(y: ArrayLike, score: ArrayLike, positive: object = None) -> tuple[Scores, Scores]:
    """Check labels and scores; give the positives' and the negatives' scores, in row order.

    Raises
    ------
    ValueError
        If the lengths differ, a score is NaN or infinite, or y does not hold two classes.
    """
    scores = np.asarray(score)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    mask = positive_mask(y, positive)
    if scores.ndim != 1 or mask.shape != scores.shape:
        raise ValueError(
            f"y and score must be two columns of equal length; they have the shapes "
            f"{mask.shape} and {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise ValueError("score holds NaN or infinite values; every row needs a finite score.")
    return scores.compress(mask), scores.compress(~mask)


def positive_mask(labels: ArrayLike, positive: object = None) -> Mask:
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


def sorted_scores(y: ArrayLike, score: ArrayLike, positive: object) -> tuple[Scores, Scores]:
    """Do what :func:`split_scores` does, each class in ascending order."""
    s, t = split_scores(y, score, positive)
    s.sort()
    t.sort()
    return s, t


def roc_curve(
    y: ArrayLike,
    score: ArrayLike,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
) -> Curve:
    """Build the ROC curve with all its vertices, of rows that may be weighted.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses, and for weights that
        :func:`~roc.check_weights` does.
    """
    if weights is not None:
        return _weighted_curve(y, score, positive, weights)
    s, t = sorted_scores(y, score, positive)
    place = np.arange(len(s)) + np.searchsorted(t, s, "right")  # in the merged order
    is_positive = np.zeros(len(s) + len(t), dtype=bool)
    is_positive[place] = True
    merged = np.empty(len(is_positive), dtype=s.dtype)
    merged[is_positive], merged[~is_positive] = s, t
    lowest = np.flatnonzero(np.append(True, merged[1:] != merged[:-1]))[::-1]  # of each group
    tp = len(s) - np.append(0, np.cumsum(is_positive))[lowest]
    fp = len(is_positive) - lowest - tp
    thresholds = np.append(np.array([np.inf], dtype=s.dtype), merged[lowest])
    return Curve(np.append(0, fp), np.append(0, tp), thresholds)


def _weighted_curve(y: ArrayLike, score: ArrayLike, positive: object, weights: ArrayLike) -> Curve:
    s, t = split_scores(y, score, positive)
    mask = positive_mask(y, positive)
    each = check_weights(weights, mask)
    scores = np.empty(len(mask), dtype=s.dtype)
    scores[mask], scores[~mask] = s, t
    # Rows without weight are as good as absent: they make no vertex and move no threshold.
    counted = np.flatnonzero(each)
    order = counted[np.argsort(-scores[counted], kind="stable")]
    scores, each, mask = scores[order], each[order], mask[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))  # of each group

    def summed(values: NDArray[Any], of_class: Mask) -> NDArray[Any]:
        return np.append(values[:0].sum(), np.cumsum(np.where(of_class, values, 0))[last])

    (fp, tp), (fp_rows, tp_rows), (fp_squares, tp_squares) = (
        (summed(values, ~mask), summed(values, mask))
        for values in (each, np.ones(len(mask), np.int64), each**2)
    )
    thresholds = np.append(np.array([np.inf], dtype=scores.dtype), scores[last])
    return Curve(fp, tp, thresholds, Behind(fp_rows, tp_rows, fp_squares, tp_squares))
