"""Every question the window asks goes through here, so that tests can answer in its place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFileDialog,
    QMessageBox,
    QWidget,
)

from aucstudio.gui.common.plain import message_box
from aucstudio.gui.common.widgets import name_buttons, named
from aucstudio.gui.state.preferences import preferences
from aucstudio.project.data.readers.registry import dialog_filter
from aucstudio.project.errors import InputError

TABLES = dialog_filter()
MODELS = "AUC Studio models (*.aucmodel)"

_BUTTON = QDialogButtonBox.StandardButton


def ask_open_path(parent: QWidget, title: str, filters: str, folder: str = "") -> str | None:
    """Ask for a file that exists; None if there is no answer."""
    path, _ = QFileDialog.getOpenFileName(parent, title, folder or _last_folder(filters), filters)
    return _noted(path, filters)


def ask_save_path(parent: QWidget, title: str, suggested: str, filters: str) -> str | None:
    """Ask where to save; None if there is no answer.

    A name with none of the endings gets that of the format which is chosen beside it. Where such a
    file is there, the name is asked for again, as the dialog has asked about the typed one only.
    """
    suggested, chosen = os.path.join(_last_folder(filters), suggested), ""
    while True:
        path, chosen = QFileDialog.getSaveFileName(parent, title, suggested, filters, chosen)
        if path.lower().endswith(tuple(_endings(filters))):
            return _noted(path, filters)
        suggested = path + next(iter(_endings(chosen or filters)), "") if path else ""
        if not os.path.lexists(suggested):
            return _noted(suggested, filters)


def _endings(filters: str) -> list[str]:
    return [ending.lower() for ending in re.findall(r"\*(\.[\w.]+)", filters)]


def _last_folder(filters: str) -> str:
    """Return the folder where a file of this kind was last opened or saved, else one of another."""
    known = preferences().now.folders
    folders = known.get(_kind(filters), ""), *reversed(known.values())
    return next(filter(os.path.isdir, folders), "")


def _noted(path: str, filters: str) -> str | None:
    if path:
        preferences().put_in("folders", _kind(filters), os.path.dirname(os.path.abspath(path)))
    return path or None


def _kind(filters: str) -> str:
    return filters.split(" (")[0]


def with_ending(path: str, ending: str) -> Path:
    """Return the path to save to: the one that was typed, with the ending added if it has another.

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


def show_error(parent: QWidget, sentence: str, details: str = "") -> None:
    """Show what went wrong, on request; the traceback is one click away. Returns at once."""
    box = message_box(QMessageBox.Icon.Warning, "AUC Studio", sentence, parent)
    box.addButton(QMessageBox.StandardButton.Ok)
    if details:
        box.setDetailedText(details)
    box.setObjectName("error_prompt")
    name_buttons(box, "error_prompt")
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()


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
