"""A view box between its axes, below a title.

Pyqtgraph's own, ``PlotItem``, has a hidden menu with 57 widgets, which take part in every change of
the style. No upstream issue found.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import pyqtgraph as pg
from PySide6.QtWidgets import QGraphicsGridLayout

from aucstudio.gui.common.plain_text import Markup

_PLACES = {"top": (1, 1), "left": (2, 0), "right": (2, 2), "bottom": (3, 1)}
_GRID = 128  # pyqtgraph's default
_TITLE_HEIGHT = 30  # pixels


class PlotFrame(pg.GraphicsWidget):
    """A view box between its axes, below a title.

    Parameters
    ----------
    axes : sequence of AxisItem
        One for each side that has an axis.

    Attributes
    ----------
    box : ViewBox
    axes : dict of str to AxisItem
        By side.
    title : LabelItem
    """

    def __init__(self, axes: Sequence[pg.AxisItem]) -> None:
        super().__init__()
        self.box: Any = pg.ViewBox(parent=self, enableMenu=False)
        self.title = pg.LabelItem("", size="11pt", parent=self)
        self.axes = {axis.orientation: axis for axis in axes}
        self.layout = QGraphicsGridLayout()
        self.setLayout(self.layout)  # Qt owns it now; the garbage collector must not delete it too
        self.layout.setSpacing(0)
        for k in range(4):  # the picture takes the remaining room
            self.layout.setRowPreferredHeight(k, 0)
            self.layout.setRowStretchFactor(k, 100 if k == 2 else 1)
        for k in range(3):
            self.layout.setColumnPreferredWidth(k, 0)
            self.layout.setColumnStretchFactor(k, 100 if k == 1 else 1)
        self.layout.addItem(self.title, 0, 1)
        self.layout.addItem(self.box, 2, 1)
        for side, axis in self.axes.items():
            axis.linkToView(self.box)
            axis.setZValue(self.box.zValue() - 1)  # the grid is behind the items
            self.layout.addItem(axis, *_PLACES[side])
        self.show_title("")

    def show_title(self, words: str, **style: str) -> None:
        """Show a title above the picture, or leave no room for it."""
        height = _TITLE_HEIGHT if words else 0
        self.title.setText(words if isinstance(words, Markup) else escape(words), **style)
        self.title.setVisible(bool(words))
        self.title.setMaximumHeight(height)
        self.layout.setRowFixedHeight(0, height)

    def show_grid(self, *, x: bool, y: bool) -> None:
        """Show or hide the vertical lines, at places along x, and the horizontal ones."""
        for side, axis in self.axes.items():
            axis.setGrid(_GRID if (x if side in ("top", "bottom") else y) else False)
