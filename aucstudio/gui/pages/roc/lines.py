"""Kinds of curves, and their lines in the plot: drawn thinned, found by the pointer.

ROC, precision–recall, gain, lift and cost are drawn from the same ROC curves. Symbols: m positives
and n negatives, of which TP and FP are predicted positive; q share of rows predicted positive; pi
share of positives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.gui.common.curve_figures import RunCurves, Trace, run_curves
from aucstudio.gui.common.plots.curves import CurveItem, PlacedLine, Window
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.rate_axes import Axis, Points, nearest, placed
from aucstudio.gui.common.plotting import run_pen
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices.words import percent_words
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord

_GRID = 2_001  # places at which the mean of long curves is taken


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
    heading, calls : str
        Heading of the legend's number, and what the sentence calls it.
    measure : callable or None
        Computes that number from a curve; None for the height at ``top``.
    better : int
        1 where more is better, -1 where less is.
    top : float
        Share of the rows that gain and lift are quoted for.
    points, path : callable
        Of one curve; ``path`` may hold more than the vertices.
    height : callable
        Gives the second coordinate at any first one, of one curve.
    chance : callable
        Gives the line of a ranking without knowledge, from the share of positives.
    corner : (int, int)
        Where there are few curves: 0 or 1 for left or right, and for top or bottom.
    """

    key: str
    title: str
    x_title: str
    y_title: str
    names: tuple[str, str]
    heading: str
    calls: str
    measure: Callable[[roc.RocCurve], float] | None
    points: Callable[[roc.RocCurve], Points]
    path: Callable[[roc.RocCurve], Points]
    height: Callable[[roc.RocCurve, Array], Array]
    chance: Callable[[float], Points]
    corner: tuple[int, int] = (1, 1)
    better: int = 1
    counted: bool = True
    top: float = 0.1

    @property
    def figure_title(self) -> str:
        return self.heading.format(top=percent_words(self.top))

    @property
    def figure_words(self) -> str:
        return self.calls.format(top=percent_words(self.top))

    def figure(self, curve: roc.RocCurve) -> float:
        """Compute the legend's number of a curve."""
        if self.measure is not None:
            return self.measure(curve)
        return float(self.height(curve, np.array([self.top]))[0])

    def quoted_at(self, band: Band) -> Face:
        """Return the same face, quoted for the share of the rows at which a range of FPR ends."""
        return dataclasses.replace(self, top=band[1]) if band[1] < 1 else self


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


def _of_split(face: Face, trace: Trace) -> Shape:
    assert trace.curve is not None
    path = trace.corners if face.key == "roc" else face.path(trace.curve)
    return Shape(trace, face.points(trace.curve), path, None, face.counted)


def _mean(face: Face, curves: Sequence[roc.RocCurve]) -> tuple[Array, Array, Array]:
    """Average the second coordinate where any of the lines bends, or on a grid of many."""
    x = np.unique(np.concatenate([face.points(curve)[0] for curve in curves]))
    if len(x) > _GRID:
        x = x[np.linspace(0, len(x) - 1, _GRID).astype(int)]
    heights = np.stack([face.height(curve, x) for curve in curves])
    return x, heights.mean(axis=0), heights.std(axis=0, ddof=1)


# ----------------------------------------------------------------- the faces


def cut(values: Array, pieces: NDArray[np.int64]) -> Array:
    """Cut each segment of a line into so many equal pieces; at least one."""
    pieces = np.maximum(pieces, 1)
    segment = np.repeat(np.arange(len(pieces)), pieces)
    first = np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = (np.arange(len(segment)) - first) / pieces[segment]
    inner = values[segment] + share * np.diff(values)[segment]
    return np.append(inner, values[-1])


def _precision_path(curve: roc.RocCurve) -> Points:
    """Cut the segments of tied scores, on which the counts run straight and precision does not."""
    counts = curve.behind or curve
    rows = np.diff(counts.tp + counts.fp)
    slanted = (np.diff(curve.tp) > 0) & (rows > 1)
    pieces = np.where(slanted, np.minimum(rows, 128), 1)
    tp, fp = (cut(sums.astype(np.float64), pieces) for sums in (curve.tp, curve.fp))
    precision = tp[1:] / (tp[1:] + fp[1:])
    return tp / curve.positives, np.append(precision[:1], precision)


def _precision_at(curve: roc.RocCurve, recall: Array) -> Array:
    """Precision at a recall, with the fewest false positives it can be had for."""
    tp, fp = recall * curve.positives, roc.fpr_at(curve, recall) * curve.negatives
    first = roc.precision_recall(curve)[1][0]
    precision: Array = np.divide(tp, tp + fp, out=np.full(len(tp), first), where=recall > 0)
    return precision


def _gain_at(curve: roc.RocCurve, rows: Array) -> Array:
    return np.asarray(np.interp(rows, *roc.gain(curve)))


def _lift_points(curve: roc.RocCurve) -> Points:
    """The lift, with the first group's on the left of it: the counts run straight to it."""
    rows, lift = roc.lift(curve)
    return np.append(0.0, rows), np.append(lift[:1], lift)


def _lift_at(curve: roc.RocCurve, rows: Array) -> Array:
    first = roc.lift(curve)[1][0]
    found, start = _gain_at(curve, rows), np.full(len(rows), first)
    lift: Array = np.divide(found, rows, out=start, where=rows > 0)
    return lift


