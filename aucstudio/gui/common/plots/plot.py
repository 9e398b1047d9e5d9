"""A plot with zoom and reset, the values under its pointer, and its menu.

Pyqtgraph's wheel zooms without end, a double click does nothing, and its menu has no word for a
person who analyses. No upstream issue found.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import (
    QEvent,
    QKeyCombination,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmapCache,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QComboBox, QGraphicsItem, QMenu, QRubberBand, QToolButton, QWidget

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.buttons import make_action, make_menu
from aucstudio.gui.common.plain_text import PlainLabel, plain_tooltip
from aucstudio.gui.common.plots.frame import PlotFrame
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import named, scroll_area_of
from aucstudio.gui.state.plan import RunLook

Range = tuple[float, float]

_AIR = 0.25  # share of the full extent that is visible beyond it
_CLOSEST = 1e-3  # smallest visible share of the full extent
_NEAR = 1e-3  # relative tolerance of the full extent
_FREE = 1e307  # pyqtgraph's value for no limit
_STEP, _SHIFT = 1.25, 0.1  # of a key: how much it zooms, and what share of the view it moves
_LEAST_BOX = 6  # pixels of a box that is drawn on purpose
_CORNER = 6  # pixels by which the button may reach over the axis
_KEPT_KILOBYTES = 96 * 1024
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
_ZOOMS = {
    Qt.Key.Key_Plus: 1 / _STEP,
    Qt.Key.Key_Equal: 1 / _STEP,
    Qt.Key.Key_Minus: _STEP,
    Qt.Key.Key_Underscore: _STEP,
}


class Plot(pg.GraphicsView):
    """A plot with a way back: double click, the key 0, and a button that is there when needed.

    The wheel (in a page that scrolls, with Ctrl), + and −, Shift and dragging (or dragging after
    :meth:`draw_box`) zoom, as far as the full extent and some air; dragging and the arrow keys move
    it. A page states the full extent with :meth:`set_whole`.

    Signals
    -------
    hovered : QPointF or None
        The place of the picture under the pointer.
    clicked : QPointF
        The place of the picture that was clicked with the left button.
    restored
        The user has reset the view.
    menu_asked : QPoint
        The user has requested the menu at this position on the screen.

    Attributes
    ----------
    reset_button : QToolButton
    frame : PlotFrame
        The picture with its axes.
    whole : pair of (float, float) or None
        The full extent along both axes.
    hidden_legend : sequence of (str, RunLook or QPen)
        Entries of the legend that the plot has no room for; a saved picture lists them below.
    """

    restored = Signal()
    hovered = Signal(object)
    clicked = Signal(QPointF)
    menu_asked = Signal(QPoint)

    def __init__(self, axes: Sequence[pg.AxisItem]) -> None:
        super().__init__()
        self.hidden_legend: Sequence[tuple[str, RunLook | QPen]] = ()
        self.frame = PlotFrame(axes)
        self.setCentralItem(self.frame)
        self._box = self.frame.box
        self._items: list[QGraphicsItem] = []
        self.whole: tuple[Range, Range] | None = None
        self._moving: Container[QGraphicsItem] | None = None
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
        self.scene().sigMouseClicked.connect(self._on_click)
        self.scene().sigMouseMoved.connect(
            lambda position: self.hovered.emit(self._inside(position))
        )

    def close(self) -> bool:
        # pyqtgraph's own takes the picture out of its scene, and leaves it to the collector.
        return QWidget.close(self)

    def setObjectName(self, name: str) -> None:
        super().setObjectName(name)
        named(self.reset_button, f"{name}_reset_button", "Reset view")

    # ------------------------------------------------------------- content

    def getViewBox(self) -> Any:
        return self._box

    def getAxis(self, side: str) -> Any:
        return self.frame.axes[side]

    def setLabel(self, side: str, title: str, **style: Any) -> None:
        """Set the title of an axis."""
        self.getAxis(side).setLabel(title, **style)

    def addItem(self, *items: QGraphicsItem, **how: bool) -> None:
        for item in items:
            self._items.append(item)
            self._box.addItem(item, **how)

    def removeItem(self, *items: QGraphicsItem) -> None:
        for item in items:
            if item in self._items:
                self._items.remove(item)
                self._box.removeItem(item)

    def clear(self) -> None:
        """Remove all items."""
        self.removeItem(*self._items)

    # ------------------------------------------------------------- full extent

    def set_whole(
        self, x: Range, y: Range, *, air: float = _AIR, reach: tuple[Range, Range] | None = None
    ) -> None:
        """Set the full extent; a plot that shows it follows.

        Parameters
        ----------
        x, y : (float, float)
        air : float
            Share of the extent that is visible beyond it.
        reach : pair of (float, float), optional
            What lies outside and can be seen all the same.
        """
        zoomed = self.is_zoomed()
        self.whole = x, y
        if not zoomed:
            bounds = {"xMin": -_FREE, "xMax": _FREE, "yMin": -_FREE, "yMax": _FREE}
            # The closest view of a much larger extent would be wider than this one.
            self._box.setLimits(**bounds, minXRange=0.0, minYRange=0.0)
            self.show_whole()
        limits = {}
        for name, (low, high), beyond in zip("xy", (x, y), reach or (x, y), strict=True):
            size = high - low
            limits[f"{name}Min"] = min(low - air * size, beyond[0])
            limits[f"{name}Max"] = max(high + air * size, beyond[1])
            limits[f"min{name.upper()}Range"] = _CLOSEST * size
        self._box.setLimits(**limits)

    def show_whole(self) -> None:
        """Show the full extent of both axes."""
        if self.whole is not None:
            self._box.setRange(xRange=self.whole[0], yRange=self.whole[1], padding=0)
        self._offer_reset()

    def reset(self) -> None:
        """Show the full extent at the user's request."""
        if self.can_zoom():
            self.show_whole()
            self.restored.emit()

    def is_zoomed(self) -> bool:
        """Return whether the view is not the full extent."""
        if self.whole is None or not self.can_zoom():
            return False
        sides = zip(self._box.viewRange(), self.whole, strict=True)
        return any(np.abs(np.subtract(*side)).max() > _NEAR * np.ptp(side[1]) for side in sides)

    def can_zoom(self) -> bool:
        """Return whether the user can zoom."""
        return any(self._box.mouseEnabled())

    # ------------------------------------------------------------- zooming

    def zoom(self, factor: float) -> None:
        """Show so many times as much, around the middle of the picture."""
        self._box.scaleBy(**self._along(factor, factor))

    def shift(self, axis: int, share: float) -> None:
        """Move the view along an axis by a share of the visible range."""
        sign = -1 if (self._box.xInverted(), self._box.yInverted())[axis] else 1
        by = sign * share * float(np.ptp(self._box.viewRange()[axis]))
        self._box.translateBy(**self._along(*((by, 0.0) if axis == 0 else (0.0, by))))

    def draw_box(self) -> None:
        """Prepare the zoom box for the next drag."""
        self._draws_box = True
        self.viewport().setCursor(Qt.CursorShape.CrossCursor)

    def wheelEvent(self, event: QWheelEvent) -> None:
        # A page that scrolls keeps the wheel; Ctrl zooms there.
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier or scroll_area_of(self) is None:
            super().wheelEvent(event)
        else:
            event.ignore()

    def _along(self, x: Any, y: Any, ending: str = "") -> dict[str, Any]:
        """Return values by the names of the axes that the user can move."""
        can_move = zip(("x", "y"), (x, y), self._box.mouseEnabled(), strict=True)
        return {f"{name}{ending}": value for name, value, moves in can_move if moves}

    # ------------------------------------------------------------- pointing

    def mousePressEvent(self, event: QMouseEvent) -> None:
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        left = event.button() == Qt.MouseButton.LeftButton
        if not (left and self.can_zoom() and (shift or self._draws_box)):
            super().mousePressEvent(event)
            return
        # The scene is not notified: whatever lies there would be dragged.
        self._start = event.position().toPoint()
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, self.viewport())
        self._band.setGeometry(QRect(self._start, QSize()))
        self._band.show()
        event.accept()

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
            seen = self._box.mapSceneToView(self.mapToScene(box)).boundingRect()
            x, y = (seen.left(), seen.right()), (seen.top(), seen.bottom())
            self._box.setRange(**self._along(x, y, "Range"), padding=0)

    def _boxed(self, place: QPoint) -> QRect:
        """Return the box from its origin to a position, clipped to the picture."""
        inside = self.mapFromScene(self._box.sceneBoundingRect()).boundingRect()
        return QRect(self._start, place).normalized().intersected(inside)

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

    def place_of(self, x: float, y: float) -> QPointF:
        """Return where in the widget a place of the picture is."""
        return QPointF(self.mapFromScene(self._box.mapViewToScene(QPointF(x, y))))

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
        if key in _ZOOMS:
            self.zoom(_ZOOMS[key])
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
            # Around the curves: titles of axes reach the edges of the plot.
            painter.drawRect(self.mapFromScene(self._box.sceneBoundingRect()).boundingRect())
            painter.end()

    # ------------------------------------------------------------- the button

    def _offer_reset(self, *_changed: object) -> None:
        if self.closed:
            return  # what pyqtgraph closes has no items any more, and is resized all the same
        shown = self.frame.isVisible() and self.is_zoomed()
        self.reset_button.setVisible(shown)
        if shown:
            # Beside the axes, not over the curves: below, or above where the numbers are left out.
            self.reset_button.adjustSize()
            end = self.mapFromScene(self._box.sceneBoundingRect().bottomLeft()).y()
            under = self.height() - self.reset_button.height()
            self.reset_button.move(0, under if under + _CORNER >= end else 0)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        # Pyqtgraph calls this before there is a button.
        if hasattr(self, "reset_button"):
            self._offer_reset()

    # ------------------------------------------------------------- static items

    def keep_still(self, moving: Container[QGraphicsItem] | None) -> None:
        """Paint all items but these and their parts from cached pictures; None ends it.

        Qt paints the pictures of items in a third of the time that the items take in Python, and
        without the interpreter, for which work in the background would wait
        (github.com/pyqtgraph/pyqtgraph/issues/3362).
        """
        if moving is None and self._moving is None:
            return
        self._moving, mode = moving, QGraphicsItem.CacheMode
        # All of a plot's pictures have to be there at once; Qt's own limit is less than two plots.
        QPixmapCache.setCacheLimit(_KEPT_KILOBYTES)
        for item in self.scene().items():
            moves = moving is None or item in moving or item.parentItem() in moving
            wanted = mode.DeviceCoordinateCache if _is_painted(item) and not moves else mode.NoCache
            if item.cacheMode() != wanted:
                item.setCacheMode(wanted)

    def render(self, *arguments: Any) -> None:
        # On paper a line is a line, not a cached picture.
        moving = self._moving
        self.keep_still(None)
        super().render(*arguments)
        self.keep_still(moving)


