"""The two plots of training: objective and area, their lines and their axes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QVBoxLayout

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.plain_text import plain_tooltip, shortened
from aucstudio.gui.common.plots.axes import NumberAxis
from aucstudio.gui.common.plots.legend import Entry, Legend, keep_sample
from aucstudio.gui.common.plots.plot import Plot, Range
from aucstudio.gui.common.plotting import (
    faded,
    fit_lines,
    make_plot,
    pen,
    run_pen,
    show_dots,
    style_plot,
)
from aucstudio.gui.common.theme import current_theme, run_symbol
from aucstudio.gui.pages.training.progress import HELD, MEMBER, SECONDS, TRAIN, Course, area_name
from aucstudio.notices import text
from aucstudio.notices.words import power_words
from aucstudio.project.runs.experiment import Band

DISTANCE, OBJECTIVE, PROGRESS = "distance", "objective", "progress"
Seen = Sequence[tuple[Course, bool]]
_TITLES = {
    DISTANCE: "Relative gap to optimum",
    OBJECTIVE: "Objective",
    PROGRESS: "Scaled objective",
}
_HELD_WIDTH, _TRAIN_WIDTH = 2.0, 1.2  # pixels
_REACH, _DOT = 40.0, 6  # pixels
_MARGIN = 0.04
# Shares of the extent that a fit in progress may still need; below half of it is too wide.
_ROOM_RIGHT, _ROOM_ACROSS, _LEAST_FILLED = 0.25, 0.1, 0.4


@dataclasses.dataclass(frozen=True, eq=False)
class CourseLine:
    """A line to draw.

    Attributes
    ----------
    course : Course
    x, y : ndarray
        NaN breaks the line.
    pen : QPen
    is_strong : bool
        Whether it is drawn over others.
    dots : bool
        Whether each point, a measurement, has a dot.
    is_main : bool
        Whether the pointer finds it.
    """

    course: Course
    x: Array
    y: Array
    pen: QPen
    is_strong: bool
    dots: bool = False
    is_main: bool = True


class CourseLines:
    """The lines of a plot: those of finished fits, or that of the one in progress.

    Attributes
    ----------
    plot : Plot
    drawn : list of CourseLine
    items : list of PlotCurveItem
        One a line.
    dots : ScatterPlotItem
        Of all lines.
    marker : ScatterPlotItem
        The point under the pointer.
    """

    def __init__(self, plot: Plot) -> None:
        self.drawn: list[CourseLine] = []
        self.items: list[pg.PlotCurveItem] = []
        self.dots = pg.ScatterPlotItem(size=_DOT, antialias=True)
        self.plot = plot
        self.marker = pg.ScatterPlotItem(size=9, antialias=True)
        self.marker.setZValue(100)
        plot.addItem(self.marker, self.dots, ignoreBounds=True)

    def draw(self, lines: Sequence[CourseLine]) -> None:
        """Draw these lines only; items are reused."""
        fit_lines(self.plot, self.items, len(lines), connect="finite", antialias=True)
        self.drawn, dotted = list(lines), []
        for item, line in zip(self.items, lines, strict=True):
            depth = 40 if line.course.is_live else 20 * line.is_strong
            item.setZValue(depth - (not line.is_main))
            places, colour = self._places(line), line.pen.color()
            item.setData(*places, pen=line.pen)
            # A line through one point is invisible.
            if line.dots or np.count_nonzero(np.isfinite(line.y)) == 1:
                edge, inner = (None, colour) if line.is_main else (pen(colour, 1.2), None)
                symbol = run_symbol(line.course.look.colour)
                dotted.append((places, symbol, pg.mkPen(edge), pg.mkBrush(inner)))
            self.dots.setZValue(depth)
        show_dots(self.dots, dotted)

    def nearest(self, here: QPointF) -> tuple[CourseLine, int] | None:
        """Find the point of a main line nearest to a place, if one is near."""
        lines = [line for line in self.drawn if line.is_main]
        points = [(line, k) for line in lines for k in range(len(line.x))]
        places = [np.column_stack(self._places(line)) for line in lines]
        found = self.plot.nearest(np.concatenate(places), here, _REACH) if places else None
        return None if found is None else points[found]

    def bounds(self) -> tuple[Range, Range] | None:
        """Return the horizontal and the vertical range of the points; None if there are none."""
        if not self.drawn:
            return None
        places = np.hstack([self._places(line) for line in self.drawn])
        known = places[:, np.isfinite(places).all(axis=0)]
        if not known.size:
            return None
        (left, bottom), (right, top) = known.min(axis=1), known.max(axis=1)
        return (float(left), float(right)), (float(bottom), float(top))

    def mark(self, line: CourseLine, k: int) -> QPointF:
        """Put a marker on one point of a line; return its position in the plot."""
        x, y = self._places(line)
        self.marker.setPen(pg.mkPen(current_theme().card, width=1.5))
        self.marker.setBrush(line.pen.color())
        self.marker.setData([x[k]], [y[k]], symbol=run_symbol(line.course.look.colour))
        return QPointF(x[k], y[k])

    def unmark(self) -> None:
        """Hide the marker."""
        self.marker.setData([], [])

    def _places(self, line: CourseLine) -> tuple[Array, Array]:
        """Return where the points of a line are in the plot, whose height may be logarithmic."""
        log = self.plot.getAxis("left").logMode
        with np.errstate(divide="ignore", invalid="ignore"):
            return line.x, np.log10(line.y) if log else line.y


class TrainingPlots(QVBoxLayout):
    """The upper plot and the lower one.

    Attributes
    ----------
    upper, lower : Plot
    upper_lines, lower_lines : tuple of CourseLines
        Of finished runs and of the one in progress, which moves while the others stay.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(4)
        left = _LeftAxis("left"), _LeftAxis("left")
        for axis in left:
            axis.aligned = left
        self.upper = make_plot("training_plot", "", "Objective", (left[0], _StepAxis("bottom")))
        self.lower = make_plot("area_plot", "Iteration", "AUC", (left[1], _StepAxis("bottom")))
        self._is_following = False
        for plot, other in (self.both(), self.both()[::-1]):
            plot.getViewBox().sigXRangeChanged.connect(
                lambda _box, x, other=other: self._follow(other, x)
            )
        self.upper_lines = CourseLines(self.upper), CourseLines(self.upper)
        self.lower_lines = CourseLines(self.lower), CourseLines(self.lower)
        # One legend for both, above the upper visible plot.
        self._legends = Legend(self.upper), Legend(self.lower)
        self._held = pg.PlotDataItem(symbol="o", symbolSize=6)
        self._train = pg.PlotDataItem()
        for sample in (self._held, self._train):
            keep_sample(sample, self.lower)
        self.lower.sigDeviceRangeChanged.connect(lambda *_changed: self.list_runs())
        for plot, share in zip(self.both(), (5, 6), strict=True):
            plot.restored.connect(self.show_all)
            self.addWidget(plot, stretch=share)
        self.restyle()

    def both(self) -> tuple[Plot, Plot]:
        return self.upper, self.lower

    def _follow(self, plot: Plot, x: Range) -> None:
        """Show the horizontal range of the other plot.

        Pyqtgraph's link would give another one to plots that differ in width before they are laid
        out.
        """
        if not self._is_following:
            self._is_following = True
            plot.getViewBox().setXRange(*x, padding=0)
            self._is_following = False

    def restyle(self) -> None:
        """Apply the current theme."""
        muted = current_theme().muted
        for plot in self.both():
            style_plot(plot)
        self._held.setData(pen=pen(muted, _HELD_WIDTH), symbolBrush=muted, symbolPen=None)
        self._train.setPen(pen(muted, _TRAIN_WIDTH))

    def show_all(self) -> None:
        """Show the full extent."""
        for plot in self.both():
            plot.show_whole()

    def frame(self, *, live: bool) -> None:
        """Set the legend and the full extents.

        Both plots have one horizontal extent, also while one is hidden. Around a fit in progress
        they grow in steps, so that the axes do not jump.
        """
        self.list_runs()
        both = self.upper_lines, self.lower_lines
        sides = [_united([lines.bounds() for lines in of]) for of in both]
        if not any(sides):
            return
        x = _around([side[0] for side in sides if side is not None])
        zoomed = any(plot.is_zoomed() for plot in self.both())
        wholes = [plot.whole or (x, (0.0, 1.0)) for plot in self.both()]
        wanted = [
            (x, side[1] if side else whole[1]) for side, whole in zip(sides, wholes, strict=True)
        ]
        is_kept = live and all(
            _holds(*pair)
            for whole, need in zip(wholes, wanted, strict=True)
            for pair in zip(whole, need, strict=True)
        )
        right, room = (_ROOM_RIGHT, _ROOM_ACROSS) if live else (_MARGIN, _MARGIN)
        for plot, (_, y) in zip(self.both(), [] if is_kept else wanted, strict=False):
            plot.set_whole(_widened(x, _MARGIN, right), _widened(y, room, room))
        if zoomed:  # the former limits of one plot may have kept it from following the other
            self._follow(self.lower, self.upper.getViewBox().viewRange()[0])
        else:
            self.show_all()

    # ------------------------------------------------------------- drawing

    def draw_steps(self, courses: Seen, axis: str, what: str, *, live: bool) -> None:
        """Draw relative gaps to the optimum, objectives, or the progress of each.

        Parameters
        ----------
        courses : sequence of (Course, bool)
            With whether a course is a strong one.
        axis : {"iteration", "seconds"}
        what : {"distance", "objective", "progress"}
            How far it can still fall, on a logarithmic scale; the objective itself; or scaled
            from its first value to its lowest.
        live : bool
            Whether these are of the run in progress.
        """
        if self.upper.getAxis("left").logMode != (what == DISTANCE):
            for former in self.upper_lines:  # a dot without a logarithm has no bounds
                former.draw([])
            self.upper.getAxis("left").setLogMode(x=False, y=what == DISTANCE)
            self.upper.getViewBox().enableAutoRange()
        lines = []
        for course, strong in courses:
            y = {
                DISTANCE: course.distance,
                OBJECTIVE: course.steps.objective,
                PROGRESS: course.progress,
            }[what]
            line_pen = _pen(course, strong)
            x, is_discrete = course.steps_along(axis), course.unit == MEMBER
            lines.append(CourseLine(course, x, y, line_pen, strong, is_discrete))
        self.upper_lines[live].draw(lines)

    def draw_areas(self, courses: Seen, axis: str, band: Band | None, *, live: bool) -> None:
        """Draw areas on held-out rows, and on training rows for strong courses."""
        lines = []
        for course, strong in courses:
            x, held = course.looks_along(axis), course.areas(HELD, band)
            is_held = bool(np.isfinite(held).any())
            if strong or not is_held:
                thin = run_pen(course.look, _TRAIN_WIDTH)
                train = course.areas(TRAIN, band)
                lines.append(CourseLine(course, x, train, thin, strong, is_main=not is_held))
            if is_held:
                lines.append(CourseLine(course, x, held, _pen(course, strong), strong, dots=strong))
        self.lower_lines[live].draw(lines)

    def name(self, axis: str, what: str, band: Band | None, *, upper: bool, lower: bool) -> None:
        """Show the plots that have lines; the horizontal axis is written once, under the lowest."""
        muted = current_theme().muted
        self.upper.setVisible(upper)
        self.lower.setVisible(lower)
        self.upper.setLabel("left", _TITLES[what], color=muted)
        self.lower.setLabel("left", "AUC" if band is None else "pAUC", color=muted)
        plain_tooltip(self.lower, area_name(band))
        title = text("training_steps", axis=axis)
        for plot in self.both():
            plot.getAxis("bottom").is_whole = axis != SECONDS
        self.lower.setLabel("bottom", title, color=muted)
        bottom = self.upper.getAxis("bottom")
        bottom.setStyle(showValues=not lower)
        bottom.setLabel("" if lower else title, color=muted)
        bottom.showLabel(not lower)

    def list_runs(self) -> None:
        """Show in the legend which run and which rows a line is of."""
        drawn = [line for lines in (*self.lower_lines, *self.upper_lines) for line in lines.drawn]
        looks = {line.course.run: line.course.look for line in drawn if line.is_strong}
        entries: list[Entry] = [(shortened(look.name), look) for look in looks.values()]
        if any(lines.drawn for lines in self.lower_lines):
            entries += [("held-out rows", self._held), ("training rows", self._train)]
        top = self.upper.isVisibleTo(self.parentWidget())
        for legend, shown in zip(self._legends, (top, not top), strict=True):
            legend.explain(entries if shown else ())


