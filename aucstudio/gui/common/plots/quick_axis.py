"""A faster axis with the look of pyqtgraph's.

Pyqtgraph records an axis and plays the record back, which finds the fonts of all its numbers
anew; both happen in each frame of a plot that is panned. Here numbers are measured once, the marks
of a level are one call, and all is painted straight.
Upstream: github.com/pyqtgraph/pyqtgraph/pull/3471 (no record any more; closed).
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QPaintEngine, QPainter, QPen, QPicture
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from aucstudio.gui.common.theme import mixed

Levels = list[tuple[float, list[float]]]

_DIGITS = 0.8  # of the height of a text: what its digits fill
_BEYOND = 6.0  # pixels that the number at an end may reach beyond its axis
_SHIFT = 12.0  # pixels by which a number may be moved to be fully visible
_SQUARE = QRectF(0, 0, 100, 100)
_BELOW = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
_BESIDE = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclasses.dataclass(frozen=True)
class Marks:
    """Lines with their pens, and numbers with their places."""

    lines: list[tuple[QPen, list[QLineF]]]
    numbers: list[tuple[QRectF, str]]


class QuickAxis(pg.AxisItem):
    """An axis with a grid, at the bottom or on the left of a plot."""

    picture: Marks | None

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        if not self._is_plain():
            super().paint(painter, option, widget)
            return
        # Whatever changes an axis sets its picture to None.
        if self.picture is None:
            self.picture = self._laid_out()
        marks = self.picture
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        # On paper the colours are exchanged for those of another appearance.
        is_figure = painter.paintEngine().type() == QPaintEngine.Type.SVG
        for pen, lines in marks.lines:
            painter.setPen(pen if is_figure else self.covering(pen))
            painter.drawLines(lines)
        painter.setFont(self._font())
        painter.setPen(self.textPen())
        side = _BELOW if self._lies else _BESIDE
        flags = side.value | Qt.TextFlag.TextDontClip.value
        for place, text in marks.numbers:
            painter.drawText(place, flags, text)
        painter.restore()

    def boundingRect(self) -> QRectF:
        return self._widened(super().boundingRect())

    def tickValues(self, low: float, high: float, size: float) -> Levels:
        """Return the round values of each level that are in none before."""
        if self.logMode:
            found: Levels = super().tickValues(low, high, size)
            return found
        known, levels = np.empty(0), []
        for spacing, offset in self.tickSpacing(low, high, size):
            first = ceil((low - offset) / spacing) * spacing + offset
            values = np.arange(int((high - first) / spacing) + 1) * spacing + first
            near = np.abs(known - values[:, np.newaxis]) <= 0.01 * spacing
            values = values[~near.any(axis=1)]
            known = np.concatenate([known, values])
            levels.append((spacing, values.tolist()))
        return levels

    def _is_plain(self) -> bool:
        """Return whether it is a bottom or left axis with a grid and no ticks of its own."""
        has_own = self._tickLevels is not None or self.style["tickAlpha"] is not None
        return self.orientation in ("bottom", "left") and self.grid is not False and not has_own

    @property
    def _lies(self) -> bool:
        return bool(self.orientation == "bottom")

    def _font(self) -> QFont:
        # A font that leaves something open is completed by each widget in its own way.
        return _complete((self.style["tickFont"] or QFont()).toString())

    def _laid_out(self) -> Marks:
        area = self.mapRectFromParent(self.geometry())
        line = _edge(area, self._lies)
        start, stop = self.mapToDevice(line.p1()), self.mapToDevice(line.p2())
        if start is None or stop is None or start == stop:
            return Marks([], [])
        length = QLineF(start, stop).length()
        low, high = self.range
        levels = self.tickValues(low, high, length)
        places = [self._places(area, values) for _, values in levels]
        lines = [(self.pen(), [line])]
        for depth, (_, values) in enumerate(levels):
            pen = self._tick_pen(depth, len(values), length)
            lines.append((pen, self._grid_lines(area, places[depth])))
        shown = levels[: self.style["maxTextLevel"] + 1] if self.style["showValues"] else []
        return Marks(lines, self._numbers(area, shown, places, length) if shown else [])

    def _places(self, area: QRectF, values: list[float]) -> list[float | None]:
        """Return where on the axis values are; nothing for those beyond its ends."""
        low, high = self.range
        scale = (area.width() if self._lies else -area.height()) / ((high - low) or 1.0)
        offset = low * scale - (0.0 if self._lies else area.height())
        first, last = sorted(end * scale - offset for end in self.range)
        found = (value * scale - offset for value in values)
        return [place if first <= place <= last else None for place in found]

    def _tick_pen(self, depth: int, count: int, length: float) -> QPen:
        """Return the pen of a level, fainter the deeper and the more lines it has."""
        crowd = min(0.05 * length / (count + 1), 1.0)
        pen = QPen(self.tickPen())
        colour = pen.color()
        colour.setAlpha(int(255 / (depth + 1) * (self.grid / 255) * crowd))
        pen.setColor(colour)
        return pen

    def covering(self, pen: QPen) -> QPen:
        """Return an opaque pen of the same colour.

        A line that lets some of it through is painted pixel by pixel, and takes thirty times as
        long.
        """
        made = QPen(pen)
        made.setColor(mixed(self._behind(), pen.color(), pen.color().alphaF()))
        return made

    def _behind(self) -> QColor:
        view = self.getViewWidget()
        return QColor("white") if view is None else view.backgroundBrush().color()

    def _grid_lines(self, area: QRectF, places: list[float | None]) -> list[QLineF]:
        view: Any = self.linkedView()
        grid = view.mapRectToItem(self, view.boundingRect())
        known = [place for place in places if place is not None]
        if self._lies:
            return [QLineF(x, grid.top(), x, area.top()) for x in known]
        return [QLineF(grid.right(), y, area.right(), y) for y in known]

    def _numbers(
        self, area: QRectF, levels: Levels, places: list[list[float | None]], length: float
    ) -> list[tuple[QRectF, str]]:
        """Place the numbers of as many levels as there is room for."""
        font, bounds = self._font().toString(), super().boundingRect()
        seen = self._seen()
        numbers: list[tuple[QRectF, str]] = []
        at_ends: list[tuple[QRectF, str]] = []
        filled = across = room = 0.0
        for depth, (spacing, values) in enumerate(levels):
            texts = self.tickStrings(values, self.autoSIPrefixScale * self.scale, spacing)
            shown = [
                (at, text, _text_size(text, font))
                for at, text in zip(places[depth], texts, strict=True)
                if at is not None
            ]
            sizes = [
                (s.width(), s.height()) if self._lies else (s.height(), s.width())
                for *_, s in shown
            ]
            filled += sum(along for along, _ in sizes)
            across = max([across, *(wide for _, wide in sizes)])
            limits = self.style["textFillLimits"] if depth else ()
            if any(len(numbers) >= n and filled / length >= most for n, most in limits):
                break
            room = across if texts else room
            for at, text, size in shown:
                place = self._number_place(area, at, size)
                if bounds & place == place:
                    numbers.append((place, text))
                elif (moved := self._moved_into(seen, place)) is not None:
                    at_ends.append((moved, text))
        self._updateMaxTextSize(room)
        return numbers + at_ends

    def _widened(self, area: QRectF) -> QRectF:
        across, up = (_BEYOND, 0.0) if self._lies else (0.0, _BEYOND)
        return area.adjusted(-across, -up, across, up)

    def _seen(self) -> QRectF:
        """Return where the numbers at the ends can be: near the axis, and on the plot."""
        parent = self.parentItem()
        near = self.boundingRect()
        return near if parent is None else near & self.mapRectFromParent(parent.boundingRect())

    def _moved_into(self, seen: QRectF, place: QRectF) -> QRectF | None:
        """Move a number at an end so that it is fully visible; None if that is too far."""
        if self._lies:
            left = max(min(place.left(), seen.right() - place.width()), seen.left())
            moved = QRectF(QPointF(left, place.top()), place.size())
        else:
            top = max(min(place.top(), seen.bottom() - place.height()), seen.top())
            moved = QRectF(QPointF(place.left(), top), place.size())
        way = (moved.topLeft() - place.topLeft()).manhattanLength()
        return moved if way <= _SHIFT and seen & moved == moved else None

    def _number_place(self, area: QRectF, at: float, size: QSizeF) -> QRectF:
        gap = max(0, self.style["tickLength"]) + self.style["tickTextOffset"][self._lies]
        if self._lies:
            corner = QPointF(at - size.width() / 2, area.top() + gap)
        else:
            corner = QPointF(area.right() - gap - size.width(), at - size.height() / 2)
        return QRectF(corner, size)


def _edge(area: QRectF, lies: bool) -> QLineF:
    """Return the line between an axis and its plot, one unit longer on either side."""
    if lies:
        return QLineF(area.left() - 1, area.top() + 1, area.right() + 1, area.top() + 1)
    return QLineF(area.right() - 1, area.top() - 1, area.right() - 1, area.bottom() + 1)


@lru_cache(maxsize=16)
def _complete(description: str) -> QFont:
    made = QFont()
    made.fromString(description)
    return made


@lru_cache(maxsize=4096)
def _text_size(text: str, font: str) -> QSizeF:
    """Measure a text in a font, given as Qt's description of it."""
    picture = QPicture()
    painter = QPainter(picture)
    painter.setFont(_complete(font))
    size = painter.boundingRect(_SQUARE, Qt.AlignmentFlag.AlignCenter, text).size()
    painter.end()
    return QSizeF(size.width(), _DIGITS * size.height())
