"""Horizontal dots or bars with error bars or the values of splits, one row per name."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.layouts import RIGHT, across, down
from aucstudio.gui.common.plain_text import elided, show_tip
from aucstudio.gui.common.plots.legend import Legend, square_sample
from aucstudio.gui.common.plotting import make_plot, pen
from aucstudio.gui.common.theme import current_theme, run_colour, run_symbol, scaled
from aucstudio.gui.common.widgets import label, named
from aucstudio.gui.state.background import delayed
from aucstudio.gui.state.plan import RunLook
from aucstudio.notices import text

_LEAST_ROW, _MOST_ROW = 22, 40  # pixels
_NAME_WIDTH, _NAME_SHARE = 200, 0.4  # at most, in pixels and of the chart's width
_MARGIN = 0.06
_BAR = 0.62  # of a row's height
_SHORT = 0.22  # of a row's height, above and below the mark of a split
_EDGE = 0.02  # of the range, where a dot would be cut
_GROWTH = 1.3
_MEASURED = 64  # names, the longest ones


@dataclasses.dataclass(frozen=True)
class Whisker:
    """One row.

    Attributes
    ----------
    name : str
    value, low, high : float
        NaN bounds draw no whisker.
    tip : str
        Tooltip.
    """

    name: str
    value: float
    low: float
    high: float
    tip: str


@dataclasses.dataclass(frozen=True, eq=False)
class Whiskers:
    """Rows of a chart, perhaps as many as a table has columns; tooltips are made on demand.

    Attributes
    ----------
    names : sequence of str
    value, low, high : ndarray of shape (rows,)
        NaN bounds draw no whisker.
    tip : callable
        Returns the tooltip of a row by its number.
    splits : ndarray of shape (splits, rows), optional
        Values whose mean is ``value``; each is drawn, without a whisker.
    """

    names: Sequence[str]
    value: Array
    low: Array
    high: Array
    tip: Callable[[int], str]
    splits: Array | None = None

    @classmethod
    def of(cls, rows: Sequence[Whisker]) -> Whiskers:
        """Return the rows as columns."""
        value, low, high = np.array([(r.value, r.low, r.high) for r in rows]).reshape(-1, 3).T
        return cls([row.name for row in rows], value, low, high, lambda k: rows[k].tip)

    @classmethod
    def over_splits(cls, names: Sequence[str], splits: Array, tip: Callable[[int], str]) -> Self:
        """Return rows of the means over splits."""
        mean = np.nanmean(splits, axis=0)
        none = np.full(len(mean), np.nan)
        return cls(names, mean, none, none, tip, splits if len(splits) > 1 else None)

    def ranked(self) -> Whiskers:
        """Return the rows that have a value, the largest first."""
        order, tip = np.argsort(-self.value, kind="stable"), self.tip
        order = order[: np.count_nonzero(~np.isnan(self.value))]
        names = [self.names[k] for k in order]
        ends = self.low[order], self.high[order]
        splits = None if self.splits is None else self.splits[:, order]
        return Whiskers(names, self.value[order], *ends, lambda k: tip(int(order[k])), splits)

    def marks(self) -> tuple[Array, Array]:
        """Return the ends of the error bars, or of short lines at the splits, in pairs."""
        if self.splits is None:
            known = np.flatnonzero(np.isfinite(self.low) & np.isfinite(self.high))
            ends = np.column_stack([self.low[known], self.high[known]])
            return ends.ravel(), np.repeat(known.astype(float), 2)
        split, row = np.nonzero(np.isfinite(self.splits))
        ends = row[:, np.newaxis] + np.array([-_SHORT, _SHORT])
        return np.repeat(self.splits[split, row], 2), ends.ravel()

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, k: int) -> Whisker:
        ends = float(self.value[k]), float(self.low[k]), float(self.high[k])
        return Whisker(self.names[k], *ends, self.tip(k))


class WhiskerChart(QWidget):
    """The chart with its scroll bar.

    Parameters
    ----------
    name, x_label : str
    filled : bool
        Whether bars from 0 in the colours of the classes replace dots in the colour of the run.

    Attributes
    ----------
    plot : Plot
    rows : Whiskers
        From the top down.
    """

    def __init__(self, name: str, x_label: str, *, filled: bool = False) -> None:
        super().__init__()
        self._filled = filled
        self.rows = Whiskers.of(())
        self._longest: list[str] = []
        self._room = 0
        self._seen = (0, 0)
        self._look: RunLook | None = None
        self.plot = make_plot(name, x_label, "")
        self.plot.getViewBox().invertY(True)
        self.plot.getViewBox().setMouseEnabled(False, False)
        self.plot.viewport().installEventFilter(self)
        # A plot that is being resized must not be resized by what its size decides.
        self._scrolls = delayed(self, 0, self._show_scroller)
        for follow in (self._place, self._scrolls.start):
            self.plot.getViewBox().sigResized.connect(lambda _box, follow=follow: follow())
        if filled:  # horizontal lines would cover the bars
            self.plot.frame.show_grid(x=True, y=False)
        self.zero = pg.InfiniteLine(0.0, angle=90)
        self.bars = pg.PlotDataItem(connect="pairs")
        self.dots = pg.ScatterPlotItem(size=10, hoverable=True, tip=self._tip)
        self.lengths = pg.BarGraphItem(x0=[], width=[], y0=[], height=_BAR)
        self.plot.addItem(self.lengths, self.zero, self.bars, self.dots)
        self.legend = Legend(self.plot)
        self._sides = [square_sample(self.plot) for _ in range(2)]
        self.scroller = named(QScrollBar(Qt.Orientation.Vertical), f"{name}_scroll", "Rows")
        self.scroller.setSingleStep(1)
        self.scroller.valueChanged.connect(self._place)
        self.note = label("", "muted", name=f"{name}_note")
        rows = across((self.plot, 1), self.scroller, gap=0)
        self.setLayout(down((rows, 1), (self.note, RIGHT), gap=0))
        self.note.hide()
        self.plot.frame.setVisible(False)

    def show_rows(self, rows: Whiskers | Sequence[Whisker], look: RunLook) -> None:
        """Draw other rows, in the run's colour and with its marker."""
        rows = rows if isinstance(rows, Whiskers) else Whiskers.of(rows)
        if list(rows.names) != list(self.rows.names):
            self.scroller.setValue(0)
            self._longest = heapq.nlargest(_MEASURED, rows.names, key=len)
        self.rows, self._look = rows, look
        # Axes without rows would look like a result.
        self.plot.frame.setVisible(len(rows) > 0)
        # The axis would find its height only when it is painted, and has none while it is hidden.
        self.plot.getAxis("bottom").setHeight(2 * QFontMetrics(self.font()).height() + 12)
        theme, colour = current_theme(), run_colour(current_theme(), look.colour)
        self.zero.setPen(pen(theme.neutral, 1.0))
        x, y = rows.marks()
        self.bars.setData(x, y, connect="pairs")
        self.bars.setPen(pen(theme.text if self._filled else colour, 2.0))
        if self._filled:
            self._draw_lengths()
        else:
            self._draw_dots()
            splits = None if rows.splits is None else len(rows.splits)
            self.legend.explain([(text("whisker_legend", name=look.name, splits=splits), look)])
        self._make_room()
        self._frame(np.concatenate([rows.value, x]))
        self._place()
        self._show_scroller()

    def name_sides(self, right: str, left: str) -> None:
        """Explain in the legend the colours of bars to the right and to the left of 0."""
        theme = current_theme()
        for sample, colour in zip(self._sides, (theme.positive, theme.negative), strict=True):
            sample.setBrush(colour)
        self.legend.explain(zip((right, left), self._sides, strict=True))

    def move_dots(self, values: Array) -> None:
        """Move the dots to other values; the axis stays while all dots are visible."""
        self.rows = dataclasses.replace(self.rows, value=values)
        self._draw_dots()
        low, high = self.plot.getViewBox().viewRange()[0]
        edge = _EDGE * (high - low)
        if not ((values >= low + edge) & (values <= high - edge)).all():
            # Values that grow will grow further, and the axis must not move with every step.
            self._frame(_GROWTH * values)

    def _draw_lengths(self) -> None:
        theme = current_theme()
        values = self.rows.value
        colours = [theme.positive if value > 0 else theme.negative for value in values]
        self.lengths.setOpts(
            x0=np.minimum(values, 0.0),
            width=np.abs(values),
            y0=np.arange(len(values)) - _BAR / 2,
            height=_BAR,
            pen=pg.mkPen(None),
            brushes=[pg.mkBrush(colour) for colour in colours],
        )

    def _draw_dots(self) -> None:
        assert self._look is not None
        theme = current_theme()
        self.dots.setData(
            self.rows.value,
            np.arange(len(self.rows), dtype=float),
            pen=pen(theme.card, 1.0),
            brush=run_colour(theme, self._look.colour),
            symbol=run_symbol(self._look.colour),
        )

    def _frame(self, places: Array) -> None:
        """Show 0 and all these values."""
        low, high = places.min(initial=0.0), places.max(initial=0.0)
        margin = _MARGIN * (high - low) or 0.5
        self.plot.getViewBox().setXRange(float(low - margin), float(high + margin), padding=0)

    def _make_room(self) -> None:
        """Reserve the width of the longest name."""
        measure = QFontMetrics(self.font()).horizontalAdvance
        most = min(scaled(_NAME_WIDTH), int(_NAME_SHARE * self.plot.width()))
        names = (elided(name, most, measure) for name in self._longest)
        self._room = max(map(measure, names), default=0)
        self._name_rows()
        self.plot.getAxis("left").setWidth(self._room + 16)

    def _name_rows(self) -> None:
        first, last = self._seen
        measure = QFontMetrics(self.font()).horizontalAdvance
        names = (elided(name, self._room, measure) for name in self.rows.names[first:last])
        self.plot.getAxis("left").setTicks([list(enumerate(names, first))])

    def _place(self) -> None:
        """Show as many rows as fit, from the scroll position."""
        height = max(1, int(self.plot.getViewBox().height()))
        fit = max(1, height // scaled(_LEAST_ROW))
        hidden = max(0, len(self.rows) - fit)
        self.scroller.setRange(0, hidden)
        self.scroller.setPageStep(fit)
        first, last = self.scroller.value(), min(self.scroller.value() + fit, len(self.rows))
        self.note.setText(f"{first + 1:,} to {last:,} of {len(self.rows):,}: scroll for the others")
        seen = fit if hidden else max(len(self.rows), height // scaled(_MOST_ROW))
        top = first - 0.5
        self.plot.getViewBox().setYRange(top, top + seen, padding=0)
        if self._seen != (first, last):
            self._seen = first, last
            self._name_rows()

    def _show_scroller(self) -> None:
        """Show the scroll bar and its note where rows are hidden."""
        for part in (self.scroller, self.note):
            part.setVisible(self.scroller.maximum() > 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QWheelEvent):
            steps = event.angleDelta().y() / 120
            self.scroller.setValue(self.scroller.value() - round(3 * steps))
            return True
        if isinstance(event, QHelpEvent):
            self._show_tip(event)
            return True
        if event.type() == QEvent.Type.Resize:
            self._make_room()
        return super().eventFilter(watched, event)

    def _show_tip(self, event: QHelpEvent) -> None:
        """Show the tooltip of the row at the pointer."""
        row = self._row_at(event.globalPos())
        show_tip(event.globalPos(), "" if row is None else self.rows.tip(row), self.plot)

    def name_at(self, place: QPoint) -> str:
        """Return the name of the row at a position on the screen; empty if there is none."""
        row = self._row_at(place)
        return "" if row is None else self.rows.names[row]

    def _row_at(self, place: QPoint) -> int | None:
        scene = self.plot.mapToScene(self.plot.mapFromGlobal(place))
        row = round(self.plot.getViewBox().mapSceneToView(scene).y())
        return row if 0 <= row < len(self.rows) else None

    def _tip(self, x: float, y: float, data: object) -> str:
        return self.rows.tip(round(y))