def _is_painted(item: QGraphicsItem) -> bool:
    """Return whether an item paints something itself."""
    if item.flags() & QGraphicsItem.GraphicsItemFlag.ItemHasNoContents:
        return False
    return isinstance(item, pg.AxisItem) or not item.isWidget()


_APART = 14  # pixels between the pointer and the words
_LINE = 40  # letters
_BETWEEN = "   "  # what parts of the words may be put on lines of their own


class Readout(PlainLabel):
    """A text at the pointer, over the plot that it describes; not part of saved pictures.

    Parameters
    ----------
    name, accessible : str
    owner : QWidget
        Its parent until it is first shown over a plot.
    """

    def __init__(self, name: str, accessible: str, owner: QWidget) -> None:
        super().__init__()
        self.setParent(owner)
        self._plot: QWidget | None = None
        named(self, name, accessible)
        self.setProperty("role", "readout")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._words = ""
        self.hide()

    def text(self) -> str:
        return self._words

    def watch(self, plot: Plot, describe: Callable[[QPointF], str]) -> Readout:
        """Show the description of a position at the pointer, if it is not empty; return this."""

        def on_hover(place: QPointF | None) -> None:
            words = "" if place is None else describe(place)
            if place is not None and words:
                self.show_at(plot, place, words)
            else:
                self.show_nothing()

        plot.hovered.connect(on_hover)
        return self

    def show_at(self, plot: Plot, place: QPointF, words: str) -> None:
        """Show a text next to a position in a plot."""
        self._words = words
        if self._plot is not plot:
            self._plot = plot
            self.setParent(plot)
            plot.installEventFilter(self)
        self.setText(in_lines(words))
        self.adjustSize()
        self.move(self._beside(plot.place_of(place.x(), place.y()).toPoint(), plot))
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.show_nothing()
        return super().eventFilter(watched, event)

    def show_nothing(self) -> None:
        """Hide the text."""
        self._words = ""
        self.hide()

    def _beside(self, place: QPoint, plot: QWidget) -> QPoint:
        """Return the position of the text in the plot: right of and above a place if possible."""
        left = place.x() + _APART
        if left + self.width() > plot.width():
            left = place.x() - _APART - self.width()
        top = place.y() - _APART - self.height()
        if top < 0:
            top = place.y() + _APART
        return QPoint(
            max(0, min(left, plot.width() - self.width())),
            max(0, min(top, plot.height() - self.height())),
        )


