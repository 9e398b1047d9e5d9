"""Lines and regions over ROC curves: difference of two runs, isometrics, confidence bands."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
import scipy
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QGraphicsItem, QGraphicsPathItem

from aucstudio.engine import inference, roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.inference.bands import GRID
from aucstudio.gui.common.curve_figures import Trace, run_curves
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.roc.axes import (
    Axis,
    Points,
    Scene,
    draw,
    seen_places,
    seen_rates,
    trace_of,
)
from aucstudio.gui.pages.roc.cards import Crowd, LineLabels
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import figure_words
from aucstudio.project.results.comparison import AUC, PAUC, PairComparison, compare_runs
from aucstudio.project.results.summary import LEVEL, ranking
from aucstudio.project.results.thresholds import data_prior, share_words
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord

_HATCH = 5.0  # pixels between the lines over where the compared run leads
_PAUSE = 150  # milliseconds that a dragged range rests before the test starts
_SAMPLES = 400  # places across the window at which the region is drawn


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

    def __init__(self, plot: pg.PlotWidget, items: Sequence[QGraphicsItem], depth: float) -> None:
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
    """

    def __init__(self, plot: pg.PlotWidget, session: Session) -> None:
        self.fills = QGraphicsPathItem(), QGraphicsPathItem()
        self.hatch = pg.PlotCurveItem(connect="pairs")
        super().__init__(plot, (*self.fills, self.hatch), 1)
        self._box: Any = plot.getPlotItem().getViewBox()
        self._session = session
        self._pair: tuple[ShownRun, ShownRun] | None = None
        self._drawn: tuple[object, ...] = ()
        self._answer = Answer(self, self._show_result, self._show_result)
        for fill in self.fills:
            fill.setPen(Qt.PenStyle.NoPen)

    @property
    def busy(self) -> bool:
        """Whether the test is still being computed."""
        return self._answer.busy

    def show(self, scene: Scene) -> None:
        a, b = trace_of(scene, scene.chosen), trace_of(scene, scene.compared)
        shown = self.enabled and scene.face == "roc" and a is not b
        self._pair = None
        if shown and a and b and scene.chosen and scene.compared:
            self._pair = scene.chosen, scene.compared
            self._draw(scene, a, b)
            self.apply_theme()
            self._test(self._pair, scene.band)
        else:
            self._answer.drop()
            needs_run = self.enabled and self._session.compared is None
            self.words = text("choose_a_second_run") if needs_run else ""
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
    heights = [_limits(*line.corners, fpr) for line in (a, b)]
    x = np.repeat(fpr, 2)
    of_a, of_b = heights
    return _with_crossings(x, of_a, of_b)


