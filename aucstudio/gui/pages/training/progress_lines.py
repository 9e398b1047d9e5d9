"""Lines of progress, reused and found by the pointer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPen

from aucstudio.engine.types import Array
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.theme import current_theme, run_symbol
from aucstudio.gui.pages.training.progress import Course

_REACH = 40.0  # pixels
_MANY = 1_000
_DOT = 6  # pixels


@dataclasses.dataclass(frozen=True, eq=False)
class CourseLine:
    """A line to draw.

    Attributes
    ----------
    course : Course
    x, y : ndarray
        NaN breaks the line.
    pen : QPen
    is_strong : bool
        Whether it is drawn over others.
    dots : bool
        Whether each point, a measurement, has a dot.
    is_main : bool
        Whether the pointer finds it.
    """

    course: Course
    x: Array
    y: Array
    pen: QPen
    is_strong: bool
    dots: bool = False
    is_main: bool = True

    @property
    def depth(self) -> int:
        """The z value: higher is drawn over."""
        return (40 if self.course.is_live else 20 * self.is_strong) - (not self.is_main)


class CourseLines:
    """The lines of a plot.

    Attributes
    ----------
    plot : PlotWidget
    drawn : list of CourseLine
    items : list of PlotDataItem
        One a line.
    """

    def __init__(self, plot: Plot) -> None:
        self.drawn: list[CourseLine] = []
        self.items: list[pg.PlotDataItem] = []
        self.plot = plot
        self._styled: WeakKeyDictionary[pg.PlotDataItem, object] = WeakKeyDictionary()
        self._marker = pg.ScatterPlotItem(size=9, antialias=True)
        self._marker.setZValue(100)
        plot.addItem(self._marker, ignoreBounds=True)

    def draw(self, lines: Sequence[CourseLine]) -> None:
        """Draw these lines only; items are reused."""
        while len(self.items) > len(lines):
            self.plot.removeItem(self.items.pop())
        while len(self.items) < len(lines):
            item = pg.PlotDataItem(connect="finite", antialias=True)
            self.plot.addItem(item)
            self.items.append(item)
        for item, line in zip(self.items, lines, strict=True):
            self._style(item, line)
            item.setData(line.x, line.y)
        self.drawn = list(lines)

    def _style(self, item: pg.PlotDataItem, line: CourseLine) -> None:
        """Style an item like its line in one step, to redraw it only once."""
        # A thinned line is computed again whenever the view moves.
        many = len(line.x) > _MANY
        # A line through one point is invisible.
        dotted = line.dots or np.count_nonzero(np.isfinite(line.y)) == 1
        symbol = run_symbol(line.course.look.colour) if dotted else None
        style = line.depth, many, symbol, line.pen, line.is_main
        if self._styled.get(item) == style:
            return
        self._styled[item] = style
        item.setZValue(line.depth)
        item.setDownsampling(auto=many, method="peak")
        item.setPen(line.pen)
        item.setSymbol(symbol)
        item.setSymbolSize(_DOT)
        item.setSymbolPen(None if line.is_main else pen(line.pen.color(), 1.2))
        item.setSymbolBrush(line.pen.color() if line.is_main else None)

    def nearest(self, here: QPointF) -> tuple[CourseLine, int] | None:
        """Find the point of a main line nearest to a place, if one is near."""
        width, height = self.plot.getViewBox().viewPixelSize()
        best: tuple[float, CourseLine, int] | None = None
        for line in self.drawn:
            x, y = self._places(line)
            if not line.is_main or not len(x):
                continue
            away = np.hypot((x - here.x()) / width, (y - here.y()) / height)
            away[np.isnan(away)] = np.inf
            k = int(np.argmin(away))
            if away[k] < (best[0] if best else _REACH):
                best = float(away[k]), line, k
        return None if best is None else best[1:]

    def places(self) -> list[tuple[Array, Array]]:
        """Return where the points of each line are in the plot."""
        return [self._places(line) for line in self.drawn]

    def mark(self, line: CourseLine, k: int) -> None:
        """Put a marker on one point of a line."""
        x, y = self._places(line)
        self._marker.setPen(pg.mkPen(current_theme().card, width=1.5))
        self._marker.setBrush(line.pen.color())
        symbol = run_symbol(line.course.look.colour)
        self._marker.setData([x[k]], [y[k]], symbol=symbol)

    def place(self, line: CourseLine, k: int) -> QPointF:
        """Return the position of a point of a line in its plot."""
        x, y = self._places(line)
        return QPointF(x[k], y[k])

    def unmark(self) -> None:
        """Hide the marker."""
        self._marker.setData([], [])

    def _places(self, line: CourseLine) -> tuple[Array, Array]:
        """Return where the points of a line are in the plot, whose height may be logarithmic."""
        log = self.plot.getAxis("left").logMode
        return line.x, np.log10(line.y) if log else line.y
