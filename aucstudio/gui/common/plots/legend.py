"""Legend above a plot, in as many columns as fit.

Pyqtgraph's lies in the plot, sizes itself (github.com/pyqtgraph/pyqtgraph/issues/654), and hides
what is clicked in it (github.com/pyqtgraph/pyqtgraph/issues/2622), which here other views show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QApplication, QSizePolicy

from aucstudio.gui.common.plain_text import elided, plain_tooltip
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import SWATCH, faded, paint_sample
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.state.plan import RunLook

_COLUMNS, _GAP = 8, 8
_AXIS_WIDTH = 64
_LEAST_HEIGHT = 200
_MOST_SHARE = 0.3  # of the plot's height
_LETTERS = 30
_AROUND = 8  # pixels around words, half of them on each side
_LETTER_SHARE = 0.9  # of the size of the other words


Entry = tuple[str, QPen | RunLook | pg.ScatterPlotItem | pg.PlotDataItem]
Entries = list[Entry]


class _Sample(pg.ItemSample):
    """The line of a pen, the line and the marker of a run, or those of an item."""

    def __init__(self, drawn: Any) -> None:
        super().__init__(drawn)
        if isinstance(drawn, RunLook):
            self.setFixedWidth(SWATCH.width())

    def boundingRect(self) -> QRectF:
        return QRectF(self.rect())

    def paint(self, painter: QPainter, *options: object) -> None:
        if isinstance(self.item, RunLook):
            paint_sample(painter, self.rect(), self.item)
        elif isinstance(self.item, QPen):
            painter.setPen(self.item)
            middle = self.rect().center().y() + 1
            painter.drawLine(QPointF(0.0, middle), QPointF(self.rect().width(), middle))
        else:
            super().paint(painter, *options)

    def mouseClickEvent(self, event: Any) -> None:
        event.ignore()  # pyqtgraph's would hide the item


class _Words(pg.GraphicsWidget):
    """Plain text; pyqtgraph's label lays out a document, which takes a millisecond."""

    def __init__(self, words: str, letters: float) -> None:
        super().__init__()
        self.text, self.colour = words, QColor(current_theme().text)
        font = QApplication.font()
        font.setPointSizeF(letters)
        self.setFont(font)
        size = QFontMetricsF(font).size(0, words) + QSizeF(_AROUND, _AROUND)
        self.setMinimumSize(size)
        self.setPreferredSize(size)

    def boundingRect(self) -> QRectF:
        return QRectF(self.rect())

    def paint(self, painter: QPainter, *_options: object) -> None:
        painter.setFont(self.font())
        painter.setPen(self.colour)
        area = self.rect().adjusted(_AROUND / 2, 0, 0, 0)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self.text)


