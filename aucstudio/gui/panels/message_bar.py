"""Messages that do not block the work."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
)

from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.widgets import label, named, push_button

_MOST_KEPT = 200
_DETAIL_LINES = 8


@dataclasses.dataclass(eq=False)
class Message:
    """One failure: a sentence, and a traceback or a list of further sentences."""

    sentence: str
    details: str = ""


class MessageBar(QFrame):
    """The latest failure in a line, with buttons for earlier ones; hidden without a message.

    Escape dismisses the message while the bar has the focus.

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
        self.previous = _button("previous", "Earlier", "Previous message", lambda: self._step(-1))
        self.next = _button("next", "Later", "Next message", lambda: self._step(1))
        self.more = _button("details", "Details", "Show all details")
        self.more.setCheckable(True)
        self.more.toggled.connect(self._show_details)
        self.dismiss = _button("dismiss", "Dismiss", "Close this message (Esc)", self.dismiss_shown)
        self.details = named(QPlainTextEdit(), "message_text", "Details of the message")
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setFixedHeight(_DETAIL_LINES * self.details.fontMetrics().lineSpacing())
        self.details.hide()
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        buttons = (self.previous, self.next, self.more, self.dismiss)
        line = across((self.words, 1), self.count, *buttons)
        self.setLayout(down(line, self.details, gap=6, around=(16, 6, 8, 6)))

    # ------------------------------------------------------------- messages

    def add(self, sentence: str, details: str = "") -> None:
        """Show a message; earlier ones stay available."""
        first, _, rest = sentence.partition("\n\n")
        more = "\n\n".join(part for part in (rest, details) if part)
        self.messages.append(Message(_begun(first), more))
        del self.messages[:-_MOST_KEPT]
        self._show(len(self.messages) - 1)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def dismiss_shown(self) -> None:
        """Remove the message that is shown and show the one before it."""
        if self.messages:
            del self.messages[self._place]
            self._show(min(self._place, len(self.messages) - 1))

    @property
    def shown(self) -> Message | None:
        """The message that is shown."""
        return self.messages[self._place] if self.messages else None

    def _step(self, by: int) -> None:
        self._show(self._place + by)

    def _show_details(self, shown: bool) -> None:
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
        self.details.setPlainText(message.details)

    # ------------------------------------------------------------- Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss_shown()
        else:
            super().keyPressEvent(event)


def _button(
    name: str, words: str, tip: str, verb: Callable[[], object] | None = None
) -> QPushButton:
    return push_button(f"message_{name}_button", words, tip, verb, accessible=tip)


def _begun(sentence: str) -> str:
    """Return a sentence with a capital, unless it begins with a name such as that of a file."""
    word = sentence.partition(" ")[0].rstrip(",:;")
    return sentence[:1].upper() + sentence[1:] if word.isalpha() else sentence
