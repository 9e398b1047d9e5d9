"""The two plots of training: objective and area."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QVBoxLayout

from aucstudio.gui.common.plain_text import line_label, plain_tooltip, shortened
from aucstudio.gui.common.plots.legend import Legend, keep_sample
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.stepwise_view import SteadyBox, sides_of
from aucstudio.gui.common.plotting import NumberAxis, faded, make_plot, pen, run_pen, style_plot
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.training.progress import HELD, ITERATION, TRAIN, Course
from aucstudio.gui.pages.training.progress_lines import CourseLine, CourseLines
from aucstudio.gui.pages.training.words import area_name
from aucstudio.gui.state.plan import RunLook
from aucstudio.notices.words import power_words
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import Stage

_AIR = 8.0  # pixels


class StageRegions:
    """Regions of one plot, behind everything else.

    Parameters
    ----------
    plot : PlotWidget
    named : bool
        Whether names are written.

    Attributes
    ----------
    items : list of LinearRegionItem
    """

    def __init__(self, plot: pg.PlotWidget, *, named: bool) -> None:
        self.items: list[pg.LinearRegionItem] = []
        self._plot, self._named = plot, named
        self._shown: object = None
        self._names: list[tuple[pg.InfLineLabel, float]] = []
        self._box = plot.getPlotItem().getViewBox()
        self._box.sigXRangeChanged.connect(self._fit_names)
        self._box.sigResized.connect(self._fit_names)

    def show(self, stages: Sequence[Stage], end: float) -> None:
        """Show stages, the last until ``end``; nothing if there is only one."""
        stages = stages if len(stages) > 1 else ()
        shown = tuple(stages), current_theme().name
        if shown == self._shown:
            self._prolong(end)
            return
        self._shown = shown
        for item in self.items:
            self._plot.removeItem(item)
        self.items, self._names = [], []
        ends = [*(stage.seconds for stage in stages[1:]), end][: len(stages)]
        for k, (stage, until) in enumerate(zip(stages, ends, strict=True)):
            self._add(stage, max(until, stage.seconds), k)
        self._fit_names()

    def _prolong(self, end: float) -> None:
        """Extend the last stage until ``end``."""
        if self.items:
            start = self.items[-1].getRegion()[0]
            self.items[-1].setRegion((start, max(start, end)))
            if self._names:
                self._names[-1] = self._names[-1][0], max(start, end) - start
            self._fit_names()

    def _fit_names(self) -> None:
        """Show the names that fit into their regions."""
        pixel = self._box.viewPixelSize()[0]
        for name, length in self._names:
            name.setVisible(length / pixel > name.boundingRect().width() + _AIR)

    def _add(self, stage: Stage, until: float, k: int) -> None:
        theme = current_theme()
        fill = faded(theme.neutral, 28 if k % 2 == 0 else 10)
        item = _Region((stage.seconds, until), movable=False, brush=fill, pen=pen(theme.grid, 1.0))
        item.setZValue(-10)
        if self._named:
            name = pg.InfLineLabel(
                item.lines[0],
                line_label(stage.name),
                position=0.94,
                anchors=[(0.0, 0.5), (0.0, 0.5)],
                color=theme.muted,
            )
            self._names.append((name, until - stage.seconds))
        self._plot.addItem(item)
        self.items.append(item)


class _Region(pg.LinearRegionItem):
    """A region that counts for the horizontal range only."""

    def dataBounds(self, axis: int, **_share: object) -> tuple[float, float] | None:
        return self.getRegion() if axis == 0 else None


DISTANCE, OBJECTIVE = "distance", "objective"
Seen = Sequence[tuple[Course, bool]]
_AXIS_WIDTH, _TITLE_WIDTH = 64, 32  # pixels: minimum of an axis, and of its title
_FEW_DECADES = 2.0
_TITLES = {DISTANCE: "Gap to optimum", OBJECTIVE: "Objective"}
_HELD_WIDTH, _TRAIN_WIDTH = 2.0, 1.2  # pixels


class TrainingPlots(QVBoxLayout):
    """The upper plot and the lower one.

    Attributes
    ----------
    upper, lower : PlotWidget
    upper_lines, lower_lines : tuple of CourseLines
        Of finished runs and of the one in progress, which moves while the others stay.
    stages : list of StageRegions
        One a plot.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(4)
        self._boxes = SteadyBox(), SteadyBox()
        left = _PowerAxis("left"), _LeftAxis("left")
        for axis in left:
            axis.aligned = left
        axes = left[0], _StepAxis("bottom")
        self.upper = make_plot("training_plot", "", "Objective", self._boxes[0], axes)
        axes = left[1], _StepAxis("bottom")
        self.lower = make_plot("area_plot", "Iteration", "AUC", self._boxes[1], axes)
        self.lower.setXLink(self.upper)
        self.upper_lines = CourseLines(self.upper), CourseLines(self.upper)
        self.lower_lines = CourseLines(self.lower), CourseLines(self.lower)
        self.stages = [StageRegions(plot, named=plot is self.upper) for plot in self.both()]
        # One legend for both, above the upper visible plot.
        self._legends = Legend(self.upper), Legend(self.lower)
        self._held = pg.PlotDataItem(symbol="o", symbolSize=6)
        self._train = pg.PlotDataItem()
        for sample in (self._held, self._train):
            keep_sample(sample, self.lower)
        self.lower.sigDeviceRangeChanged.connect(lambda *_changed: self.list_runs())
        self._named: object = None
        self._listed: object = None
        for plot, share in zip(self.both(), (5, 6), strict=True):
            plot.restored.connect(self.show_all)
            self.addWidget(plot, stretch=share)
        self.restyle()

    def both(self) -> tuple[Plot, Plot]:
        return self.upper, self.lower

    def restyle(self) -> None:
        """Apply the current theme."""
        theme = current_theme()
        for plot in self.both():
            style_plot(plot)
        self._held.setPen(pen(theme.muted, _HELD_WIDTH))
        self._held.setSymbolBrush(theme.muted)
        self._held.setSymbolPen(None)
        self._train.setPen(pen(theme.muted, _TRAIN_WIDTH))
        self._named = self._listed = None

    def show_all(self) -> None:
        """Show the full extent."""
        self.unsettle()
        for plot in self.both():
            plot.show_whole()

    def unsettle(self) -> None:
        """Update the ranges after a change of the finished runs."""
        for box in self._boxes:
            box.unsettle()

    def settle(self) -> None:
        """Update the ranges before painting; linked plots would be painted twice."""
        sides = [sides_of(lines[True].places()) for lines in (self.upper_lines, self.lower_lines)]
        along = [side[0] for side in sides if side is not None]
        for box, side in zip(self._boxes, sides, strict=True):
            # They share the horizontal axis.
            box.flying = None if side is None else (_around(along), side[1])
            box.updateAutoRange()

    # ------------------------------------------------------------- drawing

    def draw_steps(self, courses: Seen, axis: str, what: str, *, live: bool) -> None:
        """Draw gaps to the optimum, or objectives.

        Parameters
        ----------
        courses : sequence of (Course, bool)
            With whether a course is a strong one.
        axis : {"iteration", "seconds"}
        what : {"distance", "objective"}
            How far it can still fall, on a logarithmic scale, or the objective itself. What proves
            no gap has an empty line, so that both plots reach as far to the right.
        live : bool
            Whether these are of the run in progress.
        """
        self.upper.setLogMode(y=what == DISTANCE)
        lines = []
        for course, strong in courses:
            x = course.steps_along(axis)
            y = course.distance if what == DISTANCE else course.steps.objective
            lines.append(CourseLine(course, x, y, _pen(course, strong), strong))
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
        self.list_runs()

    def show_stages(self, course: Course | None, axis: str) -> None:
        """Show the stages of one fit, along seconds only."""
        stages = () if course is None or axis == ITERATION else course.steps.stages
        end = (
            0.0
            if course is None or not len(course.steps.seconds)
            else float(course.steps.seconds[-1])
        )
        for regions in self.stages:
            regions.show(stages, end)

    def name(self, axis: str, what: str, band: Band | None, *, upper: bool, lower: bool) -> None:
        """Show the plots that have lines; the horizontal axis is written once, under the lowest."""
        asked = axis, what, band, upper, lower
        if asked == self._named:
            return
        self._named = asked
        muted = current_theme().muted
        self.upper.setVisible(upper)
        self.lower.setVisible(lower)
        self.upper.setLabel("left", _TITLES[what], color=muted)
        self.lower.setLabel("left", "AUC" if band is None else "Partial AUC", color=muted)
        plain_tooltip(self.lower, area_name(band))
        title = "Iteration" if axis == ITERATION else "Seconds"
        for plot in self.both():
            plot.getAxis("bottom").is_whole = axis == ITERATION
        self.lower.setLabel("bottom", title, color=muted)
        bottom = self.upper.getAxis("bottom")
        bottom.setStyle(showValues=not lower)
        if lower:
            bottom.setLabel("")
            bottom.showLabel(False)
        else:
            self.upper.setLabel("bottom", title, color=muted)

    def list_runs(self) -> None:
        """Show in the legend which run and which rows a line is of."""
        known: dict[str, tuple[RunLook, pg.PlotDataItem]] = {}
        for lines in self.lower_lines:
            for line, item in zip(lines.drawn, lines.items, strict=True):
                if line.is_strong and line.is_main:
                    known[line.course.run] = line.course.look, item
        for lines in self.upper_lines:
            for line, item in zip(lines.drawn, lines.items, strict=True):
                if line.is_strong:
                    known.setdefault(line.course.run, (line.course.look, item))
        areas = any(lines.drawn for lines in self.lower_lines)
        sizes = [plot.size() for plot in self.both()]
        top = self.upper.isVisibleTo(self.parentWidget())
        listed = sizes, top, areas, [(look, id(item)) for look, item in known.values()]
        if listed == self._listed:
            return
        self._listed = listed
        entries = [(shortened(look.name), item) for look, item in known.values()]
        if areas:
            entries += [("held-out rows", self._held), ("training rows", self._train)]
        for legend, shown in zip(self._legends, (top, not top), strict=True):
            legend.explain(entries if shown else ())