class Legend(pg.LegendItem):
    """A legend above a plot, in as many columns as fit."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(frame=False, horSpacing=_GAP)
        self._plot = plot
        self._entries: Entries = []
        self._shown: tuple[Entries, int, int, float, str] = ([], 0, 0, 0.0, "")
        self._listed: tuple[Entries, float, str] = ([], 0.0, "")
        self.layout.setContentsMargins(0, 0, 0, 4)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(0)  # its words may be cut off, but never the plot below
        plot.sigDeviceRangeChanged.connect(lambda *_changed: self.fit())
        frame = plot.frame
        frame.layout.removeItem(frame.title)
        frame.layout.addItem(self, 0, 1)

    def updateSize(self) -> None:
        # The plot's layout places it, not its own arithmetic.
        self.updateGeometry()

    def explain(self, entries: Iterable[Entry]) -> None:
        """Show what the lines of a pen or a run are, and other items as they are drawn now."""
        self._entries = list(entries)
        self.fit()

    def fit(self) -> None:
        """Show the entries in the most columns that stay within the plot's width.

        In a low plot the picture goes first: the lines are left out, whose runs stand in the list
        too, or else everything.
        """
        beside = max(_AXIS_WIDTH, math.ceil(self._plot.getAxis("left").width()))
        width, height = self._plot.width() - beside, self._plot.height()
        letters, theme = QApplication.font().pointSizeF(), current_theme().name
        if (self._entries, width, height, letters, theme) == self._shown:
            for sample, _label in self.items:
                sample.update()
            return
        self._shown = list(self._entries), width, height, letters, theme
        marks = [entry for entry in self._entries if not isinstance(entry[1], QPen | RunLook)]
        line = _LETTER_SHARE * QFontMetricsF(QApplication.font()).height()
        most = _MOST_SHARE * height if height >= _LEAST_HEIGHT else 0
        for shown in (self._entries, marks, []):
            if line * len(shown) / _COLUMNS <= most:  # else no arrangement has room
                self._list(shown, width, _LETTER_SHARE * letters)
                if self._least().height() <= most:
                    break
        self._plot.hidden_legend = [
            (words, drawn)
            for words, drawn in self._entries
            if isinstance(drawn, QPen | RunLook) and (words, drawn) not in shown
        ]
        # Now, not at the next turn of the event loop: the picture may be painted before.
        self.layout.activate()
        self._plot.frame.layout.activate()

    def _list(self, entries: Entries, width: int, letters: float) -> None:
        """List entries in the most columns that stay within a width."""
        listed = list(entries), letters, current_theme().name
        if listed != self._listed:  # to make the labels takes longer than all else here
            self._listed = listed
            self._make_items(entries, letters)
        columns = next((n for n in range(_COLUMNS, 1, -1) if self._least_width(n) <= width), 1)
        if columns != self.columnCount:
            self._arrange(columns)

    def _arrange(self, columns: int) -> None:
        """Place the entries row by row in so many columns."""
        self.columnCount = columns
        for place in reversed(range(self.layout.count())):
            self.layout.removeAt(place)
        for k, (sample, words) in enumerate(self.items):
            row, column = divmod(k, columns)
            self.layout.addItem(sample, row, 2 * column, Qt.AlignmentFlag.AlignVCenter)
            self.layout.addItem(words, row, 2 * column + 1)

    def _make_items(self, entries: Entries, letters: float) -> None:
        super().clear()
        self.columnCount = 0  # none is placed
        for words, drawn in entries:
            self.items.append((_Sample(drawn), _Words(elided(words, _LETTERS, len), letters)))
            plain_tooltip(self.items[-1][1], words)

    def _least_width(self, columns: int) -> float:
        """Return the width that the entries need in a number of columns."""
        beside = [self.items[k::columns] for k in range(min(columns, len(self.items)))]
        widths: list[float] = [
            max(part.minimumWidth() for part in parts)
            for entries in beside
            for parts in zip(*entries, strict=True)
        ]
        return sum(widths) + _GAP * (len(widths) - 1)

    def _least(self) -> QSizeF:
        least: QSizeF = self.layout.effectiveSizeHint(Qt.SizeHint.MinimumSize)
        return least


_MARGIN = 14  # pixels beside a legend in the picture
# Of the picture. A part of it has no corner that curves leave free.
_MOST_COVERED, _MOST_ZOOMED = 0.3, 0.1


class CornerLegend(Legend):
    """A legend in a corner of the picture; without room it is hidden. It can be dragged.

    Attributes
    ----------
    tip : callable
        Returns its tooltip.
    corner : (int, int)
        0 or 1 for left or right, and for top or bottom.
    """

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot)
        plot.frame.layout.removeItem(self)
        self.setParentItem(plot.getViewBox())
        self.setFlag(self.GraphicsItemFlag.ItemIgnoresTransformations, False)
        self.setZValue(100)
        self.layout.setContentsMargins(8, 4, 8, 4)
        self.frame, self.corner = True, (1, 1)
        self.tip: Callable[[], str] = str
        self._moved_from: tuple[int, int] | None = None

    def fit(self) -> None:
        """Show all entries in one column, if they leave most of the picture free."""
        theme, letters = current_theme(), QApplication.font().pointSizeF()
        room = self._plot.getViewBox().rect()
        least = len(self._entries) * (QFontMetricsF(QApplication.font()).height() + _AROUND)
        shown = self._entries if least <= room.height() - 2 * _MARGIN else []
        self.setPen(theme.line)
        self.setBrush(faded(theme.card, 235))
        self._list(shown, 0, letters)
        self.resize(self._least())
        tip = self.tip() if shown else ""
        for part in (self, *(label for _sample, label in self.items)):
            plain_tooltip(part, tip)
        size = self._least()
        fits = max(size.width() - room.width(), size.height() - room.height()) <= -2 * _MARGIN
        most = _MOST_ZOOMED if self._plot.is_zoomed() else _MOST_COVERED
        few = size.width() * size.height() <= most * room.width() * room.height()
        self.setVisible(bool(shown) and fits and few)
        self._plot.hidden_legend = [] if self.isVisible() else self._entries
        if self._moved_from != self.corner:
            self._moved_from = None
            away = [-_MARGIN if side else _MARGIN for side in self.corner]
            self.anchor(self.corner, self.corner, away)

    def mouseDragEvent(self, event: Any) -> None:
        super().mouseDragEvent(event)
        self._moved_from = self.corner


def square_sample(plot: Plot) -> pg.ScatterPlotItem:
    """Make a square whose colour only the legend of a plot shows."""
    made = pg.ScatterPlotItem(symbol="s", size=10, pen=None)
    keep_sample(made, plot)
    return made


def keep_sample(sample: pg.GraphicsObject, plot: Plot) -> None:
    """Make a plot own what only its legend shows, which would be deleted without an owner."""
    sample.setParentItem(plot.frame)
