"""Temporary layout of plots at paper size.

Pyqtgraph's exporters scale what is on the screen: lines and type are not what was asked for
(github.com/pyqtgraph/pyqtgraph/issues/1455). To lay a plot out again, and to take it back to the
pixel, needs what it keeps for itself: which range follows, and the room that axes have.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QPainter, QResizeEvent
from PySide6.QtWidgets import QApplication

from aucstudio.gui.common.plots.plot import Plot

_State = tuple[list[Any], list[tuple[pg.AxisItem, int, int]]]


@contextlib.contextmanager
def at_sizes(plots: Sequence[tuple[Plot, QSize]]) -> Iterator[None]:
    """Resize plots for the time being, keeping ranges and drawing markers as shapes."""
    # All are held before one is resized: they may share an axis.
    before = [(plot, plot.size(), _hold(plot)) for plot, _ in plots]
    try:
        for plot, size in plots:
            _export_mode(plot, {"antialias": True})
            _resize(plot, size)
            # The width of an axis is known once its numbers are written.
            _rehearse(plot)
        yield
    finally:
        for plot, size, state in before:
            _export_mode(plot, None)
            _resize(plot, size)
            _let_go(plot, state)


def _hold(plot: Plot) -> _State:
    """Fix a plot's range at any size; return the argument of :func:`_let_go`."""
    state = plot.getViewBox().state
    follows, state["autoRange"] = state["autoRange"], [False, False]
    axes = [plot.getAxis(side) for side in ("left", "bottom")]
    return follows, [(axis, axis.textWidth, axis.textHeight) for axis in axes]


def _let_go(plot: Plot, state: _State) -> None:
    """Restore automatic ranges and the room for axis numbers."""
    follows, axes = state
    for axis, width, height in axes:
        axis.textWidth, axis.textHeight = width, height
        axis._updateWidth() if axis.orientation == "left" else axis._updateHeight()
    plot.frame.layout.activate()
    plot.getViewBox().state["autoRange"] = follows


def _resize(plot: Plot, size: QSize) -> None:
    old = plot.size()
    plot.resize(size)
    # A hidden widget is notified only when it is shown.
    for widget in (plot, plot.viewport()):
        QApplication.sendEvent(widget, QResizeEvent(size, old))
    plot.frame.layout.activate()


def _rehearse(plot: Plot) -> None:
    image = QImage(8, 8, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    plot.render(painter)
    painter.end()
    plot.frame.layout.activate()


def _export_mode(plot: Plot, options: dict[str, object] | None) -> None:
    """Draw markers as shapes instead of pictures kept ready for the screen."""
    for item in plot.scene().items():
        if hasattr(item, "setExportMode"):
            item.setExportMode(options is not None, options)
