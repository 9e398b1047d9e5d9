"""Every question the window asks goes through here, so that tests can answer in its place."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from aucstudio.gui.common.plain import PlainLabel, message_box
from aucstudio.gui.common.widgets import dialog_buttons, name_buttons, named
from aucstudio.gui.state.preferences import preferences
from aucstudio.project.errors import InputError

TABLES = "Tables (*.csv *.tsv *.txt *.dat *.parquet);;All files (*)"
MODELS = "AUC Studio models (*.aucmodel)"

_BUTTON = QDialogButtonBox.StandardButton


def ask_open_path(parent: QWidget, title: str, filters: str, folder: str = "") -> str | None:
    """Ask for a file that exists; None if there is no answer."""
    path, _ = QFileDialog.getOpenFileName(parent, title, folder or _last_folder(filters), filters)
    return _noted(path, filters)


def ask_save_path(parent: QWidget, title: str, suggested: str, filters: str) -> str | None:
    """Ask where to save; None if there is no answer."""
    suggested = os.path.join(_last_folder(filters), suggested)
    path, _ = QFileDialog.getSaveFileName(parent, title, suggested, filters)
    return _noted(path, filters)


def _last_folder(filters: str) -> str:
    """Give the folder where a file of this kind was last opened or saved."""
    folder = preferences().now.folders.get(_kind(filters), "")
    return folder if os.path.isdir(folder) else ""


def _noted(path: str, filters: str) -> str | None:
    if path:
        preferences().put_in("folders", _kind(filters), os.path.dirname(os.path.abspath(path)))
    return path or None


def _kind(filters: str) -> str:
    return filters.split(" (")[0]


def with_ending(path: str, ending: str) -> Path:
    """Give the path to save to: the one that was typed, with the ending added if it has another.

    Raises
    ------
    InputError
        If that names a file which is there: the dialog has asked about the typed name only.
    """
    typed = Path(path)
    if typed.name.lower().endswith(ending):
        return typed
    ended = typed.with_name(typed.name + ending)
    if os.path.lexists(ended):
        raise InputError(
            f"{ended} exists already, and nothing was saved: choose another name, or type "
            f"{ended.name} to replace it",
            file=str(ended),
        )
    return ended


def ask_text(parent: QWidget, title: str, label: str, text: str) -> str | None:
    """Ask for a line of text; None if there is no answer."""
    dialog = QDialog(parent)
    dialog.setObjectName("text_prompt")
    dialog.setWindowTitle(title)
    edit = named(QLineEdit(text), "text_prompt_edit", label)
    edit.selectAll()
    buttons = dialog_buttons(_BUTTON.Ok, _BUTTON.Cancel, name="text_prompt")
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    layout = QVBoxLayout(dialog)
    for widget in (PlainLabel(label), edit, buttons):
        layout.addWidget(widget)
    accepted = dialog.exec()
    dialog.deleteLater()
    return edit.text().strip() or None if accepted else None


def show_error(parent: QWidget, sentence: str, details: str = "") -> None:
    """Say what went wrong; the traceback is one click away."""
    box = message_box(QMessageBox.Icon.Warning, "AUC Studio", sentence, parent)
    box.addButton(QMessageBox.StandardButton.Ok)
    if details:
        box.setDetailedText(details)
    _ask(box, "error_prompt")


Answered = Callable[[str | None], object]


def ask_choice(
    parent: QWidget,
    title: str,
    text: str,
    choices: Sequence[tuple[str, str]],
    answered: Answered,
) -> None:
    """Ask for one of several ways to go on, or none; returns at once.

    Parameters
    ----------
    parent : QWidget
    title, text : str
    choices : sequence of (str, str)
        Key and words; the first one is the default.
    answered : callable
        Told the key, or None if it was cancelled.
    """
    box = message_box(QMessageBox.Icon.Question, title, text, parent)
    role = QMessageBox.ButtonRole.AcceptRole
    buttons = [(box.addButton(words, role), key) for key, words in choices]
    box.setDefaultButton(buttons[0][0])
    box.setEscapeButton(box.addButton(QMessageBox.StandardButton.Cancel))
    box.setObjectName("choice_prompt")
    for button, key in buttons:
        named(button, f"choice_{key.replace(' ', '_')}", button.text().replace("&", ""))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def finish(_code: int) -> None:
        clicked = box.clickedButton()
        answered(next((key for button, key in buttons if button is clicked), None))

    box.finished.connect(finish)
    box.open()


def show_text(parent: QWidget, title: str, text: str) -> None:
    """Show something to read."""
    box = message_box(QMessageBox.Icon.NoIcon, title, text, parent)
    box.addButton(QMessageBox.StandardButton.Ok)
    _ask(box, "text_message")


def _ask(box: QMessageBox, name: str) -> None:
    box.setObjectName(name)
    name_buttons(box, name)
    box.exec()
    box.deleteLater()
