"""Lines and regions over ROC curves: difference of two runs, isometrics, confidence bands."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGraphicsItem, QGraphicsPathItem

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.gui.common.curve_figures import Trace, run_curves
from aucstudio.gui.common.plots.curves import Window
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.rate_axes import Axis, Points, filled
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.gui.state.study import Focus
from aucstudio.notices import text
from aucstudio.notices.words import figure_words, score_words
from aucstudio.project.results.comparison import AUC, PAUC, PairComparison, compare_runs
from aucstudio.project.results.thresholds import data_prior, share_words
from aucstudio.project.runs.experiment import Band

_HATCH = 5.0  # pixels between the lines over where the compared run leads
_PAUSE = 150  # milliseconds that a dragged range rests before the test starts
_SAMPLES = 400  # places across the window at which the region is drawn


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """What the picture shows now.

    Attributes
    ----------
    runs : tuple of ShownRun
        The drawn runs, in the order of the list.
    chosen, compared : ShownRun or None
        The selected run and the second one, where they are drawn.
    focus : Focus
    band : (float, float)
    x, y : Axis
        Of the FPR and of the TPR.
    window : (float, float, float, float)
        Left, right, bottom and top of the visible window, as places.
    face : str
        "roc", or which other face of the curves is shown: a layer that is about rates then draws
        nothing.
    """

    runs: tuple[ShownRun, ...]
    chosen: ShownRun | None
    compared: ShownRun | None
    focus: Focus
    band: Band
    x: Axis
    y: Axis
    window: Window
    face: str = "roc"

    @property
    def is_roc(self) -> bool:
        return self.face == "roc"


def average(run: ShownRun) -> Trace:
    """Return the line of a run: its only curve, or the average of all splits."""
    return run_curves(run.record).average


class Layer(QObject):
    """Something drawn over the ROC curves.

    Attributes
    ----------
    changed : Signal
        Something was computed that ``show`` draws or ``words`` states.
    enabled : bool
    words : str
        What it adds to the sentence.
    items : sequence of QGraphicsItem
        Drawn one over the other, the first at the given depth.
    """

    changed = Signal()

    def __init__(self, plot: Plot, items: Sequence[QGraphicsItem], depth: float) -> None:
        super().__init__(plot)
        self.enabled = False
        self.words = ""
        self.items = items
        for k, item in enumerate(items):
            item.setZValue(depth + k)
            plot.addItem(item, ignoreBounds=True)

    def show(self, scene: Scene) -> None:
        """Draw over the current picture, or nothing if the layer is off."""
        raise NotImplementedError

    def apply_theme(self) -> None:
        """Apply the current theme."""

    def show_items(self, shown: bool) -> None:
        """Show or hide all items."""
        for item in self.items:
            item.setVisible(shown)


class DifferenceLayer(Layer):
    """Region between two curves, filled in the leader's colour, hatched for the compared run.

    Attributes
    ----------
    fills : (QGraphicsPathItem, QGraphicsPathItem)
        Where the chosen run leads, and where the compared one does.
    hatch : PlotCurveItem
    missing : str
        What to do for a difference, if there is none to show.
    """

    def __init__(self, plot: Plot) -> None:
        self.fills = QGraphicsPathItem(), QGraphicsPathItem()
        self.hatch = pg.PlotCurveItem(connect="pairs")
        super().__init__(plot, (*self.fills, self.hatch), 1)
        self._box: Any = plot.getViewBox()
        self._pair: tuple[ShownRun, ShownRun] | None = None
        self.missing = ""
        self._drawn: tuple[object, ...] = ()
        self._answer = Answer(self, self._show_result, self._show_result)
        for fill in self.fills:
            fill.setPen(Qt.PenStyle.NoPen)

    def show(self, scene: Scene) -> None:
        chosen, compared, self._pair = scene.chosen, scene.compared, None
        shown = self.enabled and scene.is_roc
        if shown and chosen and compared and chosen.record is not compared.record:
            self._pair = chosen, compared
            self._draw(scene, average(chosen), average(compared))
            self.apply_theme()
            self._test(self._pair, scene.band)
        else:
            self._answer.drop()
            self.words = ""
        self.missing = text("choose_a_second_run") if shown and self._pair is None else ""
        self.show_items(self._pair is not None)

    def _draw(self, scene: Scene, a: Trace, b: Trace) -> None:
        drawn = (a, b, scene.x, scene.y, scene.window)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        fpr, of_a, of_b = between(scene, a, b)
        x, y_a, y_b = scene.x.forward(fpr), scene.y.forward(of_a), scene.y.forward(of_b)
        top = np.maximum(y_a, y_b)
        for fill, low in zip(self.fills, (y_b, y_a), strict=True):
            fill.setPath(
                pg.functions.arrayToQPath(np.append(x, x[::-1]), np.append(top, low[::-1]))
            )
        across = self._box.viewPixelSize()[0]
        left, right = max(scene.window[0], float(x[0])), min(scene.window[1], float(x[-1]))
        at = np.arange(left, right, _HATCH * across)
        ends = np.interp(at, x, y_a), np.interp(at, x, top)
        kept = ends[1] > ends[0]
        self.hatch.setData(np.repeat(at[kept], 2), np.column_stack(ends)[kept].ravel())

    def apply_theme(self) -> None:
        if self._pair is None:
            return
        theme = current_theme()
        colours = [run_colour(theme, run.look.colour) for run in self._pair]
        for fill, colour in zip(self.fills, colours, strict=True):
            fill.setBrush(faded(colour, 70))
        self.hatch.setPen(pen(faded(colours[1], 200), 1.0))

    # ------------------------------------------------------------- the tests

    def _test(self, pair: tuple[ShownRun, ShownRun], band: Band) -> None:
        named = tuple((run.look.name, run.record) for run in pair)
        if self._answer.key == (named, band):
            return

        def work(_post: object) -> str:
            whole, part = (compare_runs(named, band, of)[0] for of in (AUC, PAUC))
            return difference_words(whole, part, band, len(pair[0].record.splits))

        self.words = ""
        self._answer.ask((named, band), work, pause=_PAUSE)

    def _show_result(self, words: str) -> None:
        self.words = words
        self.changed.emit()


def between(scene: Scene, a: Trace, b: Trace) -> tuple[Array, Array, Array]:
    """Return FPRs across the window, ascending, and the heights of two lines there.

    Where a line jumps and where the lines cross, an FPR occurs twice or more, so that straight
    lines between the points are the lines themselves.
    """
    left, right = scene.window[:2]
    even = np.clip(scene.x.backward(np.linspace(left, right, _SAMPLES)), 0.0, 1.0)
    low, high = float(even[0]), float(even[-1])
    bends = np.concatenate([line.corners[0] for line in (a, b)])
    fpr = np.unique(np.concatenate([even, bends[(bends >= low) & (bends <= high)]]))
    of_a, of_b = (_limits(*line.corners, fpr) for line in (a, b))
    return _with_crossings(np.repeat(fpr, 2), of_a, of_b)


def _limits(x: Array, y: Array, at: Array) -> Array:
    """Return a line's heights on either side of each FPR, one after the other."""
    before = np.interp(-at, -x[::-1], y[::-1])  # at a jump interp takes the later height
    return np.column_stack([before, np.interp(at, x, y)]).ravel()


def _with_crossings(x: Array, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Add the points in which two lines over the same x cross."""
    gap = a - b
    k = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[k] / (gap[k] - gap[k + 1])
    places = [np.insert(of, k + 1, of[k] + share * (of[k + 1] - of[k])) for of in (x, a, b)]
    places[2][k + 1 + np.arange(len(k))] = places[1][k + 1 + np.arange(len(k))]
    return places[0], places[1], places[2]


def difference_words(whole: PairComparison, part: PairComparison, band: Band, splits: int) -> str:
    """State which run is better in the range and overall, with areas and p-values."""
    if whole.refused:
        return text("runs_untestable", pair=whole, why=whole.refused)
    lead = text(
        "lead_overall",
        better=whole.better,
        lead=abs(whole.difference),
        test="DeLong" if splits == 1 else "corrected t over the splits",
        reason=whole.reason,
        p=None if whole.reason else whole.p,
    )
    if band == (0.0, 1.0):
        return text("areas_differ", pair=whole, lead=lead)
    area = part.difference * (band[1] - band[0])
    return text(
        "partial_areas_differ",
        pair=part,
        band=band,
        area=figure_words(area, "+") if abs(area) >= 5e-4 else score_words(area, "+.1e"),
        reason=part.reason,
        bounds=None if part.reason else (part.low, part.high),
        lead=lead,
    )


MEASURES = {
    "accuracy": roc.accuracy,
    "precision": roc.precision,
    "f": roc.f_measure,
    "wra": roc.weighted_relative_accuracy,
}
_GRID = 41  # points of the window along each axis at which the measure is looked at
_MOST = 9  # lines
_WIDE = 50.0  # greatest over least value from which the levels are in powers of ten
_LABEL_DEPTH = 45
_SHARES = (0.92, 0.82, 0.72, 0.62)  # of the lines, where neighbours have their labels


class IsometricLayer(Layer):
    """Lines of equal value of one measure, at the prior in force, through the window.

    Attributes
    ----------
    measure : str
        A key of :data:`MEASURES`.
    levels : list of float
        The values that are drawn.
    labels : list of TextItem
        Those of lines that are gone are hidden.
    """

    def __init__(self, plot: Plot, session: Session) -> None:
        self.lines = pg.PlotCurveItem(antialias=True, connect="finite")
        super().__init__(plot, (self.lines,), 2)
        self.measure = "accuracy"
        self.levels: list[float] = []
        self._drawn: tuple[object, ...] = ()
        self._session, self._plot = session, plot
        self.labels: list[pg.TextItem] = []
        self.apply_theme()

    def show(self, scene: Scene) -> None:
        prior = self._prior(scene) if self.enabled and scene.is_roc else None
        drawn = (prior, self.measure, scene.x, scene.y, scene.window)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        seen: list[tuple[float, Points]] = []
        if prior is not None:
            measure, skew = MEASURES[self.measure], roc.skew_of(prior)
            found = [
                (level, _seen(scene, measure.isometric(level, skew)))
                for level in levels_of(scene, measure, skew)
            ]
            seen = [(level, places) for level, places in found if len(places[0]) > 1]
        self.levels = [level for level, _ in seen]
        gap = np.array([np.nan])
        parts = [
            np.concatenate([part for _, line in seen for part in (line[k], gap)] or [gap[:0]])
            for k in (0, 1)
        ]
        self.lines.setData(*parts)
        self._write_labels([places for _, places in seen])
        self.apply_theme()
        self.words = ""
        if prior is not None:
            self.words = text("isometric_lines", measure=measure.name, share=share_words(prior))

    def _write_labels(self, lines: Sequence[Points]) -> None:
        """Write the level of each line on it, where its neighbours have theirs further off."""
        while len(self.labels) < len(lines):
            made = pg.TextItem(anchor=(0.5, 0.5))
            made.setZValue(_LABEL_DEPTH)
            self._plot.addItem(made, ignoreBounds=True)
            self.labels.append(made)
        for k, item in enumerate(self.labels):
            item.setVisible(k < len(lines))
            if k < len(lines):
                x, y = lines[k]
                at = round(_SHARES[k % len(_SHARES)] * (len(x) - 1))
                item.setText(_level_words(self.levels[k]))
                item.setPos(float(x[at]), float(y[at]))

    def _prior(self, scene: Scene) -> float | None:
        """Return the prior in force; None where there is no run to take it from."""
        stakes = self._session.stakes
        if stakes.prior is not None:
            return stakes.prior
        run = scene.chosen or next(iter(scene.runs), None)
        return None if run is None else data_prior(run.record, self._session.table)

    def apply_theme(self) -> None:
        theme = current_theme()
        self.lines.setPen(pen(theme.neutral, 0.8))
        for item in self.labels:
            item.setColor(QColor(theme.muted))
            item.fill = pg.mkBrush(faded(theme.card, 215))


def _seen(scene: Scene, line: roc.Line) -> Points:
    """Return places on the visible part of a rising line."""
    left, right, bottom, top = scene.window
    x, y = filled(*line.segment(), scene.x, scene.y, scene.window)
    seen = (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
    return x[seen], y[seen]


def levels_of(scene: Scene, measure: roc.PointMeasure, skew: float) -> list[float]:
    """Choose round values of the measure in the window, above chance if visible."""
    ends = zip((scene.x, scene.y), (scene.window[:2], scene.window[2:]), strict=True)
    rates = [np.clip(axis.backward(np.array(part)), 0.0, 1.0) for axis, part in ends]
    fpr, tpr = np.meshgrid(*(np.linspace(low, high, _GRID) for low, high in rates))
    values, above = measure(tpr, fpr, skew), tpr >= fpr
    values = values[np.isfinite(values) & (above if above.any() else True)]
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    return round_levels(low, high, float(np.quantile(values, 0.1)))


def round_levels(low: float, high: float, common: float) -> list[float]:
    """Return round values strictly between two ends: 1, 2 and 5 of powers of ten, or even steps.

    Powers of ten where a tenth of the window lies below a fiftieth of the highest value:
    ``common`` is the value below which that tenth lies.
    """
    if not high > low:
        return []
    if 0 < common < high / _WIDE:
        first = math.floor(math.log10(max(common / 10, low, 1e-12)))
        last = math.ceil(math.log10(high))
        steps = [m * 10.0**k for k in range(first, last + 1) for m in (1, 2, 5)]
        return [s for s in steps if low < s < high][-_MOST:]
    rough = (high - low) / _MOST
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    found = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    return [float(f"{level:.10g}") for level in found if low < level < high]


def _level_words(level: float) -> str:
    return score_words(level, ".3g" if abs(level) >= 1e-4 or level == 0 else ".0e")
