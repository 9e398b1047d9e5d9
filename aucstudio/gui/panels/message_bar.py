"""Messages that do not block the work."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
)

from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import label, named

_MOST_KEPT = 200
_DETAIL_LINES = 8


@dataclasses.dataclass(eq=False)
class Message:
    """One failure: a sentence, and what a bug report needs or a list of many says.

    Attributes
    ----------
    sentence, details : str
    """

    sentence: str
    details: str = ""


class MessageBar(QFrame):
    """The latest failure in a line, with the earlier ones a step away; hidden when there is none.

    Escape, while the keyboard is in it, dismisses what is shown.

    Attributes
    ----------
    messages : list of Message
        The oldest first.
    """

    def __init__(self) -> None:
        super().__init__()
        named(self, "message_bar", "Messages")
        self.messages: list[Message] = []
        self._place = -1
        self.words = label("", wrap=True, name="message_words")
        self.words.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.count = label("", "muted", name="message_count")
        self.previous = self._button(
            "Earlier", "message_previous", "Previous message", self._on_previous
        )
        self.next = self._button("Later", "message_next", "Next message", self._on_next)
        self.more = self._button("Details", "message_details", "Show all details", self._on_more)
        self.more.setCheckable(True)
        self.dismiss = self._button(
            "Dismiss", "message_dismiss", "Close this message (Esc)", self.dismiss_shown
        )
        self.details = named(QPlainTextEdit(), "message_text", "Details of the message")
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        lines = _DETAIL_LINES * self.details.fontMetrics().lineSpacing()
        self.details.setFixedHeight(lines)
        self._lay_out()
        self.hide()

    def _button(self, words: str, name: str, tip: str, verb: object) -> QPushButton:
        button = named(QPushButton(words), f"{name}_button", tip)
        plain_tooltip(button, tip)
        button.clicked.connect(verb)
        return button

    def _lay_out(self) -> None:
        buttons = (self.previous, self.next, self.more, self.dismiss)
        line = across((self.words, 1), self.count, *buttons)
        self.setLayout(down(line, self.details, gap=6, around=(16, 6, 8, 6)))

    # ------------------------------------------------------------- telling

    def tell(self, sentence: str, details: str = "") -> None:
        """Show a message; earlier ones stay available."""
        first, _, rest = sentence.partition("\n\n")
        told = "\n\n".join(part for part in (rest, details) if part)
        self.messages.append(Message(_begun(first), told))
        del self.messages[:-_MOST_KEPT]
        self._show(len(self.messages) - 1)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def clear(self) -> None:
        """Take all messages away."""
        self.messages.clear()
        self._show(-1)

    def dismiss_shown(self) -> None:
        """Take away the message that is shown; the one before follows."""
        if self.messages:
            del self.messages[self._place]
            self._show(min(self._place, len(self.messages) - 1))

    @property
    def shown(self) -> Message | None:
        """The message that is seen."""
        return self.messages[self._place] if self.messages else None

    def _on_previous(self) -> None:
        self._show(self._place - 1)

    def _on_next(self) -> None:
        self._show(self._place + 1)

    def _on_more(self, shown: bool) -> None:
        self.details.setVisible(shown)

    def _show(self, place: int) -> None:
        self._place, last = place, len(self.messages) - 1
        message = self.shown
        self.setVisible(message is not None)
        if message is None:
            return
        self.words.setText(message.sentence)
        self.setAccessibleDescription(message.sentence)
        several = last > 0
        self.count.setText(f"{place + 1} of {last + 1}")
        for widget in (self.count, self.previous, self.next):
            widget.setVisible(several)
        self.previous.setEnabled(place > 0)
        self.next.setEnabled(place < last)
        self.more.setVisible(bool(message.details))
        self.more.setChecked(False)
        self.details.hide()
        self.details.setPlainText(message.details)

    # ------------------------------------------------------------- Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss_shown()
        else:
            super().keyPressEvent(event)


def _begun(sentence: str) -> str:
    """Begin a sentence with a capital, unless it begins with a name, as of a file."""
    word = sentence.partition(" ")[0].rstrip(",:;")
    return sentence[:1].upper() + sentence[1:] if word.isalpha() else sentence
