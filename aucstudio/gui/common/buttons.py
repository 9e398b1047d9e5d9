"""Buttons, actions and menus, with the words of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import (
    QAction,
    QFocusEvent,
    QIcon,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QMenu,
    QMessageBox,
    QPushButton,
    QRadioButton,
    QToolButton,
    QWidget,
)

from aucstudio.gui.common.layouts import LEFT, down, holding
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import named
from aucstudio.gui.state.session import Session
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import as_sentence


class Radio(QRadioButton):
    """One of a group of choices; Tab moves to the one that is chosen, arrow keys to the others."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        group = self.group()
        chosen = None if group is None else group.checkedButton()
        if chosen not in (None, self) and event.reason() in _BY_TAB:
            chosen.setFocus(event.reason())


_BY_TAB = Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason


class _EndButtons(QDialogButtonBox):
    """A row of buttons that Tab visits from the first one; Qt would start at the default one."""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.setFocusProxy(None)  # type: ignore[arg-type]


def dialog_buttons(*kinds: QDialogButtonBox.StandardButton, name: str) -> QDialogButtonBox:
    """Make the row of buttons of a dialog."""
    box = _EndButtons()
    for kind in kinds:
        box.addButton(kind)
    name_buttons(box, name)
    return box


def answers(
    dialog: QDialog,
    name: str,
    accept: Callable[[], None],
    words: str = "",
    kind: QDialogButtonBox.StandardButton = QDialogButtonBox.StandardButton.Ok,
    leave: QDialogButtonBox.StandardButton = QDialogButtonBox.StandardButton.Cancel,
) -> QDialogButtonBox:
    """Make the buttons that accept a dialog, perhaps with another text, or leave it."""
    made = dialog_buttons(kind, leave, name=name)
    button = primary(made.button(kind))
    if words:
        button.setText(words)
    made.accepted.connect(accept)
    made.rejected.connect(dialog.reject)
    return made


def name_buttons(box: QDialogButtonBox | QMessageBox, name: str) -> None:
    """Name the buttons of a dialog by their text, as in ``name_cancel_button``.

    Icons that some desktops add are removed, as they do not fit the style of the window.
    """
    for button in box.buttons():
        button.setIcon(QIcon())
        words = button.text().replace("&", "").rstrip(".…")
        named(button, f"{name}_{words.lower().replace(' ', '_')}_button", words)


def primary(button: QPushButton) -> QPushButton:
    """Style a button as the primary one."""
    button.setProperty("primary", True)
    return button


def link_button(name: str, accessible: str = "") -> QPushButton:
    """Make a button in the style of a link, which is checked while it shows more."""
    made = named(QPushButton(), name, accessible)
    made.setProperty("link", True)
    made.setCheckable(True)
    return made


def fold_mark(is_open: bool) -> str:
    """Return the mark before the text of a button that shows more."""
    return "▾" if is_open else "▸"


class Fold(QWidget):
    """A heading that shows or hides the widgets below it.

    Parameters
    ----------
    name, title : str
    inner : sequence of QWidget

    Attributes
    ----------
    button : QPushButton
        Checked while they are shown.
    """

    def __init__(self, name: str, title: str, inner: Sequence[QWidget]) -> None:
        super().__init__()
        self._title = title
        self.button = link_button(name, title)
        self._body = holding(down(*inner))
        self.setLayout(down((self.button, LEFT), self._body, gap=4))
        self.button.toggled.connect(self._on_toggled)
        self._on_toggled(False)

    def retitle(self, title: str) -> None:
        """Set the text of the heading."""
        self._title = title
        self._on_toggled(self.button.isChecked())

    def _on_toggled(self, shown: bool) -> None:
        self.button.setText(f"{fold_mark(shown)} {self._title}")
        self._body.setVisible(shown)


def push_button(
    name: str,
    words: str = "",
    tip: str = "",
    verb: Callable[[], object] | None = None,
    *,
    accessible: str = "",
    enter: bool = True,
    like: str = "",
) -> QPushButton:
    """Make a button; texts that are not given are those of the catalogue.

    Parameters
    ----------
    name, words, tip : str
    verb : callable, optional
        Called when the button is clicked.
    accessible : str
        The accessible name, if it is not the words.
    enter : bool
        Whether Enter in a field of a dialog may press it.
    like : str
        Entry of the catalogue, if it is not ``name``.
    """
    made = named(QPushButton(words), name, accessible, like=like)
    if not enter:
        made.setAutoDefault(False)
    if tip:
        plain_tooltip(made, tip)
    if verb is not None:
        made.clicked.connect(lambda _on: verb())
    return made


def tool_button(name: str, verb: Callable[[], object] | None = None) -> QToolButton:
    """Make a flat button with the words of the catalogue."""
    made = named(QToolButton(), name)
    if verb is not None:
        made.clicked.connect(lambda _on: verb())
    return made


def check_box(name: str) -> QCheckBox:
    """Make a check box with the texts of the catalogue."""
    return named(QCheckBox(), name)


_COMBINE = (
    "Combine the checked runs into one without refitting. Its weights are chosen on held-out "
    "rows, never on the rows that test it"
)


def make_action(
    parent: QObject,
    name: str,
    words: str = "",
    tip: str = "",
    *,
    verb: Callable[[], object] | None = None,
    checkable: bool = False,
    checked: bool | None = None,
    enabled: bool = True,
) -> QAction:
    """Make an action, and add it if its parent is a menu; texts are those of the catalogue.

    ``checked`` makes it checkable.
    """
    known = control_words(name)
    action = QAction(words or known.get("text", ""), parent)
    action.setObjectName(name)
    action.setCheckable(checkable or checked is not None)
    action.setChecked(bool(checked))
    action.setEnabled(enabled)
    if tip := tip or known.get("tip", ""):
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
