"""The empirical ROC curve, and the checks of the labels and scores it is made from."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.types import Array, Mask

Scores = NDArray[np.floating[Any]]


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """An empirical ROC curve as counts, one vertex for each group of tied scores.

    Attributes
    ----------
    fp, tp : ndarray of int, shape (n_vertices,)
        Negatives and positives predicted positive, from (0, 0) to (n, m).
    thresholds : ndarray of shape (n_vertices,)
        A vertex predicts positive where score >= threshold; the first is +inf.
    """

    fp: NDArray[np.int64]
    tp: NDArray[np.int64]
    thresholds: Scores

    @property
    def positives(self) -> int:
        return int(self.tp[-1])

    @property
    def negatives(self) -> int:
        return int(self.fp[-1])

    @cached_property
    def fpr(self) -> Array:
        return self.fp / self.negatives

    @cached_property
    def tpr(self) -> Array:
        return self.tp / self.positives

    def corners(self) -> Curve:
        """Give the same polyline without the vertices inside its straight runs."""
        return self.at(inner(turns(self) != 0))

    def at(self, kept: Mask) -> Curve:
        """Give the polyline of some of the vertices."""
        return Curve(self.fp[kept], self.tp[kept], self.thresholds[kept])


def turns(curve: Curve) -> NDArray[np.int64]:
    """Cross product of the edges at each inner vertex; negative where the curve bends down."""
    dx, dy = np.diff(curve.fp), np.diff(curve.tp)
    turns: NDArray[np.int64] = dx[:-1] * dy[1:] - dy[:-1] * dx[1:]
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
    mask = _positive_mask(np.asarray(y), positive)
    if scores.ndim != 1 or mask.shape != scores.shape:
        raise ValueError(
            f"y and score must be two columns of equal length; they have the shapes "
            f"{mask.shape} and {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise ValueError("score holds NaN or infinite values; every row needs a finite score.")
    return scores.compress(mask), scores.compress(~mask)


def _positive_mask(y: NDArray[Any], positive: object) -> Mask:
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


def roc_curve(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> Curve:
    """Build the ROC curve with all its vertices.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
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
