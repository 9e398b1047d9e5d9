"""A plot with zoom and reset.

Pyqtgraph's wheel zooms without end, a double click does nothing, and its menu has no word for a
person who analyses. No upstream issue found.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGraphicsItem, QRubberBand, QToolButton, QWidget

from aucstudio.engine.types import Array
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots.extent import AIR, SIDES, Extent, Range, holds_something
from aucstudio.gui.common.plots.static_cache import Stillness
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import named
from aucstudio.gui.state.plan import RunLook

_STEP, _SHIFT = 1.25, 0.1  # of a key: how much it zooms, and what share of the view it moves
_LEAST_BOX = 6  # pixels of a box that is drawn on purpose
_CORNER = 6  # pixels between the button and the corner
_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
_ARROWS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (1, 1),
    Qt.Key.Key_Down: (1, -1),
}


class Plot(pg.PlotWidget):
    """A plot with a way back: double click, the key 0, and a button that is there when needed.

    The wheel, + and −, Shift and dragging (or dragging after :meth:`draw_box`) zoom, as far as the
    whole picture and some air; dragging and the arrow keys move it. What the whole picture is, is
    what a page says with :meth:`set_whole`, else what the items reach.

    Signals
    -------
    restored
        The user has reset the view.
    menu_asked : QPoint
        The user has requested the menu at this position on the screen.

    Signals
    -------
    hovered : QPointF or None
        The place of the picture under the pointer.
    clicked : QPointF
        The place of the picture that was clicked with the left button.
    restored
        The view was reset.
    menu_asked : QPoint
        The place on the screen at which the menu is to open.

    Attributes
    ----------
    reset_button : QToolButton
    hidden_legend : sequence of (str, RunLook or QPen)
        Entries of the legend that the plot has no room for; a saved picture lists them below.
    """

    restored = Signal()
    hovered = Signal(object)
    clicked = Signal(QPointF)
    menu_asked = Signal(QPoint)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.hidden_legend: Sequence[tuple[str, RunLook | QPen]] = ()
        # pyqtgraph gives its menu and what watches it no parent: they would outlive the plot as
        # windows of their own, in cycles that the collector ends in any order, on any thread.
        item = self.getPlotItem()
        item.ctrlMenu.setParent(self, item.ctrlMenu.windowFlags())
        item.stateGroup.setParent(self)
        self._stillness = Stillness()
        self._box: Any = self.getPlotItem().getViewBox()
        for place in item.axes.values():
            # The grid is behind the items.
            place["item"].setZValue(self._box.zValue() - 1)
        self._extent = Extent(self._box)
        self._band: QRubberBand | None = None
        self._draws_box = self._is_ringed = False
        self._start = QPoint()
        self.reset_button = QToolButton(self)
        self.reset_button.setText("Reset")
        self.reset_button.setProperty("role", "over")
        plain_tooltip(self.reset_button, "Show the whole picture again (double click, or 0)")
        self.reset_button.clicked.connect(self.reset)
        self.reset_button.hide()
        self._box.sigRangeChanged.connect(self._offer_reset)
        self._box.sigStateChanged.connect(self._offer_reset)
        self.scene().sigMouseClicked.connect(self._on_click)
        self.scene().sigMouseMoved.connect(self._on_move)

    def close(self) -> bool:
        # pyqtgraph's own takes the picture out of its scene, and leaves it to the collector.
        return QWidget.close(self)

    def setObjectName(self, name: str) -> None:
        super().setObjectName(name)
        named(self.reset_button, f"{name}_reset_button", "Reset view")

    # ------------------------------------------------------------- full extent

    def set_whole(
        self,
        x: Range | None = None,
        y: Range | None = None,
        *,
        air: float = AIR,
        reach: tuple[Range, Range] | None = None,
    ) -> None:
        """Set the full extent; a plot that shows it follows.

        Parameters
        ----------
        x, y : (float, float) or None
            None follows the items.
        air : float
            Share of the extent that is visible beyond it.
        reach : pair of (float, float), optional
            What lies outside and can be seen all the same.
        """
        zoomed, extent = self.is_zoomed(), self._extent
        extent.whole, extent.air = [x, y], air
        extent.reach = [None, None] if reach is None else list(reach)
        if zoomed:
            extent.bound()
        else:
            self.show_whole()

    def show_whole(self) -> None:
        """Show the full extent of both axes."""
        self._extent.show()
        self._offer_reset()

    def reset(self) -> None:
        """Show the full extent at the user's request."""
        self.show_whole()
        self.restored.emit()

    def is_zoomed(self) -> bool:
        """Return whether the view is not the full extent."""
        return self._extent.is_zoomed()

    def can_zoom(self) -> bool:
        """Return whether the user can zoom."""
        return self._extent.can_move(0) or self._extent.can_move(1)

    # ------------------------------------------------------------- zooming

    def zoom(self, factor: float) -> None:
        """Show so many times as much, around the middle of the picture."""
        self._go(lambda: self._box.scaleBy(**self._along(factor)))

    def shift(self, axis: int, share: float) -> None:
        """Move the view along an axis by a share of the visible range."""
        low, high = self._box.viewRange()[axis]
        inverted = (self._box.xInverted(), self._box.yInverted())[axis]
        by = share * (high - low) * (-1 if inverted else 1)
        if self._extent.can_move(axis):
            self._extent.bound()
            self._box.translateBy(**{SIDES[axis]: by})

    def draw_box(self) -> None:
        """Prepare the zoom box for the next drag."""
        self._draws_box = True
        self.viewport().setCursor(Qt.CursorShape.CrossCursor)

    def _along(self, value: float) -> dict[str, float]:
        return {side: value for axis, side in enumerate(SIDES) if self._extent.can_move(axis)}

    def _go(self, change: Any) -> None:
        """Change the range within its bounds, unless no item would be visible."""
        before = self._box.viewRange()
        self._extent.bound()
        change()
        if self._box.viewRange() != before and not holds_something(self):
            self._box.setRange(xRange=before[0], yRange=before[1], padding=0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._go(lambda: super(Plot, self).wheelEvent(event))

    # ------------------------------------------------------------- pointing

    def mousePressEvent(self, event: QMouseEvent) -> None:
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        left = event.button() == Qt.MouseButton.LeftButton
        if left and self.can_zoom() and (shift or self._draws_box):
            # The scene hears nothing of it: whatever lies there would be dragged.
            self._start = event.position().toPoint()
            self._band = QRubberBand(QRubberBand.Shape.Rectangle, self.viewport())
            self._band.setGeometry(QRect(self._start, QSize()))
            self._band.show()
            event.accept()
            return
        self._extent.bound()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._band is None:
            super().mouseMoveEvent(event)
        else:
            self._band.setGeometry(self._boxed(event.position().toPoint()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._band is None:
            super().mouseReleaseEvent(event)
            return
        box = self._boxed(event.position().toPoint())
        self._end_box()
        if min(box.width(), box.height()) >= _LEAST_BOX:
            self._go(lambda: self._show_box(box))

    def _boxed(self, place: QPoint) -> QRect:
        """Return the box from its origin to a position, clipped to the picture."""
        inside = self.mapFromScene(self._box.sceneBoundingRect()).boundingRect()
        box = QRect(self._start, place).normalized().intersected(inside)
        for axis, (low, high) in enumerate(
            ((inside.left(), inside.right()), (inside.top(), inside.bottom()))
        ):
            if not self._extent.can_move(axis):
                (box.setLeft, box.setTop)[axis](low)
                (box.setRight, box.setBottom)[axis](high)
        return box

    def _show_box(self, box: QRect) -> None:
        corners = [
            self._box.mapSceneToView(self.mapToScene(corner))
            for corner in (box.bottomLeft(), box.topRight())
        ]
        sides = [sorted(corner.x() for corner in corners), sorted(c.y() for c in corners)]
        chosen = {
            f"{SIDES[axis]}Range": sides[axis] for axis in (0, 1) if self._extent.can_move(axis)
        }
        self._box.setRange(**chosen, padding=0)

    def _end_box(self) -> None:
        self._draws_box = False
        self.viewport().unsetCursor()
        if self._band is not None:
            self._band.hide()
            self._band.deleteLater()
            self._band = None

    def _on_click(self, event: Any) -> None:
        if event.double():
            self.reset()
        elif event.button() == Qt.MouseButton.RightButton:
            self.menu_asked.emit(event.screenPos().toPoint())
        elif event.button() == Qt.MouseButton.LeftButton:
            place = self._inside(event.scenePos())
            if place is not None:
                self.clicked.emit(place)

    def _on_move(self, position: QPointF) -> None:
        self.hovered.emit(self._inside(position))

    def _inside(self, position: QPointF) -> QPointF | None:
        """Return the plot coordinates of a scene position, or None outside the plot."""
        if not self._box.sceneBoundingRect().contains(position):
            return None
        return QPointF(self._box.mapSceneToView(position))

    def nearest(self, places: Array, place: QPointF, reach: float) -> int | None:
        """Return which of places, shape (n, 2), is nearest to one, within so many pixels."""
        away = (places - (place.x(), place.y())) / np.maximum(self._box.viewPixelSize(), 1e-300)
        distance = np.hypot(*away.T)
        distance[np.isnan(distance)] = np.inf
        k = int(distance.argmin()) if len(distance) else 0
        return k if len(distance) and distance[k] <= reach else None

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(None)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        # A right button that is pressed may yet be dragged: it is answered when it is released.
        event.accept()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self.menu_asked.emit(self.mapToGlobal(self.rect().center()))

    # ------------------------------------------------------------- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(1 / _STEP)
        elif key in (Qt.Key.Key_Minus, Qt.Key.Key_Underscore):
            self.zoom(_STEP)
        elif key == Qt.Key.Key_0:
            self.reset()
        elif key in _ARROWS:
            axis, side = _ARROWS[key]
            self.shift(axis, side * _SHIFT)
        elif key == Qt.Key.Key_Escape and (self._draws_box or self._band is not None):
            self._end_box()
        else:
            # pyqtgraph accepts every key; other keys belong to the window.
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._is_ringed = event.reason() in _BY_KEYS
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._is_ringed = False
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._is_ringed:
            painter = QPainter(self.viewport())
            painter.setPen(QPen(QColor(current_theme().accent), 2.0))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
            painter.end()

    # ------------------------------------------------------------- the button

    def _offer_reset(self, *_changed: object) -> None:
        if self.closed:
            return  # what pyqtgraph closes has no items any more, and is resized all the same
        shown = self.getPlotItem().isVisible() and self.is_zoomed()
        if shown:
            self._place_button()
        self.reset_button.setVisible(shown)

    def _place_button(self) -> None:
        self.reset_button.adjustSize()
        corner = self.mapFromScene(self._box.sceneBoundingRect().topRight())
        left = min(corner.x(), self.width()) - self.reset_button.width() - _CORNER
        self.reset_button.move(left, max(0, corner.y()) + _CORNER)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        # Pyqtgraph calls this before there is a button.
        if hasattr(self, "reset_button"):
            self._offer_reset()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "reset_button"):
            self._offer_reset()

    # ------------------------------------------------------------- standing still

    def keep_still(self, moving: Container[QGraphicsItem]) -> None:
        """Keep pictures of all items but these and their parts."""
        self._stillness.keep(self.scene(), moving)

    def let_go(self) -> None:
        """Paint every item as itself again."""
        self._stillness.end(self.scene())

    def render(self, *arguments: Any) -> None:
        # On paper a line is a line.
        with self._stillness.suspended(self.scene()):
            super().render(*arguments)

    def place_of(self, x: float, y: float) -> QPointF:
        """Return where in the widget a place of the picture is."""
        return QPointF(self.mapFromScene(self._box.mapViewToScene(QPointF(x, y))))
