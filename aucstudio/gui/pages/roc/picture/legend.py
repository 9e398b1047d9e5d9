"""The legend of the ROC picture: a small table on a card, one row a run, numbers aligned."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QApplication, QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from aucstudio.gui.common.plotting import SWATCH, paint_sample, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.state.plan import RunLook

Cells = tuple[str, str, str, str]

_MOST_COVERED = 0.3  # of the picture, where curves lie below

# Columns that are left out, and whether there is small print: the more room the earlier.
_SHAPES: tuple[tuple[tuple[int, ...], bool], ...] = (
    ((), True),
    ((2,), True),
    ((2,), False),
    ((2, 3), False),
)


@dataclasses.dataclass(frozen=True)
class LegendRow:
    """A line sample, or none, and its cells: name, number, interval, partial area."""

    look: RunLook | None
    cells: Cells
    width: float = 2.0


class RunLegend(QGraphicsItem):
    """A small table on a card inside the plot: one row a run, numbers aligned.

    Attributes
    ----------
    header : tuple of str
    rows : list of LegendRow
    notes : sequence of str
        Lines under the table.
    """

    _MOST = 10
    _SAMPLE, _GAP, _PADDING, _MARGIN = float(SWATCH.width()), 12.0, 10.0, 14.0

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.header: Cells = ("", "", "", "")
        self.rows: list[LegendRow] = []
        self.notes: Sequence[str] = ()
        self._columns = [0.0] * len(self.header)
        self._size = QRectF()
        self._room = QRectF(0, 0, 1e6, 1e6)
        self._noted = True
        self.setZValue(100)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_rows(self, header: Cells, rows: list[LegendRow], notes: Sequence[str] = ()) -> None:
        """Show other rows; of very many the first ones."""
        self.prepareGeometryChange()
        self.header, self.rows, self.notes = header, rows, notes
        self.fit(self._room)
        self.update()

    def fit(self, room: QRectF, is_free: Callable[[QRectF], bool] = lambda _place: True) -> None:
        """Leave out columns and the small print until the table has a free corner in an area.

        If it has none in any shape, it has the smallest, unless that would cover the picture.
        """
        self.prepareGeometryChange()
        self._room = room
        free = True
        fitting = [shape for shape in _SHAPES if self._shape(*shape) <= room.width()]
        for shape in fitting:
            self._shape(*shape)
            if any(is_free(place) for place in self.places(room)):
                break
        else:
            self._shape(*_SHAPES[-1])
            free = False
        inner = room.adjusted(self._MARGIN, self._MARGIN, -self._MARGIN, -self._MARGIN)
        fits = self._size.width() <= inner.width() and self._size.height() <= inner.height()
        covers = not free and _area(self._size) > _MOST_COVERED * _area(room)
        self.setVisible(bool(self.rows) and fits and not covers)

    def _shape(self, hidden: Sequence[int], noted: bool) -> float:
        """Leave out columns and perhaps the small print; gives the width with its margins."""
        self._columns = [0.0 if k in hidden else w for k, w in enumerate(self._widths())]
        self._noted = noted
        self._size = self._measured()
        return self._size.width() + 2 * self._MARGIN

    def hidden_rows(self) -> list[tuple[str, RunLook]]:
        """List the name and the look of each row that is not shown."""
        shown = self._lines() if self.isVisible() else []
        hidden = [row for row in self.rows if row not in shown]
        return [(row.cells[0], row.look) for row in hidden if row.look is not None]

    def places(self, area: QRectF) -> list[QRectF]:
        """Return the corners of an area that the legend may lie in, the best first."""
        return corners(self.boundingRect(), area, self._MARGIN)

    def boundingRect(self) -> QRectF:
        return self._size

    def _measured(self) -> QRectF:
        width = self._SAMPLE + sum(self._columns) + self._GAP * sum(w > 0 for w in self._columns)
        metrics = QFontMetricsF(note_font())
        notes = self.notes if self._noted else ()
        width = max([width, *(metrics.horizontalAdvance(note) for note in notes)])
        height = self._line() * (len(self._lines()) + 1) + self._note_line() * len(notes)
        return QRectF(0, 0, width + 2 * self._PADDING, height + 2 * self._PADDING)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        theme = current_theme()
        paint_card(painter, self.boundingRect(), 235)
        painter.setFont(self._font())
        painter.setPen(QColor(theme.muted))
        self._paint_cells(painter, 0, self.header)
        for k, row in enumerate(self._lines(), start=1):
            if row.look is not None:
                top = self._PADDING + k * self._line()
                place = QRectF(self._PADDING, top, self._SAMPLE, self._line())
                paint_sample(painter, place, row.look, row.width)
            painter.setPen(QColor(theme.text))
            self._paint_cells(painter, k, row.cells)
        self._paint_notes(painter)

    def _paint_notes(self, painter: QPainter) -> None:
        painter.setFont(note_font())
        painter.setPen(QColor(current_theme().muted))
        top = self._PADDING + self._line() * (len(self._lines()) + 1)
        width = self.boundingRect().width() - 2 * self._PADDING
        for note in self.notes if self._noted else ():
            place = QRectF(self._PADDING, top, width, self._note_line())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, note)
            top += self._note_line()

    def _paint_cells(self, painter: QPainter, line: int, cells: Cells) -> None:
        left, top = self._PADDING + self._SAMPLE, self._PADDING + line * self._line()
        for k, (cell, width) in enumerate(zip(cells, self._columns, strict=True)):
            if not width:
                continue
            left += self._GAP
            side = Qt.AlignmentFlag.AlignRight if k else Qt.AlignmentFlag.AlignLeft
            place = QRectF(left, top, width, self._line())
            painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, cell)
            left += width

    def _lines(self) -> list[LegendRow]:
        if len(self.rows) <= self._MOST:
            return self.rows
        kept = self.rows[: self._MOST - 1]
        rest = (f"and {len(self.rows) - len(kept)} more", "", "", "")
        return [*kept, LegendRow(None, rest)]

    def _widths(self) -> list[float]:
        """Width of each column; 0 where nothing stands in it."""
        metrics = QFontMetricsF(self._font())
        lines = [row.cells for row in self._lines()]
        wide = [max((metrics.horizontalAdvance(c[k]) for c in lines), default=0) for k in range(4)]
        heads = [metrics.horizontalAdvance(head) for head in self.header]
        return [float(np.ceil(max(w, h))) if w else 0.0 for w, h in zip(wide, heads, strict=True)]

    def _line(self) -> float:
        return float(np.ceil(QFontMetricsF(self._font()).height() * 1.25))

    @staticmethod
    def _note_line() -> float:
        return float(np.ceil(QFontMetricsF(note_font()).height() * 1.2))

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
    """Paint the card that a table or a small plot stands on."""
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
