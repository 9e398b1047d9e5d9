"""Kinds of curves: ROC, precision–recall, gain, lift and cost.

All are drawn from the same ROC curves. Symbols: m positives and n negatives, of which TP and FP
are predicted positive; q share of rows predicted positive; pi share of positives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.types import Array
from aucstudio.gui.common.curves import RunCurves, Trace
from aucstudio.gui.pages.roc.axes import cut

_GRID = 2_001  # places at which the mean of long curves is taken
TOP = 0.1  # share of the rows that gain and lift are quoted for

Points = tuple[Array, Array]


@dataclasses.dataclass(frozen=True, eq=False)
class Shape:
    """A line of a face.

    Attributes
    ----------
    trace : Trace
        The ROC curve it is made from.
    points : (ndarray, ndarray)
        The points that the pointer selects.
    path : (ndarray, ndarray)
        What is drawn: the points and whatever runs between them.
    spread : ndarray or None
        Standard deviation of the second coordinate over the splits, for an average.
    counted : bool
        Whether ``points`` are the vertices of ``trace``, one by one.
    """

    trace: Trace
    points: Points
    path: Points
    spread: Array | None
    counted: bool


@dataclasses.dataclass(frozen=True)
class Face:
    """One way of drawing a ranking.

    Attributes
    ----------
    key, title : str
    x_title, y_title : str
    names : (str, str)
        Of the columns of its numbers.
    figure_title, figure_words : str
        Heading of the legend's number, and what the sentence calls it.
    figure : callable
        Computes that number from a curve.
    better : int
        1 where more is better, -1 where less is.
    points, path : callable
        Of one curve; ``path`` may hold more than the vertices.
    height : callable
        Gives the second coordinate at any first one, of one curve.
    chance : callable
        Gives the line of a ranking without knowledge, from the share of positives.
    """

    key: str
    title: str
    x_title: str
    y_title: str
    names: tuple[str, str]
    figure_title: str
    figure_words: str
    figure: Callable[[roc.Curve], float]
    points: Callable[[roc.Curve], Points]
    path: Callable[[roc.Curve], Points]
    height: Callable[[roc.Curve, Array], Array]
    chance: Callable[[float], Points]
    better: int = 1
    counted: bool = True


class Shapes:
    """The lines of one run in one face, computed on demand."""

    def __init__(self, face: Face, known: RunCurves) -> None:
        self.face, self.known = face, known

    @cached_property
    def every(self) -> list[Shape]:
        """The line of each split."""
        return [_of_split(self.face, trace) for trace in self.known.every]

    @cached_property
    def average(self) -> Shape:
        """The mean second coordinate at each first one; of a single split its very line."""
        if len(self.known.curves) == 1:
            return self.every[0]
        trace = self.known.average
        if self.face.key == "roc":
            return Shape(trace, (trace.x, trace.y), (trace.x, trace.y), trace.spread, False)
        x, y, spread = _mean(self.face, self.known.curves)
        return Shape(trace, (x, y), (x, y), spread, False)

    @cached_property
    def figures(self) -> tuple[float, ...]:
        """The face's number in each split."""
        return tuple(self.face.figure(curve) for curve in self.known.curves)


def _of_split(face: Face, trace: Trace) -> Shape:
    assert trace.curve is not None
    path = trace.corners if face.key == "roc" else face.path(trace.curve)
    return Shape(trace, face.points(trace.curve), path, None, face.counted)


def _mean(face: Face, curves: Sequence[roc.Curve]) -> tuple[Array, Array, Array]:
    """Average the second coordinate where any of the lines bends, or on a grid of many."""
    x = np.unique(np.concatenate([face.points(curve)[0] for curve in curves]))
    if len(x) > _GRID:
        x = x[np.linspace(0, len(x) - 1, _GRID).astype(int)]
    heights = np.stack([face.height(curve, x) for curve in curves])
    return x, heights.mean(axis=0), heights.std(axis=0, ddof=1)


# ----------------------------------------------------------------- the faces


