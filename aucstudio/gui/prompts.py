"""Every question the window asks goes through here, so that tests can answer in its place."""

from __future__ import annotations

from PySide6.QtWidgets import QFileDialog, QInputDialog, QMessageBox, QWidget


def ask_open_path(parent: QWidget, title: str, filters: str, folder: str = "") -> str | None:
    """Ask for a file that exists; None if there is no answer."""
    path, _ = QFileDialog.getOpenFileName(parent, title, folder, filters)
    return path or None


def ask_save_path(parent: QWidget, title: str, suggested: str, filters: str) -> str | None:
    """Ask where to save; None if there is no answer."""
    path, _ = QFileDialog.getSaveFileName(parent, title, suggested, filters)
    return path or None


def ask_text(parent: QWidget, title: str, label: str, text: str) -> str | None:
    """Ask for a line of text; None if there is no answer."""
    answer, accepted = QInputDialog.getText(parent, title, label, text=text)
    return answer.strip() or None if accepted else None


def ask_choice(parent: QWidget, title: str, text: str, choices: list[str]) -> int | None:
    """Ask for one of several ways to go on; None if there is no answer."""
    box = QMessageBox(QMessageBox.Icon.Question, title, text, parent=parent)
    buttons = [box.addButton(c, QMessageBox.ButtonRole.AcceptRole) for c in choices]
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.exec()
    clicked = box.clickedButton()
    return next((k for k, button in enumerate(buttons) if button is clicked), None)


def show_error(parent: QWidget, sentence: str, details: str = "") -> None:
    """Say what went wrong; the traceback is one click away."""
    box = QMessageBox(QMessageBox.Icon.Warning, "AUC Studio", sentence, parent=parent)
    if details:
        box.setDetailedText(details)
    box.exec()


def show_text(parent: QWidget, title: str, text: str) -> None:
    """Show something to read."""
    QMessageBox(QMessageBox.Icon.NoIcon, title, text, parent=parent).exec()
