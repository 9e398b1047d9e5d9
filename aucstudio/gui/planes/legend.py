"""A legend above a plot, where it covers nothing, in as many columns as fit."""

from __future__ import annotations

from html import escape
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QSizePolicy

from aucstudio.gui.model.part import elided

_COLUMNS = 8
_AXIS_WIDTH = 64
_LEAST_HEIGHT = 200
_LETTERS = 36


class _Sample(pg.ItemSample):
    """A legend's sample that does not hide what it stands for when it is clicked."""

    def mouseClickEvent(self, event: Any) -> None:
        event.ignore()


class Legend(pg.LegendItem):
    """A legend above a plot, in as many columns as fit."""

    def __init__(self, plot: pg.PlotWidget) -> None:
        super().__init__(frame=False, horSpacing=8, colCount=_COLUMNS, sampleType=_Sample)
        self._plot = plot
        self._told: list[tuple[str, QPen | pg.ScatterPlotItem]] = []
        self._shown: tuple[list[tuple[str, QPen | pg.ScatterPlotItem]], int] = ([], 0)
        self.layout.setContentsMargins(0, 0, 0, 4)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        place = plot.getPlotItem()
        place.layout.removeItem(place.titleLabel)
        place.layout.addItem(self, 0, 1)

    def updateSize(self) -> None:
        # The plot's layout places it, not its own arithmetic.
        self.updateGeometry()

    def clear(self) -> None:
        """Begin anew; what is to be seen then is told, and ``fit`` shows it."""
        self._told = []

    def explain_line(self, words: str, drawn: QPen) -> None:
        """Say what lines of a pen are."""
        self._told.append((words, drawn))

    def explain_mark(self, words: str, marks: pg.ScatterPlotItem) -> None:
        """Say what marks are, as they are drawn at this moment."""
        self._told.append((words, marks))

    def fit(self) -> None:
        """Show what was told, in the most columns that stay within the plot's width.

        Nothing is shown over a plot of less than 200 pixels.
        """
        width = self._plot.width() - _AXIS_WIDTH
        # A low plot needs its height for itself.
        told = self._told if self._plot.height() >= _LEAST_HEIGHT else []
        if (told, width) == self._shown:
            # Making it anew takes longer than all else that follows a drag.
            for sample, _label in self.items:
                sample.update()
            return
        self._shown = list(told), width
        super().clear()
        for words, drawn in told:
            sample = pg.PlotDataItem(pen=drawn) if isinstance(drawn, QPen) else drawn
            self.addItem(sample, escape(elided(words, _LETTERS, len)))
            self.items[-1][1].setToolTip(words)
        for columns in range(_COLUMNS, 0, -1):
            self.setColumnCount(columns)
            if self.effectiveSizeHint(Qt.SizeHint.MinimumSize).width() <= width:
                break
        # Now, not at the next turn of the event loop: the picture may be painted before.
        self.layout.activate()
        self._plot.getPlotItem().layout.activate()