def in_lines(words: str) -> str:
    """Wrap parts into lines; the first part has a line of its own."""
    first, *rest = words.split(_BETWEEN)
    lines = [first]
    for k, part in enumerate(rest):
        longer = f"{lines[-1]}{_BETWEEN}{part}"
        if k and len(longer) <= _LINE:
            lines[-1] = longer
        else:
            lines.append(part)
    return "\n".join(lines)


def plot_menu(plot: Plot, verbs: Iterable[QAction], axes: Sequence[QComboBox]) -> QMenu:
    """Make the menu of a plot.

    Parameters
    ----------
    plot : Plot
    verbs : iterable of QAction
        The window's, of the picture and the numbers behind it.
    axes : sequence of QComboBox
        The page's lists of axes; those that are shown are offered.
    """
    menu = make_menu(plot, "plot_menu")
    menu.addActions(list(verbs))
    menu.addSeparator()
    reset = make_action(menu, "plot_reset_action", "Reset view", verb=plot.reset)
    # Seen here, answered by the plot: a shortcut of the window would take it everywhere.
    reset.setShortcut(QKeySequence(QKeyCombination(Qt.Key.Key_0)))
    reset.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    box = "Zoom to a box (Shift and drag)"
    make_action(menu, "plot_box_action", box, verb=plot.draw_box)
    for action in menu.actions()[-2:]:
        action.setEnabled(plot.can_zoom())
    shown = [combo for combo in axes if combo.isVisibleTo(combo.window()) and combo.isEnabled()]
    if shown:
        _add_axes(menu.addMenu("Axes"), shown)
    return menu


def _add_axes(menu: QMenu, combos: Sequence[QComboBox]) -> None:
    """Offer what lists offer, list by list."""
    menu.setObjectName("plot_axes_menu")
    for combo in combos:
        menu.addSeparator()
        group = QActionGroup(menu)
        for k in range(combo.count()):
            name, verb = f"{combo.objectName()}_{k}_action", partial(_choose, combo, k)
            action = make_action(menu, name, combo.itemText(k), verb=verb, checkable=True)
            action.setChecked(k == combo.currentIndex())
            group.addAction(action)


def _choose(combo: QComboBox, index: int) -> None:
    combo.setCurrentIndex(index)
    combo.activated.emit(index)  # as if it had been chosen there
