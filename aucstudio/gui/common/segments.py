"""Segmented buttons for the views of a page."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QWidget

from aucstudio.gui.common.widgets import named


class Segments(QWidget):
    """A row of buttons of which one is pressed; hidden without a choice.

    Signals
    -------
    chosen : str
        Key of the choice of the user.
    """

    chosen = Signal(str)

    def __init__(self, name: str, accessible: str) -> None:
        super().__init__()
        named(self, name, accessible)
        self._name = name
        self._offered: list[tuple[str, str]] = []
        self._buttons: dict[str, QPushButton] = {}
        self._group = QButtonGroup(self)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._group.buttonToggled.connect(self._on_toggled)
        self.hide()

    @property
    def current(self) -> str:
        """Key of the pressed button; empty without one."""
        return next((key for key, one in self._buttons.items() if one.isChecked()), "")

    def offer(self, choices: Sequence[tuple[str, str]], current: str) -> None:
        """Offer keys with their texts, and press the current one."""
        if list(choices) != self._offered:
            self._offered = list(choices)
            for button in self._buttons.values():
                self._group.removeButton(button)
                button.hide()
                button.deleteLater()
            self._buttons = {key: self._button(key, words) for key, words in choices}
        if current in self._buttons:
            with QSignalBlocker(self._group):
                self._buttons[current].setChecked(True)
        self.setVisible(len(choices) > 1)

    def choose(self, key: str) -> None:
        """Choose a key as the user does."""
        self._buttons[key].setChecked(True)

    def _button(self, key: str, words: str) -> QPushButton:
        button = named(QPushButton(words), f"{self._name}_{key}", words)
        button.setProperty("segment", True)
        button.setCheckable(True)
        self._group.addButton(button)
        self._row.addWidget(button)
        return button

    def _on_toggled(self, button: QPushButton, checked: bool) -> None:
        if checked:
            self.chosen.emit(next(key for key, one in self._buttons.items() if one is button))
