"""A small ROC plot: chance line, FPR range, curves and legend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QPen

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.plotting import faded, make_plot, pen
from aucstudio.gui.common.theme import current_theme

_RIM = 0.015  # beyond the rates, where lines and marks would be cut
_CELLS = 1000  # along each side of the picture; more corners would not be visible


class RocSketch:
    """A read-only ROC plot.

    Attributes
    ----------
    plot : Plot
    lines : list of PlotCurveItem
    range : LinearRegionItem
    """

    def __init__(self, name: str) -> None:
        self.plot = make_plot(name, "False-positive rate", "True-positive rate")
        self.chance = pg.PlotCurveItem([0.0, 1.0], [0.0, 1.0])
        self.range = pg.LinearRegionItem((0.0, 0.1), movable=False)
        self.range.setZValue(-10)
        self.plot.addItem(self.range, self.chance, ignoreBounds=True)
        self.legend = Legend(self.plot)
        self.lines: list[pg.PlotCurveItem] = []
        self._names: list[pg.TextItem] = []
        self.plot.set_whole((-_RIM, 1.0 + _RIM), (-_RIM, 1.0 + _RIM), air=0.0)

    def show(
        self, curves: Sequence[tuple[Array, Array, QPen]], band: tuple[float, float] | None
    ) -> None:
        """Draw curves, FPR and TPR, the first on top; shade the FPR range where there is one."""
        theme = current_theme()
        self.plot.removeItem(*self.lines)
        self.lines = [pg.PlotCurveItem(fpr, tpr, pen=drawn) for fpr, tpr, drawn in curves]
        for depth, line in enumerate(reversed(self.lines)):
            line.setZValue(depth / 100)
        self.plot.addItem(*self.lines, ignoreBounds=True)
        self.chance.setPen(pen(theme.neutral, 1.2, (4.0, 4.0)))
        self.range.setVisible(band is not None)
        self.range.setRegion(band or (0.0, 1.0))
        self.range.setBrush(faded(theme.band, 26))
        for edge in self.range.lines:
            edge.setPen(pen(faded(theme.band, 120), 1.0))

    def label_lines(self, names: Sequence[str]) -> None:
        """Write names beside the lines, each at another FPR."""
        self.plot.removeItem(*self._names)
        self._names = []
        for k, (name, line) in enumerate(zip(names, self.lines, strict=False), 1):
            if line.getData()[0] is None or not len(line.getData()[0]):
                continue
            at = k / (len(names) + 1)
            item = pg.TextItem(name, color=line.opts["pen"].color(), anchor=(0, 0))
            item.setPos(at, float(np.interp(at, *line.getData())))
            item.setZValue(10)  # above the lines
            self._names.append(item)
        self.plot.addItem(*self._names, ignoreBounds=True)


def outline(curve: roc.RocCurve) -> tuple[Array, Array]:
    """Return the corners of a curve, one in each cell of a fine grid."""
    corners = curve.corners()
    cells = np.floor(corners.fpr * _CELLS) * (_CELLS + 1) + np.floor(corners.tpr * _CELLS)
    kept = np.append(True, cells[1:] != cells[:-1])
    kept[-1] = True
    return corners.fpr[kept], corners.tpr[kept]
