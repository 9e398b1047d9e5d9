"""Menu entries."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from aucstudio.gui.common.plain_text import plain_tooltip


def make_action(
    parent: QObject,
    name: str,
    words: str,
    tip: str = "",
    *,
    verb: Callable[[], object] | None = None,
    checkable: bool = False,
) -> QAction:
    """Make an action; it is added where its parent is a menu."""
    action = QAction(words, parent)
    action.setObjectName(name)
    action.setCheckable(checkable)
    if tip:
        plain_tooltip(action, tip)
    if verb is not None:
        action.triggered.connect(lambda _on=False: verb())
    if isinstance(parent, QMenu):
        parent.addAction(action)
    return action


def make_menu(parent: QWidget, name: str) -> QMenu:
    """Make a menu that ends when it is closed."""
    menu = QMenu(parent)
    menu.setObjectName(name)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu
