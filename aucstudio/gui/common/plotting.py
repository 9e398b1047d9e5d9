"""Styled plots, pens of runs, and ranges."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QGuiApplication,
    QIcon,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QTransform,
)
from PySide6.QtWidgets import QApplication

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.plots.axes import NumberAxis
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.theme import current_theme, run_colour, run_dash, run_symbol
from aucstudio.gui.state.plan import RunLook

pg.setConfigOptions(antialias=True)

SWATCH = QSize(32, 12)
MARKER = QSize(16, 16)  # of icons in menus and heads of tables
_MARK, _CLEAR = 8.0, 1.5  # pixels: a sample's marker, and the space beside it

Dots = tuple[tuple[Array, Array], QPainterPath, QPen, QBrush]  # places, marker, edge, inside


def pen(colour: QColor | str, width: float = 2.0, dash: Sequence[float] = ()) -> QPen:
    """Make a pen whose width and dashes are in pixels at 100 %, at any scale of the plot."""
    # The width of a cosmetic pen is in device pixels.
    screen = QGuiApplication.primaryScreen()
    made: QPen = pg.mkPen(colour, width=width * (screen.devicePixelRatio() if screen else 1.0))
    if dash:
        made.setDashPattern([length / width for length in dash])
        made.setCapStyle(Qt.PenCapStyle.FlatCap)
    return made


def run_pen(look: RunLook, width: float = 2.0) -> QPen:
    """Make the pen of a run in all views."""
    return pen(run_colour(current_theme(), look.colour), width, run_dash(look.colour))


def faded(colour: QColor | str, alpha: int) -> QColor:
    """Return a translucent colour."""
    made = QColor(colour)
    made.setAlpha(alpha)
    return made


def swatch(look: RunLook, size: QSize = SWATCH) -> QIcon:
    """Return an icon of a run's line and marker; of size MARKER, of the marker only."""
    screen = QGuiApplication.primaryScreen()
    scale = screen.devicePixelRatio() if screen else 1.0
    return _swatch(look.colour, size.width(), size.height(), scale, current_theme().name)


@functools.lru_cache(maxsize=256)
def _swatch(colour: int, width: int, height: int, scale: float, _theme: str) -> QIcon:
    look, size = RunLook("", colour), QSize(width, height)
    picture = QPixmap(size * scale)
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    paint_sample(painter, QRectF(QPointF(), QSizeF(size)), look, 2.5)
    painter.end()
    icon = QIcon(picture)
    # A selected row must not tint the colour of the run.
    icon.addPixmap(picture, QIcon.Mode.Selected)
    return icon


def paint_sample(painter: QPainter, area: QRectF, look: RunLook, width: float = 2.0) -> None:
    """Paint a run's line across an area, with its marker in the middle.

    An area as narrow as two markers has only the marker.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(area.center())
    # The line ends before the marker, so that its arms are visible.
    near, far = _MARK / 2 + _CLEAR, area.width() / 2 - 1
    drawn, dash = run_pen(look, width), run_dash(look.colour)
    drawn.setCapStyle(Qt.PenCapStyle.FlatCap)
    if dash:
        # Centre a dash, so that both ends look the same.
        drawn.setDashOffset((near + dash[0] / 2) / width)
    painter.setPen(drawn)
    for side in (-1, 1) if area.width() > 2 * _MARK else ():
        painter.drawLine(QPointF(side * near, 0.0), QPointF(side * far, 0.0))
    marker = QTransform.fromScale(_MARK, _MARK).map(run_symbol(look.colour))
    painter.fillPath(marker, run_colour(current_theme(), look.colour))
    painter.restore()


def make_plot(
    name: str,
    x_label: str,
    y_label: str,
    axes: Sequence[pg.AxisItem] = (),
) -> Plot:
    """Make an empty plot in the style of the window, perhaps with given axes."""
    given = {axis.orientation for axis in axes}
    plot = Plot([*axes, *(NumberAxis(side) for side in ("bottom", "left") if side not in given)])
    plot.setObjectName(name)
    plot.setAccessibleName(name.replace("_", " "))
    # Room for half of the number at the end of an axis.
    plot.frame.layout.setContentsMargins(1, 8, 12, 1)
    plot.setAntialiasing(True)
    plot.frame.show_grid(x=True, y=True)
    plot.setLabel("bottom", x_label)
    plot.setLabel("left", y_label)
    style_plot(plot)
    return plot


def style_plot(plot: Plot) -> None:
    """Apply the current theme's colours to a plot."""
    theme = current_theme()
    plot.setBackground(theme.card)
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(theme.grid)
        axis.setTextPen(theme.muted)
        axis.setTickPen(theme.line)
        axis.label.setFont(QApplication.font())  # pyqtgraph keeps its first font, also below
        if axis.labelText:
            axis.setLabel(axis.labelText, color=theme.muted)
    for item in plot.scene().items():
        if isinstance(item, pg.TextItem):
            item.setFont(QApplication.font())


def data_tip(x: float, y: float, data: str) -> str:
    """Return the tooltip of a mark whose data is its tooltip."""
    return data


def fit_lines(plot: Plot, items: list[pg.PlotCurveItem], count: int, **options: Any) -> None:
    """Add lines to a plot, or remove some, until there are so many; they have no bounds."""
    while len(items) > count:
        plot.removeItem(items.pop())
    while len(items) < count:
        items.append(pg.PlotCurveItem(**options))
        plot.addItem(items[-1], ignoreBounds=True)


def show_dots(item: pg.ScatterPlotItem, lines: Iterable[Dots]) -> None:
    """Show the markers of several lines as one item, which costs far less than an item a line."""
    spots = [
        (x, y, symbol, outline, brush)
        for places, symbol, outline, brush in lines
        for x, y in zip(*places, strict=True)
        if math.isfinite(x) and math.isfinite(y)
    ]
    x, y, symbols, pens, brushes = map(list, zip(*spots, strict=True)) if spots else ([],) * 5
    item.setData(x, y, symbol=symbols, pen=pens, brush=brushes)


def class_steps() -> pg.PlotCurveItem:
    """Make an empty histogram: one edge, no bin."""
    return pg.PlotCurveItem(np.zeros(1), np.empty(0), stepMode="center", fillLevel=0)


def style_classes(curves: Iterable[pg.PlotCurveItem]) -> None:
    """Draw the histograms of the positives and of the negatives in their colours."""
    theme = current_theme()
    looks = (theme.positive, ()), (theme.negative, (6.0, 3.0))
    for item, (colour, dash) in zip(curves, looks, strict=True):
        item.setPen(pen(colour, 1.8, dash))
        item.setBrush(faded(colour, 56))


def finite_range(values: np.ndarray, margin: float = 0.05) -> tuple[float, float]:
    """Return a range of all finite values with a margin."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    space = margin * (high - low) or 0.5
    return low - space, high + space
