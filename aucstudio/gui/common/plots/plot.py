"""A plot that a person can zoom and always comes back from.

Pyqtgraph's wheel zooms without end, a double click does nothing, and its menu has no word for a
person who analyses. Its own limits would hold up a range that follows its items
(github.com/pyqtgraph/pyqtgraph/issues/276): they are set while a person zooms. No upstream issue
found for the rest.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

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
from PySide6.QtWidgets import QGraphicsItem, QRubberBand, QToolButton

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.plots.seen import holds_something
from aucstudio.gui.common.plots.still import Stillness
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import named

Range = tuple[float, float]

_AIR = 0.25  # of the whole picture: so far beyond it can be seen
_CLOSEST = 1e-3  # of the whole picture: no less of it can be seen
_STEP, _SHIFT = 1.25, 0.1  # of a key: how much it zooms, and what share of the view it moves
_NEAR = 1e-3  # of the whole picture: a range that is as near to it is the whole one
_LEAST_BOX = 6  # pixels of a box that is drawn on purpose
_FREE = 1e307  # pyqtgraph's word for no limit
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
_SIDES = ("x", "y")


class Plot(pg.PlotWidget):
    """A plot with a way back: double click, the key 0, and a button that is there when needed.

    The wheel, + and −, Shift and dragging (or dragging after :meth:`draw_box`) zoom, as far as the
    whole picture and some air; dragging and the arrow keys move it. What the whole picture is, is
    what a page says with :meth:`set_whole`, else what the items reach.

    Signals
    -------
    restored
        A person asked for the whole picture, and it is shown.
    menu_asked : QPoint
        A person wants the menu, at this place of the screen.

    Attributes
    ----------
    reset_button : QToolButton
    """

    restored = Signal()
    menu_asked = Signal(QPoint)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._whole: list[Range | None] = [None, None]
        self._air = _AIR
        self._reach: list[Range | None] = [None, None]
        self._stillness = Stillness()
        self._box: Any = self.getPlotItem().getViewBox()
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

    def setObjectName(self, name: str) -> None:
        super().setObjectName(name)
        named(self.reset_button, f"{name}_reset_button", "Reset view")

    # ------------------------------------------------------------- the whole

    def set_whole(
        self,
        x: Range | None = None,
        y: Range | None = None,
        *,
        air: float = _AIR,
        reach: tuple[Range, Range] | None = None,
    ) -> None:
        """Say what the whole picture is; a plot that shows the whole goes on showing it.

        Parameters
        ----------
        x, y : (float, float) or None
            None follows the items.
        air : float
            Share of the whole that can be seen beyond it.
        reach : pair of (float, float), optional
            What lies outside and can be seen all the same.
        """
        zoomed = self.is_zoomed()
        self._whole, self._air = [x, y], air
        self._reach = [None, None] if reach is None else list(reach)
        if zoomed:
            self._bound()
        else:
            self.show_whole()

    def show_whole(self) -> None:
        """Show the whole picture, along both axes."""
        self._set_free()
        for axis, whole in enumerate(self._whole):
            if whole is None and self._can_move(axis):
                self._box.enableAutoRange(axis=axis)
            elif whole is not None:
                self._box.setRange(**{f"{_SIDES[axis]}Range": whole}, padding=0)
                self._limit(axis, whole)
        self._offer_reset()

    def reset(self) -> None:
        """Show the whole picture because a person asked for it."""
        self.show_whole()
        self.restored.emit()

    def is_zoomed(self) -> bool:
        """Tell whether something else than the whole picture is shown."""
        return any(self._is_other(axis) for axis in (0, 1) if self._can_move(axis))

    def _is_other(self, axis: int) -> bool:
        whole = self._whole[axis]
        if whole is None:
            return not _follows(self._box, axis)
        near = _NEAR * (whole[1] - whole[0])
        ends = zip(self._box.viewRange()[axis], whole, strict=True)
        return any(abs(seen - wanted) > near for seen, wanted in ends)

    def can_zoom(self) -> bool:
        """Tell whether a person can zoom at all."""
        return self._can_move(0) or self._can_move(1)

    def _can_move(self, axis: int) -> bool:
        return bool(self._box.mouseEnabled()[axis])

    # ------------------------------------------------------------- zooming

    def zoom(self, factor: float) -> None:
        """Show so many times as much, around the middle of the picture."""
        self._go(lambda: self._box.scaleBy(**self._along(factor)))

    def shift(self, axis: int, share: float) -> None:
        """Move the view along an axis by a share of what is seen."""
        low, high = self._box.viewRange()[axis]
        inverted = (self._box.xInverted(), self._box.yInverted())[axis]
        by = share * (high - low) * (-1 if inverted else 1)
        if self._can_move(axis):
            self._bound()
            self._box.translateBy(**{_SIDES[axis]: by})

    def draw_box(self) -> None:
        """Let the next drag draw the box that is shown then."""
        self._draws_box = True
        self.viewport().setCursor(Qt.CursorShape.CrossCursor)

    def _along(self, value: float) -> dict[str, float]:
        return {side: value for axis, side in enumerate(_SIDES) if self._can_move(axis)}

    def _go(self, change: Any) -> None:
        """Change the range within its bounds, unless that would leave nothing to be seen."""
        before = self._box.viewRange()
        self._bound()
        change()
        if self._box.viewRange() != before and not holds_something(self):
            self._box.setRange(xRange=before[0], yRange=before[1], padding=0)

    def _bound(self) -> None:
        """Keep what a person does next near the whole picture.

        Where the range follows the items, that is for as long as it is zoomed: limits would hold
        it up.
        """
        found = self._box.childrenBounds() if None in self._whole else (None, None)
        for axis, whole in enumerate(self._whole):
            known = whole or found[axis]
            if known is not None and self._can_move(axis):
                # Whatever is seen is not to jump because a person touches it.
                seen = () if whole else (tuple(self._box.viewRange()[axis]),)
                self._limit(axis, tuple(known), seen)

    def _limit(self, axis: int, known: Range, seen: tuple[Range, ...] = ()) -> None:
        """Keep an axis within the whole picture, some air, and what else is to be seen."""
        size, reach = known[1] - known[0], self._reach[axis]
        ends = [(known[0] - self._air * size, known[1] + self._air * size), *seen]
        ends += [reach] if reach else []
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        name = _SIDES[axis]
        least = {f"min{name.upper()}Range": _CLOSEST * size}
        self._box.setLimits(**{f"{name}Min": low, f"{name}Max": high}, **least)

    def _set_free(self) -> None:
        ends = {"xMin": -_FREE, "xMax": _FREE, "yMin": -_FREE, "yMax": _FREE}
        self._box.setLimits(**ends, minXRange=None, minYRange=None)

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
        self._bound()
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
        """Give the box from where it was begun to a place, as far as it lies in the picture."""
        inside = self.mapFromScene(self._box.sceneBoundingRect()).boundingRect()
        box = QRect(self._start, place).normalized().intersected(inside)
        for axis, (low, high) in enumerate(
            ((inside.left(), inside.right()), (inside.top(), inside.bottom()))
        ):
            if not self._can_move(axis):
                (box.setLeft, box.setTop)[axis](low)
                (box.setRight, box.setBottom)[axis](high)
        return box

    def _show_box(self, box: QRect) -> None:
        corners = [
            self._box.mapSceneToView(self.mapToScene(corner))
            for corner in (box.bottomLeft(), box.topRight())
        ]
        sides = [sorted(corner.x() for corner in corners), sorted(c.y() for c in corners)]
        chosen = {f"{_SIDES[axis]}Range": sides[axis] for axis in (0, 1) if self._can_move(axis)}
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
            # Pyqtgraph takes every key for itself; what is not for the plot is for the window.
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
        """Give where in the widget a place of the picture is."""
        return QPointF(self.mapFromScene(self._box.mapViewToScene(QPointF(x, y))))


def _follows(box: Any, axis: int) -> bool:
    """Tell whether an axis follows its items, or that of another plot which does."""
    linked = box.linkedView(axis)
    following: Sequence[object] = (box if linked is None else linked).autoRangeEnabled()
    return following[axis] is not False