def _lift_path(curve: roc.RocCurve) -> Points:
    """Cut the long segments of tied scores, on which lift is no straight line."""
    rows, _ = roc.gain(curve)
    pieces = np.ceil(512 * np.diff(rows)).astype(np.int64)
    x = cut(rows, pieces)
    return x, _lift_at(curve, x)


def _mean_cost(curve: roc.RocCurve) -> float:
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
            lambda share: (_UNIT, np.array([share, share])), corner=(1, 0),
        ),
        Face(
            "gain", "Gain", "Share of rows predicted positive", "Share of positives found",
            ("rows", "found"), "In top {top}",
            "share of positives found in the top {top} of rows", None,
            roc.gain, roc.gain, _gain_at, _diagonal,
        ),
        Face(
            "lift", "Lift", "Share of rows predicted positive", "Lift", ("rows", "lift"),
            "Lift at {top}", "lift in the top {top} of rows", None,
            _lift_points, _lift_path, _lift_at, lambda _share: (_UNIT, np.ones(2)),
            corner=(1, 0),
        ),
        Face(
            "cost", "Cost", "Share of the maximum cost of positives", "Expected cost",
            ("probability_cost", "cost"), "Mean cost", "mean cost",
            _mean_cost, roc.cost_curve, roc.cost_curve,
            lambda curve, mix: np.asarray(np.interp(mix, *roc.cost_curve(curve))),
            lambda _share: (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 0.0])),
            corner=(0, 0), better=-1, counted=False,
        ),
    )
}  # fmt: skip


_known: WeakKeyDictionary[RunRecord, dict[str, Shapes]] = WeakKeyDictionary()


def shapes_of(record: RunRecord, face: Face) -> Shapes:
    """Return the lines of a record in a face, computed once per record."""
    faces = _known.setdefault(record, {})
    if face.key not in faces:
        faces[face.key] = Shapes(face, run_curves(record))
    return faces[face.key]


@dataclasses.dataclass(eq=False)
class Drawn:
    """A line of the picture and its meaning."""

    run: ShownRun
    shape: Shape
    along: Axis
    up: Axis
    item: CurveItem
    seen: object = None  # the window it is drawn for

    @cached_property
    def line(self) -> PlacedLine:
        """The line as places."""
        return PlacedLine(*placed(*self.shape.path, self.along, self.up))

    @cached_property
    def points(self) -> Points:
        """The points that the pointer selects, as places."""
        x, y = self.shape.points
        return self.along.forward(x), self.up.forward(y)

    def show(self, window: Window, pixels: tuple[int, int]) -> None:
        """Draw the part in a window of so many device pixels."""
        if self.seen != (window, pixels):
            self.seen = window, pixels
            self.item.setData(*self.line.seen(window, pixels))


class Lines:
    """All lines of finished runs.

    Attributes
    ----------
    drawn : list of Drawn
    """

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self._box: Any = plot.getViewBox()
        self.drawn: list[Drawn] = []

    def draw(
        self,
        runs: list[ShownRun],
        face: Face,
        every: bool,
        axes: tuple[Axis, Axis],
        selected: str | None,
    ) -> None:
        """Draw these runs in place of all others; lines that stay are kept."""
        kept = {d.shape: d for d in self.drawn if (d.along, d.up) == axes}
        before, self.drawn = self.drawn, []
        for run in runs:
            shapes = shapes_of(run.record, face)
            fine = every and len(shapes.known.curves) > 1
            for shape in shapes.every if fine else [shapes.average]:
                drawn = kept.get(shape) or self._add(run, shape, axes)
                drawn.run = run
                drawn.item.setPen(run_pen(run.look, 1.0 if fine else 2.0))
                drawn.item.setZValue(30 if run.record.id == selected else 10)
                drawn.item.setOpacity(0.65 if fine else 1.0)
                self.drawn.append(drawn)
        self._plot.removeItem(*(old.item for old in before if old not in self.drawn))
        self.thin()

    def _add(self, run: ShownRun, shape: Shape, axes: tuple[Axis, Axis]) -> Drawn:
        item = CurveItem(antialias=True)
        self._plot.addItem(item, ignoreBounds=True)
        return Drawn(run, shape, *axes, item)

    def thin(self) -> None:
        """Draw each line for the visible window."""
        window, pixels = self.window(), self.pixels()
        for drawn in self.drawn:
            drawn.show(window, pixels)

    def window(self) -> Window:
        """Left, right, bottom and top of the visible window."""
        (left, right), (bottom, top) = self._box.viewRange()
        return left, right, bottom, top

    def pixels(self) -> tuple[int, int]:
        """Columns and rows of the screen's own pixels in the window."""
        ratio = self._plot.devicePixelRatioF()
        area = self._box.rect()
        return max(round(area.width() * ratio), 1), max(round(area.height() * ratio), 1)

    def runs(self) -> list[ShownRun]:
        """List the runs that are drawn."""
        return list({d.run.record.id: d.run for d in self.drawn}.values())

    def of(self, run: str | None) -> Iterator[Drawn]:
        """List the lines of a run."""
        return (drawn for drawn in self.drawn if drawn.run.record.id == run)

    def nearest(self, x: float, y: float) -> tuple[Drawn, int] | None:
        """Find the line and its point nearest to a place."""
        pixel = self._box.viewPixelSize()
        found = [(*nearest(drawn.points, (x, y), pixel), drawn) for drawn in self.drawn]
        if not found:
            return None
        _, vertex, drawn = min(found, key=lambda one: one[0])
        return drawn, vertex