def _precision_path(curve: roc.Curve) -> Points:
    """Cut the segments of tied scores, on which the counts run straight and precision does not."""
    counts = curve.behind or curve
    rows = np.diff(counts.tp + counts.fp)
    slanted = (np.diff(curve.tp) > 0) & (rows > 1)
    pieces = np.where(slanted, np.minimum(rows, 128), 1)
    tp, fp = (cut(sums.astype(np.float64), pieces) for sums in (curve.tp, curve.fp))
    precision = tp[1:] / (tp[1:] + fp[1:])
    return tp / curve.positives, np.append(precision[:1], precision)


def _precision_at(curve: roc.Curve, recall: Array) -> Array:
    """Precision at a recall, with the fewest false positives it can be had for."""
    tp, fp = recall * curve.positives, roc.fpr_at(curve, recall) * curve.negatives
    first = roc.precision_recall(curve)[1][0]
    precision: Array = np.divide(tp, tp + fp, out=np.full(len(tp), first), where=recall > 0)
    return precision


def _gain_at(curve: roc.Curve, rows: Array) -> Array:
    return np.asarray(np.interp(rows, *roc.gain(curve)))


def _lift_points(curve: roc.Curve) -> Points:
    """The lift, with the first group's on the left of it: the counts run straight to it."""
    rows, lift = roc.lift(curve)
    return np.append(0.0, rows), np.append(lift[:1], lift)


def _lift_at(curve: roc.Curve, rows: Array) -> Array:
    first = roc.lift(curve)[1][0]
    found, start = _gain_at(curve, rows), np.full(len(rows), first)
    lift: Array = np.divide(found, rows, out=start, where=rows > 0)
    return lift


def _lift_path(curve: roc.Curve) -> Points:
    """Cut the long segments of tied scores, on which lift is no straight line."""
    rows, _ = roc.gain(curve)
    pieces = np.ceil(512 * np.diff(rows)).astype(np.int64)
    x = cut(rows, pieces)
    return x, _lift_at(curve, x)


def _mean_cost(curve: roc.Curve) -> float:
    mix, cost = roc.cost_curve(curve)
    return float(np.trapezoid(cost, mix))


_UNIT = np.array([0.0, 1.0])
_roc_points = attrgetter("fpr", "tpr")


def _diagonal(_share: float) -> Points:
    return _UNIT, _UNIT


FACES: dict[str, Face] = {
    face.key: face
    for face in (
        Face(
            "roc", "ROC", "False-positive rate", "True-positive rate", ("fpr", "tpr"),
            "AUC", "AUC", roc.auc_of, _roc_points, _roc_points, roc.tpr_at, _diagonal,
        ),
        Face(
            "precision", "Precision–recall", "Recall", "Precision", ("recall", "precision"),
            "AP", "average precision", roc.average_precision,
            roc.precision_recall, _precision_path, _precision_at,
            lambda share: (_UNIT, np.array([share, share])),
        ),
        Face(
            "gain", "Gain", "Share of rows predicted positive", "Share of positives found",
            ("rows", "found"), "In top 10 %",
            "share of positives found in the top 10 % of rows",
            lambda curve: float(_gain_at(curve, np.array([TOP]))[0]),
            roc.gain, roc.gain, _gain_at, _diagonal,
        ),
        Face(
            "lift", "Lift", "Share of rows predicted positive", "Lift", ("rows", "lift"),
            "Lift at 10 %", "lift in the top 10 % of rows",
            lambda curve: float(_lift_at(curve, np.array([TOP]))[0]),
            _lift_points, _lift_path, _lift_at, lambda _share: (_UNIT, np.ones(2)),
        ),
        Face(
            "cost", "Cost", "Share of the maximum cost of positives", "Expected cost",
            ("probability_cost", "cost"), "Mean cost", "mean cost",
            _mean_cost, roc.cost_curve, roc.cost_curve,
            lambda curve, mix: np.asarray(np.interp(mix, *roc.cost_curve(curve))),
            lambda _share: (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 0.0])),
            better=-1, counted=False,
        ),
    )
}  # fmt: skip
