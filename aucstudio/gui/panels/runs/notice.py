"""A line above the run list that says something and waits for nobody."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QPushButton, QToolButton

from aucstudio.gui.common.boxes import LEFT, TOP, across, down
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
        top = across((self.words, 1), (self.close_button, TOP))
        self.setLayout(down(top, (self.again, LEFT), gap=4, around=(10, 6, 4, 8)))
        self.hide()

    def offer(self, name: str, again: Callable[[], object]) -> None:
        """Show that an identical run is in the list; ``again`` makes it once more."""
        self._again = again
        self.words.setText(f"{name} was made with the same settings on the same rows.")
        self.show()

    def _on_again(self) -> None:
        self.hide()
        if self._again is not None:
            self._again()
