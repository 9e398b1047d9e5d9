"""What all pictures share: dressed plots, pens of runs, and ranges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QIcon,
    QPainter,
    QPen,
    QPixmap,
)

from aucstudio.gui.plan import RunLook
from aucstudio.gui.theme import current_theme, run_colour, run_dash

SWATCH = QSize(26, 12)


def pen(colour: QColor | str, width: float = 2.0, dash: Sequence[float] = ()) -> QPen:
    """Make a pen whose width and dashes are in pixels at 100 %, whatever the plot's scale."""
    # A cosmetic pen counts the screen's own pixels.
    screen = QGuiApplication.primaryScreen()
    made: QPen = pg.mkPen(colour, width=width * (screen.devicePixelRatio() if screen else 1.0))
    if dash:
        made.setDashPattern([length / width for length in dash])
        made.setCapStyle(Qt.PenCapStyle.FlatCap)
    return made


def run_pen(look: RunLook, width: float = 2.0) -> QPen:
    """Make the pen that a run keeps in every view."""
    return pen(run_colour(current_theme(), look.colour), width, run_dash(look.colour))


def faded(colour: QColor | str, alpha: int) -> QColor:
    """Make a colour that lets what is under it be seen."""
    made = QColor(colour)
    made.setAlpha(alpha)
    return made


def swatch(look: RunLook) -> QIcon:
    """Draw the run's line as it looks in the views."""
    screen = QGuiApplication.primaryScreen()
    scale = screen.devicePixelRatio() if screen else 1.0
    picture = QPixmap(SWATCH * scale)
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(run_pen(look, 2.5))
    middle = SWATCH.height() // 2
    painter.drawLine(1, middle, SWATCH.width() - 1, middle)
    painter.end()
    icon = QIcon(picture)
    # A selected row must not tint the colour that stands for the run.
    icon.addPixmap(picture, QIcon.Mode.Selected)
    return icon


def make_plot(name: str, x_label: str, y_label: str) -> pg.PlotWidget:
    """Make an empty plot in the window's dress."""
    plot = pg.PlotWidget()
    plot.setObjectName(name)
    plot.setAccessibleName(name.replace("_", " "))
    plot.setMenuEnabled(False)
    plot.hideButtons()
    plot.setAntialiasing(True)
    plot.showGrid(x=True, y=True, alpha=0.18)
    plot.setLabel("bottom", x_label)
    plot.setLabel("left", y_label)
    dress_plot(plot)
    return plot


def dress_plot(plot: pg.PlotWidget) -> None:
    """Give a plot the present theme's colours."""
    theme = current_theme()
    plot.setBackground(theme.card)
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(theme.grid)
        axis.setTextPen(theme.muted)
        axis.setTickPen(theme.grid)
        axis.setStyle(tickLength=-4)
        if axis.labelText:
            axis.setLabel(axis.labelText, color=theme.muted)


def finite_range(values: np.ndarray, margin: float = 0.05) -> tuple[float, float]:
    """Give a range that holds all finite values with some air."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    air = margin * (high - low) or 0.5
    return low - air, high + air
