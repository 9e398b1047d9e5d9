"""Magnified FPR range in a corner of the plot."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from aucstudio.gui.common.plots.curves import PlacedLine, Window
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.roc.picture.legend import note_font, paint_card

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
