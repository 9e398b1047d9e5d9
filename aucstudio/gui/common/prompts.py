"""Dialogs and questions of the window; tests can replace the questions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QDir, QEvent, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QFileDialog,
    QHeaderView,
    QInputDialog,
    QLayout,
    QLineEdit,
    QMessageBox,
    QProgressBar,
    QScrollArea,
    QTreeView,
    QWidget,
)

from aucstudio.gui.common.buttons import name_buttons, push_button
from aucstudio.gui.common.focus import order_tabs, press_focused
from aucstudio.gui.common.layouts import Part, across, down
from aucstudio.gui.common.plain_text import message_box
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import label, named
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.preferences import preferences
from aucstudio.project import scratch
from aucstudio.project.data.readers.formats import dialog_filter
from aucstudio.project.errors import InputError
from aucstudio.project.store.files import refuse_own_input
from aucstudio.project.work.job import Job, describe_failure

TABLES = dialog_filter()
MODELS = "AUC Studio models (*.aucmodel)"

_STEPS = 1000  # of a bar
_FRAME = QSize(24, 48)  # pixels of the title bar and the edges of a window


class Dialog(QDialog):
    """A dialog of the window that fits the screen, deleted when it is closed.

    Its work and its temporary files end with it.

    Parameters
    ----------
    name, title : str
    parent : QWidget, optional
    """

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.opening_size = QSize(0, 0)
        self._side_by_side: list[QBoxLayout] = []
        self._scratch: Path | None = None

    @property
    def busy(self) -> bool:
        """Whether work of the dialog, or of a part of it, is running."""
        return any(work.busy for work in self.findChildren(Background))

    def scratch_folder(self) -> Path:
        """Return the folder for temporary files of the dialog.

        Raises
        ------
        InputError
            If it cannot be made.
        """
        if self._scratch is None:
            self._scratch = scratch.make_folder()
        return self._scratch

    def done(self, result: int) -> None:
        """End all work, remove the temporary files, and close."""
        for work in self.findChildren(Background):
            work.drop()
        if self._scratch is not None:
            scratch.remove(self._scratch)
        super().done(result)

    def fit(self, size: QSize) -> None:
        """Set the least size that the dialog opens with, for ordinary text."""
        self.opening_size = QSize(scaled(size.width()), scaled(size.height()))

    def room(self) -> QSize:
        """Return the size of the screen without the frame of a window."""
        return self.screen().availableSize() - _FRAME

    def lay_out(self, content: QLayout, *below: Part) -> None:
        """Place the content, scrolled on a small screen, above buttons that stay visible.

        Tab visits them in reading order.
        """
        content.setContentsMargins(16, 16, 16, 8)
        self.area = _ScrolledContent(ScrolledColumn(content))
        named(self.area, f"{self.objectName()}_area", self.windowTitle())
        layout = down((self.area, 1), down(*below, around=(16, 0, 16, 16)))
        self.setLayout(layout)
        order_tabs(layout)

    def beside(self, *parts: Part, gap: int) -> QBoxLayout:
        """Return a layout of parts side by side, or below each other on a narrow screen."""
        self._side_by_side.append(across(*parts, gap=gap))
        return self._side_by_side[-1]

    def showEvent(self, event: QShowEvent) -> None:
        if not event.spontaneous():  # before Qt places the dialog
            # The widths are known only here, where the style is applied.
            for row in self._side_by_side if self.sizeHint().width() > self.room().width() else ():
                row.setDirection(QBoxLayout.Direction.TopToBottom)
                self.area.updateGeometry()  # else the hint is the one of before
            size = self.sizeHint().expandedTo(self.opening_size)
            if size.height() > self.room().height():
                size.setWidth(size.width() + self.area.verticalScrollBar().sizeHint().width())
            self.resize(size.boundedTo(self.room()))
        super().showEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # An open dialog blocks the shortcuts of its window.
        parent = self.parentWidget()
        guide = None if parent is None else parent.window().findChild(QAction, "action_help_manual")
        if event.key() == Qt.Key.Key_F1 and guide is not None:
            guide.trigger()
        elif not press_focused(self, event):
            super().keyPressEvent(event)

    def ask(self, *, modal: bool = True) -> None:
        """Open the dialog and return at once."""
        self.finished.connect(self.deleteLater)
        if modal:
            self.open()
        else:
            self.show()


class ScrolledColumn(QWidget):
    """The content of a scroll area, which is never squeezed."""

    def __init__(self, content: QLayout) -> None:
        super().__init__()
        self.setLayout(content)

    def minimumSizeHint(self) -> QSize:
        # The height that wrapped texts need in its width is asked for by the scroll area.
        height = 0 if self.hasHeightForWidth() else self.sizeHint().height()
        return QSize(super().minimumSizeHint().width(), height)


class _ScrolledContent(QScrollArea):
    """A scroll area that asks for the room of all that is in it."""

    def __init__(self, inner: ScrolledColumn) -> None:
        super().__init__()
        self._inner = inner
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab goes to the controls in it

    def sizeHint(self) -> QSize:
        # Qt's hint has the height that the texts need where they are narrowest.
        hint, dialog = self._inner.sizeHint(), self.window()
        width = max(hint.width(), dialog.minimumWidth())
        if isinstance(dialog, Dialog):
            width = max(width, dialog.opening_size.width())
        if self._inner.hasHeightForWidth():
            hint.setHeight(self._inner.heightForWidth(width))
        return hint

    def minimumSizeHint(self) -> QSize:
        width = (self.screen().availableSize() - _FRAME).width()
        least = super().minimumSizeHint()
        return QSize(min(self._inner.minimumSizeHint().width(), width), least.height())

    def event(self, event: QEvent) -> bool:
        # A dialog that shows all of its content still does after a note was added.
        hidden = self.verticalScrollBar().maximum()
        answer = super().event(event)
        dialog, more = self.window(), self.verticalScrollBar().maximum()
        is_new = event.type() == QEvent.Type.LayoutRequest and hidden == 0 < more
        if is_new and dialog.isVisible() and isinstance(dialog, Dialog):
            height = min(dialog.height() + more, dialog.room().height())
            dialog.resize(dialog.width(), height)
        return answer


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


_BY_CONTENT = QHeaderView.ResizeMode.ResizeToContents


def ask_open_path(parent: QWidget, title: str, filters: str) -> str | None:
    """Ask for an existing file; None if cancelled."""
    dialog = QFileDialog(parent, title, _last_folder(filters), filters)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    # The kinds by name alone: the endings of all tables are wider than a screen.
    dialog.setOption(QFileDialog.Option.HideNameFilterDetails)
    return _noted(_answered(dialog), filters)


def ask_save_path(parent: QWidget, title: str, suggested: str, filters: str) -> str | None:
    """Ask where to save; None if cancelled."""
    return ask_save_file(parent, title, suggested, filters)[0]


def ask_save_file(
    parent: QWidget, title: str, suggested: str, filters: str
) -> tuple[str | None, str]:
    """Ask where to save, and in which of the formats; the path is None if cancelled.

    A name with none of the endings gets that of the format which is chosen beside it. Where such a
    file is there, the name is asked for again, as the dialog has asked about the typed one only.
    """
    suggested, chosen = os.path.join(_last_folder(filters), suggested), ""
    while True:
        folder, name = os.path.split(suggested)
        dialog = QFileDialog(parent, title, folder, filters)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        if chosen:
            dialog.selectNameFilter(chosen)
        path = _answered(dialog)
        chosen = dialog.selectedNameFilter()
        if path.lower().endswith(tuple(_endings(filters))):
            return _noted(path, filters), chosen
        suggested = path + next(iter(_endings(chosen or filters)), "") if path else ""
        if not os.path.lexists(suggested):
            return _noted(suggested, filters), chosen


def _answered(dialog: QFileDialog) -> str:
    """Run a file dialog and return the chosen path; empty if cancelled.

    During Qt's static functions for files PySide keeps an error of an overridden method, raises it
    in every later one and then crashes; during a dialog's own loop it reports the error.
    """
    field, files = dialog.findChild(QLineEdit, "fileNameEdit"), dialog.findChild(QTreeView)
    if field is not None and files is not None:  # where the system has no dialog of its own
        if (popup := field.completer().popup()) is not None:
            popup.setObjectName("completion")
        files.header().setSectionResizeMode(_BY_CONTENT)
    path = dialog.selectedFiles()[0] if dialog.exec() else ""
    dialog.deleteLater()
    return path


def ask_item(parent: QWidget, title: str, question: str, items: Sequence[str]) -> str | None:
    """Ask for one of some items; None if cancelled."""
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(question)
    dialog.setComboBoxItems(items)
    chosen = dialog.textValue() if dialog.exec() else None
    dialog.deleteLater()
    return chosen


def _endings(filters: str) -> list[str]:
    return [ending.lower() for ending in re.findall(r"\*(\.[\w.]+)", filters)]


def _last_folder(filters: str) -> str:
    """Return the last folder of a file of this kind, or of another kind, or the current one."""
    known = preferences().now.folders
    folders = known.get(_kind(filters), ""), *reversed(known.values())
    return next(filter(os.path.isdir, folders), QDir.currentPath())


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
