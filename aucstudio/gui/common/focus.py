"""Moving the focus, and the order in which Tab visits controls."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QLayout,
    QPushButton,
    QScrollArea,
    QSplitter,
    QToolButton,
    QWidget,
)

from aucstudio.gui.common.layouts import members


def focus_within(part: QWidget, main: QWidget | None = None) -> None:
    """Move the focus to the main control of a part of the window.

    If that is absent or hidden, it moves to the control that has had it, or to the first one.
    """
    fields = (one for one in part.findChildren(QWidget) if one.focusPolicy() & _BY_TAB)
    seen = [one for one in fields if one.isVisible() and one.isEnabled()]
    for field in (main, part.focusWidget(), *seen[:1]):
        if field in seen:
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return


def press_focused(window: QWidget, event: QKeyEvent) -> bool:
    """Press the button that has the focus by Enter, as Space does; return whether there is one."""
    button = window.focusWidget()
    is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat()
    if is_enter and isinstance(button, QPushButton | QToolButton):
        button.click()
        return True
    return False


def order_tabs(layout: QLayout) -> None:
    """Make Tab visit the controls in the order of a layout."""
    for one, following in itertools.pairwise(_controls(layout)):
        QWidget.setTabOrder(one, following)


def _controls(layout: QLayout) -> Iterator[QWidget]:
    """Yield the widgets of a layout that Tab reaches, in its order."""
    for one in members(layout):
        yield from _controls(one) if isinstance(one, QLayout) else _controls_within(one)


def _controls_within(widget: QWidget) -> Iterator[QWidget]:
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if isinstance(widget, QScrollArea):
        if (inner := widget.widget()) is not None:
            yield from _controls_within(inner)
    elif (layout := widget.layout()) is not None:
        yield from _controls(layout)
    elif isinstance(widget, QSplitter):
        for place in range(widget.count()):
            if (pane := widget.widget(place)) is not None:
                yield from _controls_within(pane)


_BY_TAB = Qt.FocusPolicy.TabFocus
