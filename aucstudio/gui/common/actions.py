"""Actions and menus."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.state.session import Session
from aucstudio.notices.words import as_sentence

_COMBINE = (
    "Combine the checked runs into one without refitting. Its weights are chosen on held-out "
    "rows, never on the rows that test it"
)


def make_action(
    parent: QObject,
    name: str,
    words: str,
    tip: str = "",
    *,
    verb: Callable[[], object] | None = None,
    checkable: bool = False,
) -> QAction:
    """Make an action, and add it if its parent is a menu."""
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
    """Make a menu that is deleted when it is closed."""
    menu = QMenu(parent)
    menu.setObjectName(name)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


def offer_combination(action: QAction, session: Session) -> None:
    """Enable the action that combines the checked runs, or state why they cannot be combined."""
    refusal = session.runs.why_not_combined()
    action.setEnabled(not refusal)
    plain_tooltip(action, as_sentence(refusal or _COMBINE))