def _united(found: Sequence[tuple[Range, Range] | None]) -> tuple[Range, Range] | None:
    known = [side for side in found if side is not None]
    return (_around([x for x, _ in known]), _around([y for _, y in known])) if known else None


def _around(stretches: Sequence[Range]) -> Range:
    lows, highs = zip(*stretches, strict=True)
    return min(lows), max(highs)


def _holds(kept: Range, wanted: Range) -> bool:
    """Return whether a range holds another one that fills a good part of it."""
    inside = kept[0] <= wanted[0] and wanted[1] <= kept[1]
    return inside and wanted[1] - wanted[0] >= _LEAST_FILLED * (kept[1] - kept[0])


def _widened(side: Range, before: float, after: float) -> Range:
    size = side[1] - side[0] or 1.0
    return side[0] - before * size, side[1] + after * size


def _pen(course: Course, strong: bool) -> QPen:
    made = run_pen(course.look, _HELD_WIDTH if strong else 1.0)
    if not strong:
        made.setColor(faded(made.color(), 120))
    return made


class _LeftAxis(NumberAxis):
    """A vertical axis as wide as the longest number on it or on those that it is aligned with.

    Where it is logarithmic, it labels powers of ten; where these are few, also 2 and 5 times them.
    """

    aligned: Sequence[_LeftAxis] = ()
    _least_width, _title_width = 64, 32  # pixels
    _few_decades = 2.0

    def _updateMaxTextSize(self, x: float) -> None:
        super()._updateMaxTextSize(x)
        widest = max((axis.textWidth for axis in self.aligned), default=0)
        wide = max(self._least_width, math.ceil(widest) + self._title_width)
        for axis in self.aligned:
            if axis.fixedWidth != wide:
                axis.setWidth(wide)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        levels: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
        if not self.logMode:
            return levels
        # At all multiples of the powers lines would be a grey area.
        kept = (1, 2, 5, 10) if high - low < self._few_decades else (1, 10)
        return [
            (step, [value for value in values if round(10 ** (value % 1)) in kept])
            for step, values in levels
        ]

    def logTickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        return [power_words(10.0**value).removeprefix("1·") for value in values]


class _StepAxis(NumberAxis):
    """A horizontal axis with whole-number ticks if it counts iterations."""

    is_whole = True

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        levels: list[tuple[float, float]] = super().tickSpacing(low, high, size)
        if not self.is_whole:
            return levels
        return [level for level in levels if level[0] >= 1.0] or [(1.0, 0.0)]