def _around(stretches: Sequence[tuple[float, float]]) -> tuple[float, float]:
    lows, highs = zip(*stretches, strict=True)
    return min(lows), max(highs)


def _pen(course: Course, strong: bool) -> QPen:
    made = run_pen(course.look, _HELD_WIDTH if strong else 1.0)
    if not strong:
        made.setColor(faded(made.color(), 120))
    return made


class _LeftAxis(NumberAxis):
    """A vertical axis as wide as the longest number on it or on those that it is aligned with."""

    aligned: Sequence[_LeftAxis] = ()

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.setWidth(_AXIS_WIDTH)

    def _updateMaxTextSize(self, x: float) -> None:
        super()._updateMaxTextSize(x)
        widest = max((axis.textWidth for axis in self.aligned), default=0)
        wide = max(_AXIS_WIDTH, math.ceil(widest) + _TITLE_WIDTH)
        for axis in self.aligned:
            if axis.fixedWidth != wide:
                axis.setWidth(wide)


class _PowerAxis(_LeftAxis):
    """An axis that labels powers of ten if it is logarithmic."""

    def logTickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        low, high = self.range
        few = high - low < _FEW_DECADES
        return [_power_label(10.0**value, few=few) for value in values]


def _power_label(value: float, *, few: bool) -> str:
    """Write a power of ten; if there are few, also 2 and 5 times it."""
    words = power_words(value)
    leading = words.partition("·")[0]
    if leading == "1":
        return words.removeprefix("1·")
    return words if few and leading in ("2", "5") else ""


class _StepAxis(NumberAxis):
    """A horizontal axis with whole-number ticks if it counts iterations."""

    is_whole = True

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        levels: list[tuple[float, float]] = super().tickSpacing(low, high, size)
        if not self.is_whole:
            return levels
        return [level for level in levels if level[0] >= 1.0] or [(1.0, 0.0)]
