"""Answers to file dialogs, typed into the fields of the real dialog."""

from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit, QMessageBox


class Typist(QObject):
    """Answers file dialogs by typing; Yes to each question.

    Parameters
    ----------
    answers : (path or str or None, str)
        Name and kind for each dialog in turn; the name None keeps the suggested one, the empty
        name cancels, and the empty kind keeps the shown one.

    Attributes
    ----------
    asked : list of (str, str)
        Path and kind that each dialog showed at first.
    """

    def __init__(self, parent, *answers):
        super().__init__(parent)
        self.asked, self._answers, self._seen = [], list(answers), None
        QTimer(self, interval=10, timeout=self._look).start()

    def _look(self):
        front = QApplication.activeModalWidget()
        if isinstance(front, QMessageBox):
            front.button(QMessageBox.StandardButton.Yes).click()
        elif isinstance(front, QFileDialog) and front is not self._seen and self._answers:
            self._seen = front
            self._answer(front, *self._answers.pop(0))

    def _answer(self, dialog, name, kind):
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        suggested = Path(dialog.directory().path(), field.text())
        kinds = dialog.findChild(QComboBox, "fileTypeCombo")
        self.asked.append((str(suggested), kinds.currentText()))
        if kind:
            dialog.selectNameFilter(kind)
        if name == "":
            dialog.reject()
            return
        if name is not None:
            field.setText(str(name))
        QTimer.singleShot(0, dialog, dialog.accept)
