"""Dialogs and questions of the window; tests can replace the questions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QMessageBox,
    QProgressBar,
    QWidget,
)

from aucstudio.gui.common.plain_text import message_box
from aucstudio.gui.common.widgets import across, label, name_buttons, named, push_button
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.preferences import preferences
from aucstudio.project.data.readers.formats import dialog_filter
from aucstudio.project.errors import InputError
from aucstudio.project.store.files import refuse_own_input
from aucstudio.project.work.job import Job, describe_failure

TABLES = dialog_filter()
MODELS = "AUC Studio models (*.aucmodel)"

_STEPS = 1000  # of a bar
_MARGIN = 40  # pixels of the window beside a dialog


class Dialog(QDialog):
    """A dialog of the window, deleted when it is closed.

    Parameters
    ----------
    name, title : str
    parent : QWidget, optional
    """

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)

    def fit(self, size: QSize) -> None:
        """Set the size, at most a little less than the window behind the dialog."""
        behind = self.parentWidget()
        room = size if behind is None else behind.window().size() - QSize(_MARGIN, _MARGIN)
        self.resize(size.boundedTo(room))

    def ask(self, *, modal: bool = True) -> None:
        """Open the dialog and return at once."""
        self.finished.connect(self.deleteLater)
        if modal:
            self.open()
        else:
            self.show()


class WorkRow(QWidget):
    """Progress of the work of a dialog, and Cancel.

    Parameters
    ----------
    name : str
        First part of the object names.
    work : str
        Name of the work.
    cancel : callable
    """

    def __init__(self, name: str, work: str, cancel: Callable[[], object]) -> None:
        super().__init__()
        self.bar = named(QProgressBar(), f"{name}_progress", f"Progress of {work}")
        self.bar.setTextVisible(False)
        self.doing = label("", "muted", name=f"{name}_doing")
        self.cancel = push_button(
            f"{name}_cancel", "Ca&ncel", "", cancel, accessible=f"Cancel {work}", enter=False
        )
        self.setLayout(across((self.bar, 1), self.doing, self.cancel))

    def show_work(self, fraction: float | None, words: str) -> None:
        """Show the progress; None shows a busy bar."""
        self.bar.setRange(0, 0 if fraction is None else _STEPS)
        self.bar.setValue(round(_STEPS * (fraction or 0.0)))
        self.doing.setText(f"{words}…" if words else "")


def ask_open_path(parent: QWidget, title: str, filters: str, folder: str = "") -> str | None:
    """Ask for an existing file; None if cancelled."""
    path, _ = QFileDialog.getOpenFileName(parent, title, folder or _last_folder(filters), filters)
    return _noted(path, filters)


def ask_save_path(parent: QWidget, title: str, suggested: str, filters: str) -> str | None:
    """Ask where to save; None if cancelled.

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
    """Return the last folder of a file of this kind, or of another kind."""
    known = preferences().now.folders
    folders = known.get(_kind(filters), ""), *reversed(known.values())
    return next(filter(os.path.isdir, folders), "")


def _noted(path: str, filters: str) -> str | None:
    if path:
        preferences().put_in("folders", _kind(filters), os.path.dirname(os.path.abspath(path)))
    return path or None


def _kind(filters: str) -> str:
    return filters.split(" (")[0]


class FileWriter(Background):
    """Asks where to save something, and writes it on a thread.

    Parameters
    ----------
    parent : QWidget
    done : callable
        Called with the path when the file is written.
    fail : callable
        Called with a sentence and a traceback, which is empty for an error of the user.
    """

    def __init__(
        self,
        parent: QWidget,
        done: Callable[[Path], object],
        fail: Callable[[str, str], object],
    ) -> None:
        super().__init__(parent, self._on_written)
        self._window, self._done, self._fail = parent, done, fail

    def ask(
        self,
        title: str,
        suggested: str,
        filters: str,
        write: Callable[[Path], object],
        inputs: Iterable[str | Path | None] = (),
    ) -> bool:
        """Ask for a path and start to write the file; return whether it is being written.

        Parameters
        ----------
        title, suggested, filters : str
        write : callable
            Called with the path on a thread.
        inputs : iterable of path
            Files that must not be replaced.
        """
        path = ask_save_path(self._window, title, suggested, filters)
        if not path:
            return False
        try:
            refuse_own_input(path, *inputs)
        except InputError as error:
            self._fail(str(error), "")
            return False
        self.finish()
        self.start(Path(path), lambda _post: write(Path(path)))
        return True

    def _on_written(self, path: Path, job: Job[Any, Any]) -> None:
        if job.error is None:
            self._done(path)
        elif isinstance(job.error, InputError):
            self._fail(str(job.error), "")
        else:
            self._fail(*describe_failure(job.error))


def show_error(parent: QWidget, sentence: str, details: str = "") -> None:
    """Show an error with its traceback as details, and return at once."""
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
    """Ask for one of several choices, and return at once.

    Parameters
    ----------
    parent : QWidget
    title, text : str
    choices : sequence of (str, str)
        Key and words; the first one is the default.
    answered : callable
        Called with the key, or with None if cancelled.
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
