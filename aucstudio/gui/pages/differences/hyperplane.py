"""A run's hyperplane ⟨w, z⟩ = 0 in a plane, with its margin on both sides and its normal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QPen

from aucstudio.gui.common.plotting import pen
from aucstudio.gui.pages.planes.marks import add_curve, add_line, place_line

Array = NDArray[np.float64]

_NORMAL_PIXELS = 72.0

# Methods that want every pair beyond ⟨w, z⟩ = 1 (or the margin they were given).
_WITH_MARGIN = frozenset(
    {"auc-svm", "roc-svm", "sauc-svm", "svm-auc", "svm-pauc", "svm-pauc-tight"}
    | {"rank-svm", "kernel-rank-svm", "nbauc", "rf-auc", "nsauc"}
)


class HyperplaneItems:
    """The hyperplane, its margin and its normal."""

    def __init__(self, plot: pg.PlotWidget, z: float, line: pg.InfiniteLine | None = None) -> None:
        self._box = plot.getViewBox()
        self.margins = [add_line(plot, z), add_line(plot, z)]
        self.line = add_line(plot, z + 1) if line is None else line
        self.shaft = add_curve(plot, z + 2)
        self.head = pg.ArrowItem(headLen=12, tipAngle=36, pxMode=True)
        self.head.setZValue(z + 2)
        plot.addItem(self.head)
        self._normal: Array | None = None
        self._box.sigTransformChanged.connect(self._aim)
        self.hide()

    def hide(self) -> None:
        """Take everything away."""
        self._normal = None
        for item in (self.line, *self.margins, self.shaft, self.head):
            item.setVisible(False)

    def show(self, normal: Array, margin: float | None, drawn: QPen) -> None:
        """Draw where a·c = 0 and ± ``margin`` for the normal a."""
        self._normal = normal
        colour = drawn.color()
        self.line.setPen(drawn)
        place_line(self.line, normal, 0.0)
        for line, sign in zip(self.margins, (1.0, -1.0), strict=True):
            line.setVisible(margin is not None)
            if margin is not None:
                line.setPen(pen(colour, 1.0, (4.0, 4.0)))
                place_line(line, normal, sign * margin)
        self._show_normal(colour)

    def _show_normal(self, colour: QColor) -> None:
        self.shaft.setPen(pen(colour, 2))
        self.head.setStyle(brush=colour, pen=None)
        self.shaft.setVisible(True)
        self.head.setVisible(True)
        self._aim()

    def _aim(self, *_changed: Any) -> None:
        """Point from the origin along the normal, as long on the screen at every zoom.

        The head lives in pixels, so its angle is that of the normal as it looks there.
        """
        if self._normal is None:
            return
        pixel = np.array(self._box.viewPixelSize())
        if not (pixel > 0).all():
            return  # not laid out yet
        seen = self._normal / pixel
        tip = self._normal * (_NORMAL_PIXELS / max(float(np.linalg.norm(seen)), 1e-300))
        self.shaft.setData([0.0, tip[0]], [0.0, tip[1]])
        self.head.setPos(*tip)
        self.head.setStyle(angle=180.0 - float(np.degrees(np.arctan2(seen[1], seen[0]))))


def margin_of(method: str, params: Mapping[str, Any]) -> float | None:
    """Give the margin that a method wants its pairs to have; None for one without."""
    return float(params.get("margin", 1.0)) if method in _WITH_MARGIN else None
