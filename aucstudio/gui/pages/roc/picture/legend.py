"""Legend of the ROC plot."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QApplication, QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from aucstudio.gui.common.plotting import SWATCH, paint_sample, pen
from aucstudio.gui.common.theme import current_theme
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
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
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
