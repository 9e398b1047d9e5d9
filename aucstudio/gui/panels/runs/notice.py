"""A line above the run list that says something and waits for nobody."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout

from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import label, named


class RepeatNotice(QFrame):
    """Says that a run has been made already; it can be made again all the same."""

    def __init__(self) -> None:
        super().__init__()
        self._again: Callable[[], object] | None = None
        self.setObjectName("repeat_notice")
        self.words = label("", wrap=True, name="repeat_words")
        self.again = named(QPushButton("Run again anyway"), "repeat_again", "Run again anyway")
        self.close_button = named(QToolButton(), "repeat_close", "Close this message")
        self.close_button.setText("✕")
        plain_tooltip(self.again, "It would give the same figures once more")
        self.again.clicked.connect(self._on_again)
        self.close_button.clicked.connect(self.hide)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 4, 8)
        column.setSpacing(4)
        top = QHBoxLayout()
        top.addWidget(self.words, stretch=1)
        top.addWidget(self.close_button, alignment=Qt.AlignmentFlag.AlignTop)
        column.addLayout(top)
        column.addWidget(self.again, alignment=Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def offer(self, name: str, again: Callable[[], object]) -> None:
        """Say that a run of the list was made as was asked for; ``again`` makes it once more."""
        self._again = again
        self.words.setText(f"{name} was made with the same settings on the same rows.")
        self.show()

    def _on_again(self) -> None:
        self.hide()
        if self._again is not None:
            self._again()
