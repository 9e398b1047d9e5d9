"""Layouts in one line, cards, scroll areas, and the position of windows."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QGuiApplication,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QScrollArea,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.widgets import label, named

Around = int | tuple[int, int, int, int]
Item = QWidget | QLayout
Part = Item | int | tuple[Item, int | Qt.AlignmentFlag] | None
Box = TypeVar("Box", bound=QBoxLayout)
STRETCH = None  # takes the remaining room
TOP, LEFT, RIGHT = (
    Qt.AlignmentFlag.AlignTop,
    Qt.AlignmentFlag.AlignLeft,
    Qt.AlignmentFlag.AlignRight,
)


def across(*parts: Part, gap: int = 8, around: Around = 0) -> QHBoxLayout:
    """Return a layout of parts side by side.

    Parameters
    ----------
    parts : QWidget, QLayout, int, tuple or None
        A number is a space in pixels; None takes the remaining room. A tuple is a part with its
        stretch or its alignment.
    gap : int
        Pixels between the parts.
    around : int or tuple of int
        Pixels around them: left, top, right, bottom.
    """
    return _filled(QHBoxLayout(), parts, gap, around)


def down(*parts: Part, gap: int = 8, around: Around = 0) -> QVBoxLayout:
    """Return a layout of parts below each other; see :func:`across`."""
    return _filled(QVBoxLayout(), parts, gap, around)


def grid(*, gaps: tuple[int, int], wide: int, top: int = 0) -> QGridLayout:
    """Return an empty grid.

    Parameters
    ----------
    gaps : (int, int)
        Pixels between the columns and between the rows.
    wide : int
        The column that takes the remaining room.
    top : int
        Pixels above it.
    """
    made = QGridLayout()
    made.setContentsMargins(0, top, 0, 0)
    made.setHorizontalSpacing(gaps[0])
    made.setVerticalSpacing(gaps[1])
    made.setColumnStretch(wide, 1)
    return made


class _ScrollArea(QScrollArea):
    """Scrolls to the widget that takes the focus, as by Tab from outside or a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def showEvent(self, event: QShowEvent) -> None:
        """Leave the focus to the controls within; only an area of text is scrolled by keys."""
        inner, by_tab = self.findChildren(QWidget), Qt.FocusPolicy.TabFocus
        has_controls = any(one.focusPolicy() & by_tab for one in inner)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if has_controls else Qt.FocusPolicy.StrongFocus)
        super().showEvent(event)

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        # A window that is activated again stays as it was; what is clicked must not move away.
        is_clicked = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if old is not None and new is not None and self.isAncestorOf(new) and not is_clicked:
            self.ensureWidgetVisible(new)


def scrolled(inner: QWidget | QLayout, name: str = "", accessible: str = "") -> QScrollArea:
    """Return an area that scrolls a widget or a layout vertically."""
    made = named(_ScrollArea(), name, accessible)
    made.setWidget(inner if isinstance(inner, QWidget) else holding(inner))
    made.setWidgetResizable(True)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return made


def holding(layout: QLayout) -> QWidget:
    """Make a widget that holds a layout."""
    made = QWidget()
    made.setLayout(layout)
    return made


def discard(widget: QWidget) -> None:
    """Delete a widget, which is no longer found by its name."""
    widget.hide()
    widget.setParent(None)
    widget.deleteLater()


def empty(layout: QLayout) -> None:
    """Delete the widgets of a layout."""
    for one in members(layout):
        if isinstance(one, QWidget):
            discard(one)


def _filled(box: Box, parts: tuple[Part, ...], gap: int, around: Around) -> Box:
    box.setSpacing(gap)
    edges = (around,) * 4 if isinstance(around, int) else around
    box.setContentsMargins(*edges)
    fill(box, *parts)
    return box


def fill(box: QBoxLayout, *parts: Part) -> None:
    """Add parts to a layout; see :func:`across`."""
    for part in parts:
        if part is None:
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        elif isinstance(part, tuple):
            _add(box, *part)
        else:
            _add(box, part, 0)


def _add(box: QBoxLayout, item: Item, how: int | Qt.AlignmentFlag) -> None:
    is_side = isinstance(how, Qt.AlignmentFlag)  # also a number
    if isinstance(item, QLayout):
        box.addLayout(item, 0 if is_side else how)
    else:
        box.addWidget(item, 0 if is_side else how)
    if is_side:
        box.setAlignment(item, Qt.AlignmentFlag(how))


