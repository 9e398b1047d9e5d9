"""What the ROC picture is put together from: the FPR band, the legend, small controls."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLocale, QPointF, QRectF, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QGraphicsItem,
    QLabel,
    QStyleOptionGraphicsItem,
    QWidget,
)

from aucstudio.gui import curves
from aucstudio.gui.plan import RunLook
from aucstudio.gui.plotting import pen, run_pen
from aucstudio.gui.session import ShownRun
from aucstudio.gui.theme import current_theme
from aucstudio.gui.widgets import FIELD_MARGINS, named
from aucstudio.project.words import interval_words


class BandItem(pg.LinearRegionItem):
    """The FPR range; moved as a whole it keeps its width at the ends of the axis."""

    def __init__(self, band: tuple[float, float]) -> None:
        super().__init__(band, bounds=(0.0, 1.0), swapMode="block")
        for line in self.lines:
            line.setCursor(Qt.CursorShape.SizeHorCursor)

    def show_band(self, band: tuple[float, float]) -> None:
        """Move without telling."""
        blockers = [QSignalBlocker(item) for item in (self, *self.lines)]
        self.setRegion(band)
        del blockers
        self.prepareGeometryChange()

    def dress(self, colour: str) -> None:
        fill = QColor(colour)
        fill.setAlpha(24)
        hovered = QColor(colour)
        hovered.setAlpha(40)
        self.setBrush(fill)
        self.setHoverBrush(hovered)
        for line in self.lines:
            line.setPen(pen(colour, 1.5))
            line.setHoverPen(pen(colour, 3.0))

    def mouseDragEvent(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        event.accept()
        if event.isStart():
            self._grabbed = self.getRegion()
        low, high = self._grabbed
        shift = float(np.clip(event.pos().x() - event.buttonDownPos().x(), -low, 1.0 - high))
        self.setRegion((low + shift, high + shift))


_Cells = tuple[str, str, str, str]


@dataclasses.dataclass(frozen=True)
class LegendRow:
    """A line sample, or none, and its cells: name, AUC, interval, partial area."""

    look: RunLook | None
    cells: _Cells
    width: float = 2.0


class RunLegend(QGraphicsItem):
    """A small table on a card inside the plot: one row a run, numbers aligned.

    Attributes
    ----------
    header : tuple of str
    rows : list of LegendRow
    """

    _MOST = 10
    _SAMPLE, _GAP, _PADDING, _MARGIN = 26.0, 12.0, 10.0, 14.0

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.header: _Cells = ("", "", "", "")
        self.rows: list[LegendRow] = []
        self.setZValue(100)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_rows(self, header: _Cells, rows: list[LegendRow]) -> None:
        """Show other rows; of very many the first ones."""
        self.prepareGeometryChange()
        self.header, self.rows = header, rows
        self.setVisible(bool(rows))
        self.update()

    def places(self, area: QRectF) -> list[QRectF]:
        """Give the corners of an area that the legend may lie in, the best first."""
        card = self.boundingRect().translated(self._MARGIN, self._MARGIN)
        right = area.width() - card.width() - 2 * self._MARGIN
        below = area.height() - card.height() - 2 * self._MARGIN
        return [card.translated(x, y) for x, y in ((right, below), (0, 0), (right, 0), (0, below))]

    def boundingRect(self) -> QRectF:
        columns = self._widths()
        width = self._SAMPLE + sum(columns) + self._GAP * sum(w > 0 for w in columns)
        height = self._line() * (len(self._lines()) + 1)
        return QRectF(0, 0, width + 2 * self._PADDING, height + 2 * self._PADDING)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        theme = current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card = QColor(theme.card)
        card.setAlpha(235)
        painter.setBrush(card)
        painter.setPen(pen(theme.line, 1.0))
        painter.drawRoundedRect(self.boundingRect().adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setFont(self._font())
        painter.setPen(QColor(theme.muted))
        self._paint_cells(painter, 0, self.header)
        for k, row in enumerate(self._lines(), start=1):
            if row.look is not None:
                middle = self._PADDING + (k + 0.5) * self._line()
                painter.setPen(run_pen(row.look, row.width))
                painter.drawLine(
                    QPointF(self._PADDING, middle), QPointF(self._PADDING + self._SAMPLE, middle)
                )
            painter.setPen(QColor(theme.text))
            self._paint_cells(painter, k, row.cells)

    def _paint_cells(self, painter: QPainter, line: int, cells: _Cells) -> None:
        left, top = self._PADDING + self._SAMPLE, self._PADDING + line * self._line()
        for k, (cell, width) in enumerate(zip(cells, self._widths(), strict=True)):
            if width:
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
    def _font() -> QFont:
        return QApplication.font()


def legend_row(run: ShownRun, band: tuple[float, float], scale: str) -> LegendRow:
    known = curves.run_curves(run.record)
    interval = interval_words(known.auc.low, known.auc.high)
    area = curves.area_words(known.area(band, scale), scale)
    return LegendRow(run.look, (shortened(run.look.name), f"{known.auc.value:.3f}", interval, area))


def shortened(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"


def make_combo(name: str, accessible: str) -> QComboBox:
    made = named(QComboBox(), name, accessible)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return made


def make_buddy(text: str, widget: QWidget) -> QLabel:
    made = QLabel(text)
    made.setBuddy(widget)
    return made


class _EdgeBox(QDoubleSpinBox):
    def textFromValue(self, value: float) -> str:
        return f"{value:.4f}".rstrip("0").rstrip(".")


def make_edge_box(name: str, accessible: str, least: float, most: float) -> QDoubleSpinBox:
    made = named(_EdgeBox(), name, accessible)
    made.lineEdit().setTextMargins(*FIELD_MARGINS)
    made.setLocale(QLocale.c())
    made.setDecimals(4)
    made.setRange(least, most)
    made.setSingleStep(0.01)
    made.setKeyboardTracking(False)
    made.setFixedWidth(76)
    made.setToolTip(f"{accessible}, 0 … 1")
    return made
