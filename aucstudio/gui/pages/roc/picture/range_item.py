"""The FPR range in the picture: a band that is dragged by either edge, or as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSignalBlocker, Qt, Signal

from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.pages.roc.picture.axes import LINEAR, ends, place, rate_at
from aucstudio.gui.pages.roc.picture.scene import Axis
from aucstudio.project.runs.experiments.experiment import Band


class RangeItem(pg.LinearRegionItem):
    """The FPR range on any axis; moved as a whole it keeps its length at the axis's ends.

    Attributes
    ----------
    axis : Axis
        Of the FPR.

    Signals
    -------
    released
        A person has let go of the range or of one of its edges.
    """

    released = Signal()

    def __init__(self, band: Band) -> None:
        super().__init__(band, bounds=(0.0, 1.0), swapMode="block")
        self.axis = LINEAR
        for line in self.lines:
            line.setCursor(Qt.CursorShape.SizeHorCursor)
            line.sigPositionChangeFinished.connect(self.released)

    def band(self) -> Band:
        """Return the rates at the edges."""
        low, high = (rate_at(self.axis, edge) for edge in self.getRegion())
        return low, high

    def show_band(self, band: Band) -> None:
        """Move without telling."""
        blockers = [QSignalBlocker(item) for item in (self, *self.lines)]
        self.setRegion([place(self.axis, edge) for edge in band])
        del blockers
        self.prepareGeometryChange()

    def show_axis(self, axis: Axis, band: Band) -> None:
        """Move to another axis, over the same rates, without a signal."""
        self.axis = axis
        blockers = [QSignalBlocker(item) for item in (self, *self.lines)]
        self.setBounds(ends(axis))
        del blockers
        self.show_band(band)

    def dress(self, colour: str) -> None:
        self.setBrush(faded(colour, 24))
        self.setHoverBrush(faded(colour, 40))
        for line in self.lines:
            line.setPen(pen(colour, 1.5))
            line.setHoverPen(pen(colour, 3.0))

    def mouseDragEvent(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        event.accept()
        if event.isStart():
            self._grabbed = self.getRegion()
        (low, high), (left, right) = self._grabbed, ends(self.axis)
        moved = event.pos().x() - event.buttonDownPos().x()
        shift = float(np.clip(moved, left - low, right - high))
        self.setRegion((low + shift, high + shift))
        if event.isFinish():
            self.released.emit()