class Card(QFrame):
    """A titled group on the 8-pixel grid.

    Attributes
    ----------
    heading : QLabel
        If there is a title; Alt and the letter marked in the title move the focus to its buddy.
    """

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self.setObjectName("card")
        self.rows = QVBoxLayout(self)
        self.rows.setContentsMargins(16, 12, 16, 14)
        self.rows.setSpacing(8)
        if title:
            self.heading = label(title.upper(), "heading")
            self.rows.addWidget(self.heading)


def card_around(widget: QWidget) -> Card:
    """Return a card that holds one widget."""
    card = Card()
    card.rows.setContentsMargins(8, 4, 8, 8)
    card.rows.addWidget(widget)
    return card


class Panes(QSplitter):
    """Parts of which the user moves the borders, and closes none."""

    def __init__(self, side: Qt.Orientation = Qt.Orientation.Vertical) -> None:
        super().__init__(side)
        self.setHandleWidth(8)
        self.setChildrenCollapsible(False)


class RoomyTabs(QTabWidget):
    """Tabs of which only the one in front asks for room: a low screen has none for the others."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        return least_size(self.currentWidget()) + QSize(0, self.tabBar().sizeHint().height())


def least_size(widget: QWidget | None) -> QSize:
    """Return the room that a widget asks for, if there is one."""
    if widget is None:
        return QSize(0, 0)
    return widget.minimumSizeHint().expandedTo(widget.minimumSize())


def members(layout: QLayout) -> list[QWidget | QLayout]:
    """Return the widgets and layouts of a layout, in its order; those of a grid by their places.

    PySide keeps what ``QLayout.itemAt`` returns as long as the layout, also after Qt has deleted
    the item. It then takes any object of Qt at the same address for that item, so that overridden
    methods of a new widget are not called.
    """
    around, direct = layout.parentWidget(), Qt.FindChildOption.FindDirectChildrenOnly
    widgets = around.findChildren(QWidget, options=direct) if around is not None else []
    parts: list[QWidget | QLayout] = [*widgets, *layout.findChildren(QLayout, options=direct)]
    found = [(place, one) for one in parts if (place := layout.indexOf(one)) >= 0]
    if isinstance(layout, QGridLayout):
        rows = ((layout.getItemPosition(place)[:2], one) for place, one in found)  # type: ignore[index]
        return [one for _place, one in sorted(rows, key=lambda each: each[0])]
    return [one for _place, one in sorted(found, key=lambda each: each[0])]


def keep_room(part: QWidget) -> None:
    """Leave the room of a part empty while it is hidden, so that others do not move."""
    room = part.sizePolicy()
    room.setRetainSizeWhenHidden(True)
    part.setSizePolicy(room)


FRAME = QSize(16, 48)  # added by the desktop to a window when it is shown
_LEAST_SHOWN = 48  # pixels of a window that must be visible on a screen


def on_some_screen(wanted: QRect, least: QSize) -> QRect:
    """Return the position of a window, moved onto a screen if too little of it would be visible.

    A window that is larger than its screen is made smaller, with room for its frame.
    """
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    rect = QRect(wanted.topLeft(), wanted.size().expandedTo(least))
    for area in screens:
        seen = area.intersected(rect)
        top_is_seen = area.top() <= rect.top() <= area.bottom() - _LEAST_SHOWN
        if seen.width() >= _LEAST_SHOWN and top_is_seen:
            fits = rect.size() == rect.size().boundedTo(area.size())
            return rect if fits else within(rect, area)
    area = QGuiApplication.primaryScreen().availableGeometry()
    rect.setSize(rect.size().boundedTo(area.size()))
    rect.moveCenter(area.center())
    return rect


def within(rect: QRect, area: QRect) -> QRect:
    """Return the nearest position at which a window and its frame are on the screen."""
    aside, above = FRAME.width() // 2, FRAME.height() - FRAME.width() // 2
    inside = area.adjusted(aside, above, -aside, -aside)
    size = rect.size().boundedTo(inside.size())
    left = min(max(rect.left(), inside.left()), inside.left() + inside.width() - size.width())
    top = min(max(rect.top(), inside.top()), inside.top() + inside.height() - size.height())
    return QRect(QPoint(left, top), size)
