"""Cards and labels in the ROC plot: legend, inset, labels of lines."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QTransform
from PySide6.QtWidgets import QApplication, QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from aucstudio.gui.common.plots.curves import PlacedLine, Window
from aucstudio.gui.common.plotting import SWATCH, faded, paint_sample, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.roc.axes import Points
from aucstudio.gui.state.plan import RunLook

_MOST_COVERED = 0.3  # of the picture, where curves lie below


@dataclasses.dataclass(frozen=True)
class LegendRow:
    """A legend entry: a line sample and its meaning."""

    look: RunLook | None
    name: str
    width: float = 2.0


class RunLegend(QGraphicsItem):
    """The names of the runs on a card inside the plot; numbers are in its tooltip.

    Attributes
    ----------
    rows : list of LegendRow
    notes : sequence of str
        Lines under the names.
    """

    _MOST = 10
    _SAMPLE, _GAP, _PADDING, _MARGIN = float(SWATCH.width()), 12.0, 10.0, 14.0

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.rows: list[LegendRow] = []
        self.notes: Sequence[str] = ()
        self._size = QRectF()
        self._room = QRectF(0, 0, 1e6, 1e6)
        self._noted = True
        self.setZValue(100)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_rows(self, rows: list[LegendRow], notes: Sequence[str] = ()) -> None:
        """Show other rows; of very many the first ones."""
        self.prepareGeometryChange()
        self.rows, self.notes = rows, notes
        self.fit(self._room)
        self.update()

    def fit(self, room: QRectF, is_free: Callable[[QRectF], bool] = lambda _place: True) -> None:
        """Leave out the small print where no corner of an area is free for it.

        Where none is free even then, the card covers curves if it is small, or is hidden.
        """
        self.prepareGeometryChange()
        self._room = room
        for self._noted in (True, False):
            self._size = self._measured()
            free = any(is_free(place) for place in self.places(room))
            if free and self._size.width() + 2 * self._MARGIN <= room.width():
                break
        inner = room.adjusted(self._MARGIN, self._MARGIN, -self._MARGIN, -self._MARGIN)
        fits = self._size.width() <= inner.width() and self._size.height() <= inner.height()
        covers = not free and _area(self._size) > _MOST_COVERED * _area(room)
        self.setVisible(bool(self.rows) and fits and not covers)

    def hidden_rows(self) -> list[tuple[str, RunLook]]:
        """List the name and the look of each row that is not shown."""
        shown = self.shown_rows() if self.isVisible() else []
        hidden = [row for row in self.rows if row not in shown]
        return [(row.name, row.look) for row in hidden if row.look is not None]

    def places(self, area: QRectF) -> list[QRectF]:
        """Return the corners of an area that the legend may lie in, the best first."""
        return corners(self.boundingRect(), area, self._MARGIN)

    def boundingRect(self) -> QRectF:
        return self._size

    def _measured(self) -> QRectF:
        names, small = QFontMetricsF(self._font()), QFontMetricsF(note_font())
        notes = self.notes if self._noted else ()
        wide = [names.horizontalAdvance(row.name) for row in self.shown_rows()]
        wide = [self._SAMPLE + self._GAP + width for width in wide]
        wide += [small.horizontalAdvance(note) for note in notes]
        height = self._line() * len(self.shown_rows()) + self._note_line() * len(notes)
        width = math.ceil(max(wide, default=0.0)) + 2 * self._PADDING
        return QRectF(0, 0, width, height + 2 * self._PADDING)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme, middle = current_theme(), Qt.AlignmentFlag.AlignVCenter
        paint_card(painter, self.boundingRect(), 235)
        painter.setFont(self._font())
        inner = self.boundingRect().adjusted(self._PADDING, self._PADDING, -self._PADDING, 0)
        line = QRectF(inner.topLeft(), QSizeF(inner.width(), self._line()))
        for row in self.shown_rows():
            if row.look is not None:
                sample = QRectF(line.topLeft(), QSizeF(self._SAMPLE, line.height()))
                paint_sample(painter, sample, row.look, row.width)
            painter.setPen(QColor(theme.text))
            painter.drawText(line.adjusted(self._SAMPLE + self._GAP, 0, 0, 0), middle, row.name)
            line.translate(0, line.height())
        painter.setFont(note_font())
        painter.setPen(QColor(theme.muted))
        line.setHeight(self._note_line())
        for note in self.notes if self._noted else ():
            painter.drawText(line, middle, note)
            line.translate(0, line.height())

    def shown_rows(self) -> list[LegendRow]:
        """Return the rows of the card: the first ones, and how many more there are."""
        if len(self.rows) <= self._MOST:
            return self.rows
        kept = self.rows[: self._MOST - 1]
        return [*kept, LegendRow(None, f"and {len(self.rows) - len(kept)} more")]

    def _line(self) -> float:
        return float(math.ceil(QFontMetricsF(self._font()).height() * 1.25))

    @staticmethod
    def _note_line() -> float:
        return float(math.ceil(QFontMetricsF(note_font()).height() * 1.2))

    @staticmethod
    def _font() -> QFont:
        return QApplication.font()


def _area(rect: QRectF) -> float:
    return rect.width() * rect.height()


def note_font() -> QFont:
    """Return the font of small print in the picture."""
    made = QFont(QApplication.font())
    made.setPointSizeF(made.pointSizeF() * 0.9)
    return made


def paint_card(painter: QPainter, area: QRectF, alpha: int = 255) -> None:
    """Paint the card behind a table or a small plot."""
    theme = current_theme()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    card = QColor(theme.card)
    card.setAlpha(alpha)
    painter.setBrush(card)
    painter.setPen(pen(theme.line, 1.0))
    painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)


def corners(card: QRectF, area: QRectF, margin: float) -> list[QRectF]:
    """Return the four corners of an area that a card may lie in; the lower right comes first."""
    card = card.translated(margin, margin)
    right = area.width() - card.width() - 2 * margin
    below = area.height() - card.height() - 2 * margin
    return [card.translated(x, y) for x, y in ((right, below), (0, 0), (right, 0), (0, below))]


_AIR = 6.0  # pixels above and below the lines, which else lie on the frame
_STEPS = 6  # of its place, along either side of the plot


@dataclasses.dataclass(frozen=True, eq=False)
class Magnified:
    """A line of the inset, with the pen it has in the picture."""

    line: PlacedLine
    pen: QPen


class Inset(QGraphicsItem):
    """The curves within the FPR range on a card; live, and not to be touched.

    Attributes
    ----------
    seen : (float, float, float, float)
        Left, right, bottom and top of the magnified window, as places, with a margin.
    lines : sequence of Magnified
    """

    _SIZE = QRectF(0, 0, 232, 176)
    _MARGIN = 14.0

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.seen: Window = (0.0, 1.0, 0.0, 1.0)
        self.lines: Sequence[Magnified] = ()
        self._ends = ("", "", "", "")
        self.setZValue(95)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.hide()

    def show_lines(
        self, window: Window, lines: Sequence[Magnified], ends: tuple[str, str, str, str]
    ) -> None:
        """Magnify a window; ``ends`` are the rates at its left, right, bottom and top."""
        left, right, bottom, top = window
        air = (top - bottom) * _AIR / (self.plot_rect().height() - 2 * _AIR)
        self.seen = left, right, bottom - air, top + air
        self.lines, self._ends = lines, ends
        self.show()
        self.update()

    def fits(self, area: QRectF) -> bool:
        """Return whether an area has room for it."""
        return bool(area.width() > 1.5 * self._SIZE.width() and area.height() > self._SIZE.height())

    def places(self, area: QRectF) -> list[QRectF]:
        """List where in an area the inset may lie, the best first: right, and low before high."""
        right = area.width() - self._SIZE.width() - self._MARGIN
        below = area.height() - self._SIZE.height() - self._MARGIN
        shares = [k / _STEPS for k in range(_STEPS + 1)]
        return [
            self._SIZE.translated(
                right - x * (right - self._MARGIN), below - y * (below - self._MARGIN)
            )
            for x in shares
            for y in shares
        ]

    def boundingRect(self) -> QRectF:
        return self._SIZE

    def plot_rect(self) -> QRectF:
        """Return where on the card the lines are."""
        metrics = QFontMetricsF(note_font())
        side = max(metrics.horizontalAdvance(text) for text in self._ends[2:]) + 12
        return self._SIZE.adjusted(side, 12, -14, -metrics.height() - 10)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme, plot = current_theme(), self.plot_rect()
        paint_card(painter, self._SIZE)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.band, 1.0))
        painter.drawRect(plot)
        self._paint_ends(painter, plot)
        painter.setClipRect(plot, Qt.ClipOperation.IntersectClip)
        left, right, bottom, top = self.seen
        scale = painter.deviceTransform().m11() or 1.0
        pixels = (max(1, round(plot.width() * scale)), max(1, round(plot.height() * scale)))
        onto = QTransform.fromTranslate(plot.left(), plot.bottom())
        onto.scale(plot.width() / (right - left), -plot.height() / (top - bottom))
        onto.translate(-left, -bottom)
        for magnified in self.lines:
            painter.setPen(magnified.pen)
            path = pg.arrayToQPath(*magnified.line.seen(self.seen, pixels))
            painter.drawPath(onto.map(path))

    def _paint_ends(self, painter: QPainter, plot: QRectF) -> None:
        painter.setFont(note_font())
        painter.setPen(QColor(current_theme().muted))
        height = QFontMetricsF(note_font()).height()
        low = QRectF(plot.left(), plot.bottom() + 3, plot.width(), height)
        painter.drawText(low, Qt.AlignmentFlag.AlignLeft, self._ends[0])
        painter.drawText(low, Qt.AlignmentFlag.AlignRight, self._ends[1])
        for text, at in ((self._ends[2], plot.bottom() - _AIR), (self._ends[3], plot.top() + _AIR)):
            top = at - height / 2
            side = QRectF(QPointF(0, top), QPointF(plot.left() - 5, top + height))
            painter.drawText(side, Qt.AlignmentFlag.AlignRight, text)


Crowd = Callable[[QRectF], float]

CARD = 1000  # what it costs to lie under a card, where a label cannot be read
_BESIDE = 100.0  # to lie over another label
_SHARES = tuple(0.92 - 0.1 * k for k in range(9))  # possible positions of a label along its line
_STARTS = 4  # neighbours begin at as many different ones
_Z = 45


class LineLabels:
    """A label for each of some lines.

    Parameters
    ----------
    plot : PlotWidget
    crowd : callable
        What it costs to cover a part of the plot, given in the view box's pixels.

    Attributes
    ----------
    items : list of TextItem
        Those of lines that are gone, and those that could only lie under a card, are hidden.
    """

    def __init__(self, plot: pg.PlotWidget, crowd: Crowd) -> None:
        self._plot, self._crowd = plot, crowd
        self._box: Any = plot.getPlotItem().getViewBox()
        self._lines: Sequence[Points] = ()
        self.items: list[pg.TextItem] = []

    def show(self, lines: Sequence[Points], words: Sequence[str]) -> None:
        """Label other lines, given as places."""
        self._lines = lines
        while len(self.items) < len(lines):
            made = pg.TextItem(anchor=(0.5, 0.5))
            made.setZValue(_Z)
            self._plot.addItem(made, ignoreBounds=True)
            self.items.append(made)
        for item, text in zip(self.items, words, strict=False):
            item.setText(text)
        for item in self.items[len(lines) :]:
            item.setVisible(False)
        self.place()

    def place(self) -> None:
        """Place the labels where they are easiest to read with the present cards."""
        taken: list[QRectF] = []
        for k, (item, line) in enumerate(zip(self.items, self._lines, strict=False)):
            first = k % _STARTS
            shares = (*_SHARES[first:], *_SHARES[:first])
            least, best = self._best([self._rect(item, line, share) for share in shares], taken)
            item.setVisible(least < CARD)
            item.setPos(self._box.mapToView(best.center()))
            taken.append(best)

    def _best(self, rects: Sequence[QRectF], taken: Sequence[QRectF]) -> tuple[float, QRectF]:
        """Return the least cost of some places, and the first place that has it."""
        least, best = math.inf, rects[0]
        for rect in rects:
            cost = self._cost(rect, taken)
            if cost < least:
                least, best = cost, rect
            if not cost:
                break
        return least, best

    def _rect(self, item: pg.TextItem, line: Points, share: float) -> QRectF:
        """Return what a label covers at a share of its line, moved into the plot."""
        at = round(share * (len(line[0]) - 1))
        rect = QRectF(QPointF(), item.textItem.boundingRect().size())
        rect.moveCenter(self._box.mapFromView(QPointF(float(line[0][at]), float(line[1][at]))))
        room = self._box.rect()
        rect.moveLeft(max(room.left(), min(rect.left(), room.right() - rect.width())))
        rect.moveTop(max(room.top(), min(rect.top(), room.bottom() - rect.height())))
        return rect

    def _cost(self, rect: QRectF, taken: Sequence[QRectF]) -> float:
        return self._crowd(rect) + _BESIDE * sum(rect.intersects(other) for other in taken)

    def apply_theme(self) -> None:
        """Apply the current theme."""
        theme = current_theme()
        for item in self.items:
            item.setColor(QColor(theme.muted))
            item.fill = pg.mkBrush(faded(theme.card, 215))
