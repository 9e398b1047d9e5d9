"""Hyperplane ⟨w, z⟩ = 0 of a run with margin, normal and name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor, QPen

from aucstudio.engine import METHODS
from aucstudio.engine.types import Array
from aucstudio.gui.common.plain_text import line_label
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.planes.marks import add_curve, add_line, place_line

_NORMAL_PIXELS, _AT_ENDS = 72.0, 56.0


class HyperplaneItems:
    """The hyperplane, the margin of the method, and the normal."""

    def __init__(self, plot: pg.PlotWidget, z: float, line: pg.InfiniteLine | None = None) -> None:
        self._box = plot.getViewBox()
        self.margin = add_line(plot, z)
        self.line = add_line(plot, z + 1) if line is None else line
        self.name = pg.InfLineLabel(self.line, "", position=0.04, anchors=[(0, 0), (0, 1)])
        self.name.setZValue(z + 3)
        self.shaft = add_curve(plot, z + 2)
        self.head = pg.ArrowItem(headLen=12, tipAngle=36, pxMode=True)
        self.head.setZValue(z + 2)
        plot.addItem(self.head)
        self._normal: Array | None = None
        self._name = ""
        self._box.sigTransformChanged.connect(self._aim)
        self.hide()

    def hide(self) -> None:
        """Hide all items."""
        self._normal = None
        for item in (self.line, self.margin, self.shaft, self.head):
            item.setVisible(False)

    def show(self, normal: Array, margin: float | None, drawn: QPen, name: str = "") -> None:
        """Draw where a·c = 0 and ``margin`` for the normal a, with a name along the line."""
        self._normal = normal
        colour = drawn.color()
        self.line.setPen(drawn)
        place_line(self.line, normal, 0.0)
        self.margin.setVisible(margin is not None)
        if margin is not None:
            self.margin.setPen(margin_pen(colour))
            place_line(self.margin, normal, margin)
        self._show_name(name, colour)
        self._show_normal(colour)

    def _show_name(self, name: str, colour: QColor) -> None:
        # Along the line; where that is upright, up from the bottom.
        self.name.rotateAxis = pg.Point(1.0, 0.0)
        self.name.setColor(colour)
        self.name.fill = pg.mkBrush(faded(current_theme().card, 200))
        self.name.setFormat(line_label(name))
        self._name = name

    def _show_normal(self, colour: QColor) -> None:
        self.shaft.setPen(pen(colour, 2))
        self.head.setStyle(brush=colour, pen=None)
        self.shaft.setVisible(True)
        self.head.setVisible(True)
        self._aim()

    def _aim(self, *_changed: Any) -> None:
        """Draw an arrow from the origin along the normal, of constant length on the screen.

        The head lives in pixels, so its angle is that of the normal as it looks there.
        """
        if self._normal is None:
            return
        pixel = np.array(self._box.viewPixelSize())
        if not (pixel > 0).all():
            return  # not laid out yet
        seen = self._normal / pixel
        self.name.setVisible(bool(self._name) and self._has_room(seen))
        tip = self._normal * (_NORMAL_PIXELS / max(float(np.linalg.norm(seen)), 1e-300))
        self.shaft.setData([0.0, tip[0]], [0.0, tip[1]])
        self.head.setPos(*tip)
        self.head.setStyle(angle=180.0 - float(np.degrees(np.arctan2(seen[1], seen[0]))))

    def _has_room(self, seen: Array) -> bool:
        """Return whether the name fits on the line below its end label.

        A legend has it.
        """
        across, up = np.abs(seen[::-1]) / np.linalg.norm(seen)
        sides = (self._box.width(), across), (self._box.height(), up)
        length = min(size / share for size, share in sides if share > 0.0)
        return bool(self.name.textItem.boundingRect().width() <= length - _AT_ENDS)


def margin_pen(colour: QColor) -> QPen:
    """Make the pen of a margin: thin, in its run's colour, with the run's dashes."""
    return pen(faded(colour, 150), 1.0)


def margin_of(method: str, params: Mapping[str, Any]) -> float | None:
    """Return the margin of a method, or None."""
    return float(params.get("margin", 1.0)) if METHODS[method].wants_margin else None


_BESIDE = 6.0  # pixels


class SideNames:
    """Two labels at the top of both sides of x = 0, if there is room.

    Attributes
    ----------
    wrong, right : TextItem
    """

    def __init__(self, plot: pg.PlotWidget) -> None:
        self.wrong, self.right = pg.TextItem(anchor=(1, 0)), pg.TextItem(anchor=(0, 0))
        self._box = plot.getViewBox()
        self._shown = False
        for text in (self.wrong, self.right):
            text.setZValue(28)
            plot.addItem(text, ignoreBounds=True)
        self.hide()
        self._box.sigTransformChanged.connect(self._place)
        self._box.sigResized.connect(self._place)

    def show(self, misranked: float) -> None:
        """Show which share of the pairs is ranked wrongly, and which right."""
        theme, self._shown = current_theme(), True
        self.wrong.setText(f"← ranked wrongly: {_percent(misranked)}", color=theme.wrong)
        self.right.setText(f"ranked correctly: {_percent(1.0 - misranked)} →", color=theme.text)
        for text in (self.wrong, self.right):
            text.fill = pg.mkBrush(theme.card)
        self._place()

    def hide(self) -> None:
        """Hide the labels."""
        self._shown = False
        for text in (self.wrong, self.right):
            text.setVisible(False)

    def _place(self, *_changed: Any) -> None:
        if not self._shown:
            return
        (left, end), (_, top) = self._box.viewRange()
        across, up = self._box.viewPixelSize()
        for text, side, room in ((self.wrong, -1.0, 0.0 - left), (self.right, 1.0, end)):
            wide = text.boundingRect().width() + _BESIDE
            text.setVisible(bool(room >= wide * across))
            text.setPos(side * _BESIDE * across, top - _BESIDE * up)


def _percent(share: float) -> str:
    """Write a share; only 0 and 1 are written as 0 % and 100 %."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"