def _limits(x: Array, y: Array, at: Array) -> Array:
    """Return a line's heights on either side of each FPR, one after the other."""
    below = np.searchsorted(x, at, "left")
    above = np.searchsorted(x, at, "right") - 1
    between = np.interp(at, x, y)
    hit = below <= above
    lower = np.where(hit, y[np.minimum(below, len(y) - 1)], between)
    upper = np.where(hit, y[above], between)
    return np.column_stack([lower, upper]).ravel()


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
    small = f"{area:+.1e}".replace("-", "−")
    return text(
        "partial_areas_differ",
        pair=part,
        band=band,
        area=figure_words(area, "+") if abs(area) >= 5e-4 else small,
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


class IsometricLayer(Layer):
    """Lines of equal value of one measure, at the prior in force, through the window.

    Attributes
    ----------
    measure : str
        A key of :data:`MEASURES`.
    levels : list of float
        The values that are drawn.
    labels : LineLabels
    """

    def __init__(
        self, plot: pg.PlotWidget, session: Session, crowd: Crowd = lambda _place: 0.0
    ) -> None:
        self.lines = pg.PlotCurveItem(antialias=True, connect="finite")
        super().__init__(plot, (self.lines,), 2)
        self.measure = "accuracy"
        self.levels: list[float] = []
        self._drawn: tuple[object, ...] = ()
        self._session = session
        self.labels = LineLabels(plot, crowd)
        self.apply_theme()

    def show(self, scene: Scene) -> None:
        prior = self._prior(scene) if self.enabled and scene.face == "roc" else None
        drawn = (prior, self.measure, scene.x, scene.y, scene.window)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        seen: list[tuple[float, Points]] = []
        if prior is not None:
            measure, skew = MEASURES[self.measure], roc.skew_of(prior)
            found = [
                (level, seen_places(scene, measure.isometric(level, skew)))
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
        self.labels.show([places for _, places in seen], [_level_words(k) for k in self.levels])
        self.apply_theme()
        self.words = ""
        if prior is not None:
            self.words = text("isometric_lines", measure=measure.name, share=share_words(prior))

    def _prior(self, scene: Scene) -> float | None:
        """Return the prior in force; None where there is no run to take it from."""
        stakes = self._session.stakes
        if stakes.prior is not None:
            return stakes.prior
        run = scene.chosen or next(iter(scene.runs), None)
        return None if run is None else data_prior(run.record, self._session.table)

    def apply_theme(self) -> None:
        self.lines.setPen(pen(current_theme().neutral, 0.8))
        self.labels.apply_theme()


def levels_of(scene: Scene, measure: roc.PointMeasure, skew: float) -> list[float]:
    """Choose round values of the measure in the window, above chance if visible."""
    left, right, bottom, top = seen_rates(scene)
    fpr, tpr = np.meshgrid(np.linspace(left, right, _GRID), np.linspace(bottom, top, _GRID))
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
    text = f"{level:.3g}" if abs(level) >= 1e-4 or level == 0 else f"{level:.0e}"
    return text.replace("-", "−")


NONE = "none"
MOST_RUNS = 3  # more overlapping bands are unreadable

_ALPHA = 40
_KEPT = 32
_LOW_END = 60  # points between half a negative and 1, for logarithmic axes


@dataclasses.dataclass(frozen=True, eq=False)
class Bounds:
    """A confidence band of one run's curve, at FPRs ascending from 0 to 1."""

    fpr: Array
    low: Array
    high: Array
    words: str


class ConfidenceBands:
    """The bands in the picture.

    Parameters
    ----------
    plot : PlotWidget
    computed : callable
        Called when bands were computed in the background.

    Attributes
    ----------
    items : list of QGraphicsPathItem
    found : sequence of Bounds or None
        The bands of the runs, None until they are computed.
    words : str
        What the drawn bands mean.
    """

    def __init__(self, plot: pg.PlotWidget, computed: Callable[[], object]) -> None:
        self._box: Any = plot.getPlotItem().getViewBox()
        self._computed = computed
        self.items: list[QGraphicsPathItem] = []
        self.found: Sequence[Bounds] | None = None
        self._answer = Answer(plot, self._on_found, keep=_KEPT)
        self.words = ""

    def show(self, runs: Sequence[ShownRun], kind: str, along: Axis, up: Axis) -> None:
        """Draw the bands of some runs when they are computed."""
        for item in self.items:
            self._box.removeItem(item)
        self.items, self.words = [], ""
        key = kind, tuple(run.record for run in runs)
        if kind == NONE or not runs:
            self._answer.drop()
            return
        if key != self._answer.key:
            self.found = None
            self._answer.ask(key, lambda post: [bounds_of(record, kind, post) for record in key[1]])
            return  # drawn when it is computed, which may be now
        for run, bounds in zip(runs, self.found or (), strict=False):
            self.words = bounds.words
            if len(bounds.fpr):
                self._add(run, bounds, along, up)

    def _on_found(self, found: Sequence[Bounds]) -> None:
        self.found = found
        self._computed()

    def _add(self, run: ShownRun, bounds: Bounds, along: Axis, up: Axis) -> None:
        lower = draw(bounds.fpr, bounds.low, along, up)
        upper = draw(bounds.fpr, bounds.high, along, up)
        outline = [np.r_[a, b[::-1]] for a, b in zip(lower, upper, strict=True)]
        item = QGraphicsPathItem(pg.arrayToQPath(*outline))
        item.setPen(Qt.PenStyle.NoPen)
        item.setBrush(faded(run_colour(current_theme(), run.look.colour), _ALPHA))
        item.setZValue(-4)
        self._box.addItem(item, ignoreBounds=True)
        self.items.append(item)


def bounds_of(
    record: RunRecord, kind: str, post: Callable[[Any], bool] = lambda _: False
) -> Bounds:
    """Compute a band: "pointwise", "simultaneous" or "kolmogorov".

    Over several splits it is always the spread of their mean.
    """
    if len(record.splits) > 1:
        return _of_splits(record)
    split = record.splits[0]
    rows = ranking(split)
    grid = _grid(int(np.count_nonzero(~split.test_positive)))
    if kind == "pointwise":
        found = inference.pointwise_band(rows, LEVEL, grid=grid)
        words = "95 % pointwise: holds at any one FPR"
    elif kind == "kolmogorov":
        found = inference.kolmogorov_band(rows, LEVEL, grid=grid)
        words = "95 % simultaneous: Kolmogorov’s bounds"
    else:
        found = inference.bootstrap_band(rows, LEVEL, grid=grid, progress=post)
        words = "95 % simultaneous: fixed width, bootstrap"
    return Bounds(found.fpr, found.low, found.high, words)


def _grid(negatives: int) -> Array:
    low_end = np.geomspace(0.5 / negatives, 1.0, _LOW_END)
    return np.unique(np.concatenate([GRID, low_end]).clip(0.0, 1.0))


def _of_splits(record: RunRecord) -> Bounds:
    """Bound the mean TPR at each FPR by the corrected resampled t statistic."""
    known, (train, test) = run_curves(record), record.sizes
    count = len(known.curves)
    if count < inference.LEAST_SPLITS:
        none = np.empty(0)
        return Bounds(none, none, none, f"none: fewer than {inference.LEAST_SPLITS} splits")
    fpr = _grid(min(curve.rows[1] for curve in known.curves))
    _, mean, spread = roc.vertical_average(known.curves, fpr)
    share = test / (train + test)
    once = record.experiment.validation.disjoint
    factor = inference.variance_factor(count, share, disjoint=once)
    reach = scipy.special.stdtrit(count - 1, (1 + LEVEL) / 2) * np.sqrt(factor) * spread
    low, high = np.clip([mean - reach, mean + reach], 0.0, 1.0)
    return Bounds(fpr, low, high, f"95 % pointwise, corrected t over {count} splits")
