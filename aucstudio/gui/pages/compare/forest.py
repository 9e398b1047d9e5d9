"""Forest plot of areas with intervals and single splits."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QGraphicsRectItem, QScrollArea

from aucstudio.gui.common.curve_figures import chance_area
from aucstudio.gui.common.plain_text import elided
from aucstudio.gui.common.plotting import (
    data_tip,
    faded,
    finite_range,
    fit_lines,
    make_plot,
    pen,
    run_pen,
)
from aucstudio.gui.common.table import in_columns
from aucstudio.gui.common.theme import current_theme, run_colour, run_symbol, scaled
from aucstudio.gui.pages.compare.words import ShownComparison, run_name
from aucstudio.gui.state.plan import RunLook
from aucstudio.notices import text, words
from aucstudio.project.results.comparison import RunFigures, range_of

_LEAST_ROW, _GOOD_ROW, _MOST_ROW = 22, 34, 44  # pixels, for ordinary text
_AXES = 48  # pixels around the rows, for ordinary text
_MOST_ROWS = 10  # beyond these the plot is scrolled
_NAME_SHARE, _ROOM_FOR_INTERVALS = 0.3, 520
_LEAST_PICTURE = 320  # pixels that names leave to the dots
_SPLIT_LANE = 0.28  # how far under its run, in rows, a split's dot lies
_FAR = 10.0


class ForestPlot(QObject):
    """The plot, best run on top; rows are clicked.

    Attributes
    ----------
    clicked : Signal(int, bool)
        A row, and whether Ctrl was held.
    plot : Plot
    area : QScrollArea
        Holds the plot.
    chance : InfiniteLine
        The area of a random ranking.
    dots, splits : ScatterPlotItem
    whiskers : list of PlotCurveItem
        One for each run that has an interval.
    remarks : list of GraphicsObject
        A line and a text above each group of runs that cannot be compared with those above.
    """

    clicked = Signal(int, bool)

    def __init__(self) -> None:
        self.plot = make_plot("compare_forest_plot", "AUC", "", [pg.AxisItem("right")])
        super().__init__(self.plot)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidget(self.plot)
        self.plot.getViewBox().invertY(True)
        self.plot.getViewBox().setMouseEnabled(True, False)
        self.plot.frame.show_grid(x=True, y=False)
        self.plot.getAxis("bottom").enableAutoSIPrefix(False)
        self.marks = QGraphicsRectItem(), QGraphicsRectItem()
        self.splits = pg.ScatterPlotItem(size=6, hoverable=True, tip=data_tip)
        self.dots = pg.ScatterPlotItem(size=11, hoverable=True, tip=data_tip)
        self.whiskers: list[pg.PlotCurveItem] = []
        self.remarks: list[pg.GraphicsObject] = []
        self._runs: Sequence[RunFigures] = ()
        self._rows: list[int] = []  # the row of each run; remarks have rows between them
        self._measure, self._band = "", (0.0, 1.0)
        self._framed: object = None
        self.chance = pg.InfiniteLine(angle=90)
        items = *self.marks, self.chance, self.splits, self.dots
        self.plot.addItem(*items, ignoreBounds=True)
        self.dots.setZValue(2)
        self.plot.scene().sigMouseClicked.connect(self._on_click)

    def show(self, shown: ShownComparison) -> None:
        """Draw the runs of a comparison."""
        found, looks = shown.found, shown.looks
        self._runs, self._measure, self._band = found.runs, found.measure, shown.band
        self._rows = [k + bisect.bisect(shown.starts, k) for k in range(len(found.runs))]
        self.fit_rows()
        chance = chance_area(range_of(found.measure, shown.band))
        self.chance.setValue(chance)
        self.chance.setPen(pen(current_theme().neutral, 1.2, (1.5, 3.0)))
        title = text("area_held_out", measure=shown.measure, chance=chance)
        self.plot.setLabel("bottom", title, color=current_theme().muted)
        self._draw_whiskers(looks)
        self._draw_dots(looks)
        self.write_names()
        names = tuple(run.name for run in found.runs)
        framed = (found.measure, shown.band, names, shown.starts)
        if framed != self._framed:
            self._framed = framed
            self._frame()
        self._draw_remarks(shown.starts)

    def fit_rows(self) -> None:
        """Limit the height of the rows, for the present text size."""
        rows = self._row_count
        seen = min(rows, _MOST_ROWS)
        self.area.setMinimumHeight(scaled(_AXES + _LEAST_ROW * seen) + 2)
        self.plot.setMinimumHeight(scaled(_AXES + _LEAST_ROW * rows))
        self.plot.setMaximumHeight(scaled(_AXES + _MOST_ROW * rows))
        self.area.setMaximumHeight(scaled(_AXES + _MOST_ROW * rows) + 2)

    @property
    def _row_count(self) -> int:
        return self._rows[-1] + 1 if self._rows else 0

    def wanted_height(self) -> int:
        """Return a comfortable height of the plot."""
        return scaled(_AXES + _GOOD_ROW * min(self._row_count, _MOST_ROWS))

    def _frame(self) -> None:
        """Show all intervals and splits."""
        areas = [run.measured(self._measure) for run in self._runs]
        known = [x for area in areas for x in (area.value, area.low, area.high, *area.per_split)]
        rows = -0.6, self._row_count - 0.4
        self.plot.set_whole(finite_range(np.array(known, dtype=float)), rows)
        self.plot.show_whole()

    def mark(self, chosen: int | None, compared: int | None) -> None:
        """Highlight the selected run and, fainter, the run compared with it."""
        theme = current_theme()
        for item, row, alpha in zip(self.marks, (chosen, compared), (255, 110), strict=True):
            item.setBrush(pg.mkBrush(faded(theme.selection, alpha)))
            item.setPen(pg.mkPen(None))
            item.setVisible(row is not None)
            item.setZValue(-20)
            if row is not None:
                item.setRect(-_FAR, self._rows[row] - 0.48, 2 * _FAR, 0.96)

    def data(self) -> dict[str, list[Any]]:
        """Return the mean of each run with its interval, and the value of each split."""
        lines: list[tuple[Any, ...]] = []
        for run in self._runs:
            area = run.measured(self._measure)
            lines.append((run.name, self._measure, "all", area.value, area.low, area.high))
            if run.splits > 1:
                lines += [
                    (run.name, self._measure, k + 1, value, math.nan, math.nan)
                    for k, value in enumerate(area.per_split)
                ]
        return in_columns(("run", "measure", "split", "value", "low", "high"), lines)

    # ------------------------------------------------------------- drawing

    def _draw_whiskers(self, looks: Sequence[RunLook]) -> None:
        areas = [run.measured(self._measure) for run in self._runs]
        known = [one for one in zip(self._rows, areas, looks, strict=True) if one[1].known]
        fit_lines(self.plot, self.whiskers, len(known))
        for whisker, (k, area, look) in zip(self.whiskers, known, strict=True):
            whisker.setData(list(area.bounds), [k, k], pen=run_pen(look, 2.5))

    def _draw_dots(self, looks: Sequence[RunLook]) -> None:
        colours = [run_colour(current_theme(), look.colour) for look in looks]
        symbols = [run_symbol(look.colour) for look in looks]
        areas = [run.measured(self._measure) for run in self._runs]
        tips = [
            f"{run.name}: {words.figure_words(area.value)} ({area.interval}), "
            f"{words.seconds_words(run.fit_seconds)} per fit"
            for run, area in zip(self._runs, areas, strict=True)
        ]
        self.dots.setData(
            [area.value for area in areas],
            self._rows,
            symbol=symbols,
            brush=colours,
            pen=pen(current_theme().card, 1.0),
            data=tips,
        )
        several = [k for k, run in enumerate(self._runs) if run.splits > 1]
        split = [(k, n, value) for k in several for n, value in enumerate(areas[k].per_split, 1)]
        faint = [faded(colour, 150) for colour in colours]
        self.splits.setData(
            [value for _, _, value in split],
            [self._rows[k] + _SPLIT_LANE for k, _, _ in split],
            symbol=[symbols[k] for k, _, _ in split],
            brush=[faint[k] for k, _, _ in split],
            pen=None,
            data=[f"{self._runs[k].name}, split {n}: {words.figure_words(x)}" for k, n, x in split],
        )

    def _draw_remarks(self, starts: Sequence[int]) -> None:
        self.plot.removeItem(*self.remarks)
        self.remarks, theme = [], current_theme()
        middle = self.plot.getViewBox().viewRect().center().x()
        for row in (self._rows[start] - 1 for start in starts):
            said = text("not_comparable_above")
            words = pg.TextItem(said, theme.muted, anchor=(0.5, 0.5), fill=theme.card)
            words.setFont(self.plot.font())
            words.setPos(middle, row)
            self.remarks += [pg.InfiniteLine(row, 0, pen(theme.line)), words]
        self.plot.addItem(*self.remarks, ignoreBounds=True)

    def write_names(self) -> None:
        """Write the names on the left and the figures on the right, in the available room."""
        names = [run_name(run, self._band) for run in self._runs]
        width, metrics = self.plot.width(), QFontMetrics(self.plot.font())
        measure = metrics.horizontalAdvance
        roomy = width >= _ROOM_FOR_INTERVALS
        right = [
            _interval_words(run, self._measure)
            if roomy
            else words.figure_words(run.measured(self._measure).value)
            for run in self._runs
        ]
        room = width - max(map(measure, right), default=0) - _LEAST_PICTURE
        left = [elided(name, max(int(_NAME_SHARE * width), room), measure) for name in names]
        for side, texts in (("left", left), ("right", right)):
            axis = self.plot.getAxis(side)
            axis.setTicks([list(zip(self._rows, texts, strict=True))])
            axis.setWidth(max(map(measure, texts), default=0) + 16)
            axis.setTextPen(current_theme().text)
            axis.setPen(pg.mkPen(None))
            axis.setTickPen(pg.mkPen(None))
            axis.setStyle(tickLength=0, tickAlpha=0)
            axis.setGrid(False)

    # ------------------------------------------------------------- user actions

    def _on_click(self, event: Any) -> None:
        if event.double():
            return
        box = self.plot.getViewBox()
        row = round(box.mapSceneToView(event.scenePos()).y())
        if event.button() == Qt.MouseButton.LeftButton and row in self._rows:
            held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            self.clicked.emit(self._rows.index(row), bool(held))


def _interval_words(run: RunFigures, measure: str) -> str:
    area = run.measured(measure)
    value = words.figure_words(area.value)
    return f"{value}  ({words.interval_words(area.low, area.high)})" if area.known else value
