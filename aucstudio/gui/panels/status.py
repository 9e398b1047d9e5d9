"""What the window reports: messages, and the progress of runs."""

from __future__ import annotations

import dataclasses
import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QAction,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QMenuBar,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStatusBar,
    QWidget,
)

from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.plain_text import elided, plain_tooltip
from aucstudio.gui.common.theme import ON_ACCENT, ON_CARD, set_icon
from aucstudio.gui.common.widgets import label, named, paint_elided, set_role
from aucstudio.gui.state.background import delayed
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.notices.controls import control_words

_MOST_KEPT = 200
_DETAIL_LINES = 8


@dataclasses.dataclass(eq=False)
class Message:
    """A failure or a fact: a sentence, and a traceback or a list of further sentences."""

    sentence: str
    details: str = ""
    is_failure: bool = True


class MessageBar(QFrame):
    """The latest message in a line, with buttons for earlier ones; hidden without a message.

    Escape dismisses the message while the bar has the focus.

    Attributes
    ----------
    messages : list of Message
        The oldest first.
    """

    def __init__(self) -> None:
        super().__init__()
        named(self, "message_bar")
        self.messages: list[Message] = []
        self._place = -1
        self.words = label("", wrap=True, name="message_words")
        self.words.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.count = label("", "muted", name="message_count")
        self.previous = push_button("message_previous_button", verb=lambda: self._step(-1))
        self.next = push_button("message_next_button", verb=lambda: self._step(1))
        self.more = push_button("message_details_button")
        self.more.setCheckable(True)
        self.dismiss = push_button("message_dismiss_button", verb=self.dismiss_shown)
        self.details = named(QPlainTextEdit(), "message_text")
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setFixedHeight(_DETAIL_LINES * self.details.fontMetrics().lineSpacing())
        self.details.hide()
        self.more.toggled.connect(self.details.setVisible)
        buttons = (self.previous, self.next, self.more, self.dismiss)
        line = across((self.words, 1), self.count, *buttons)
        self.setLayout(down(line, self.details, gap=6, around=(16, 6, 8, 6)))
        self.hide()

    # ------------------------------------------------------------- messages

    def inform(self, sentence: str) -> None:
        """Show a fact that is no failure."""
        self.add(sentence, is_failure=False)

    def add(self, sentence: str, details: str = "", *, is_failure: bool = True) -> None:
        """Show a message; earlier ones stay available."""
        first, _, rest = sentence.partition("\n\n")
        more = "\n\n".join(part for part in (rest, details) if part)
        self.messages.append(Message(_begun(first), more, is_failure))
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

    def _show(self, place: int) -> None:
        self._place, last = place, len(self.messages) - 1
        message = self.shown
        self.setVisible(message is not None)
        if message is None:
            return
        set_role(self, "failure" if message.is_failure else "info")
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


def _begun(sentence: str) -> str:
    """Return a sentence with a capital, unless it begins with a name such as that of a file."""
    word = sentence.partition(" ")[0].rstrip(",:;")
    return sentence[:1].upper() + sentence[1:] if word.isalpha() else sentence


class StatusLine(QStatusBar):
    """A status bar that elides a message wider than the window; its tooltip is the whole one."""

    def __init__(self) -> None:
        super().__init__()
        self.messageChanged.connect(lambda words: plain_tooltip(self, words))

    def paintEvent(self, _event: QPaintEvent) -> None:
        # The grip of the window is at the right.
        area = self.rect().adjusted(_BESIDE, 0, -self.height(), 0)
        paint_elided(self, self.currentMessage(), area, Qt.TextElideMode.ElideRight)


_BESIDE = 8  # pixels beside a message
_MOST_LETTERS = 28  # of a button
_GAP = 24  # between menus and words
_PATIENCE = 400  # milliseconds
_SHORTEST_BAR, _LONGEST_BAR = 64, 180


class ProgressStrip(QWidget):
    """Shows the first running run; its buttons trigger the actions of the window."""

    def __init__(self, session: Session, run: QAction, stop: QAction) -> None:
        super().__init__()
        self.session, self._run = session, run
        self._padding = 0  # pixels of the menu bar beside the text of each menu
        self._on_files = False
        # A file that is read at once must not make the menu bar flicker.
        self._soon = delayed(self, _PATIENCE, self.refresh)
        self.words = label("", "muted", name="progress_words")
        self.bar = named(QProgressBar(), "progress_bar")
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(_LONGEST_BAR)
        self.left = label("", "muted", name="progress_left")
        self.left.setMinimumWidth(90)
        # The window must not grow with the text.
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.run_button = _ActionButton(run, "strip_run", primary=True)
        self._buttons = _ActionButton(stop, "strip_stop"), self.run_button
        parts = ((self.words, 1), self.bar, self.left, *self._buttons)
        self.setLayout(across(*parts, around=(16, 4, 8, 4)))
        session.listen(self.refresh, "live")
        run.changed.connect(self.refresh)
        self.refresh()

    def place_beside(self, menus: QMenuBar) -> None:
        """Place the strip in the corner of a menu bar, as wide as the menus leave room."""
        menus.ensurePolished()
        last = menus.actionGeometry(menus.actions()[-1]).right()
        self._padding = math.ceil((last - _text_width(menus)) / len(menus.actions()))
        menus.setCornerWidget(self)
        self.show()

    def sizeHint(self) -> QSize:
        hint, beside = super().sizeHint(), self.parentWidget()
        if isinstance(beside, QMenuBar):
            taken = _text_width(beside) + len(beside.actions()) * self._padding + _GAP
            hint.setWidth(max(0, beside.width() - taken))
        return hint

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh()

    def _fit(self) -> None:
        """Leave out the bar, then the words of the buttons, where the menus leave no room."""
        layout = self.layout()
        for shows_bar, in_words in ((self.session.busy, True), (False, True), (False, False)):
            for widget in (self.bar, self.left):
                widget.setVisible(shows_bar)
            for button in self._buttons:
                button.show_words(in_words)
            if layout is None or layout.minimumSize().width() <= self.width():
                break

    def refresh(self) -> None:
        """Show what is running: a file operation, the first run, or a search."""
        files = self.session.files
        if self._on_files != (on_files := files.opener.busy or files.saver.busy):
            self._on_files = on_files
            self._soon.start() if on_files else self._soon.stop()
        if self._soon.isActive():
            return
        self._fit()
        words, fraction, left = self._state()
        metrics, room = self.words.fontMetrics(), self.words.width() + self.bar.width()
        free = room - metrics.horizontalAdvance(words) - _BESIDE
        self.bar.setFixedWidth(min(max(free, _SHORTEST_BAR), _LONGEST_BAR))
        room -= self.bar.width()
        self.words.setText(metrics.elidedText(words, Qt.TextElideMode.ElideRight, room))
        plain_tooltip(self.words, words)
        self.bar.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.bar.setValue(round(1000 * fraction))
        self.left.setText(left)

    def _state(self) -> tuple[str, float | None, str]:
        """Return what is running, its share done, and the time to go; or why nothing can run."""
        session = self.session
        names = {study: None if study is session.study else study.name for study in session.studies}
        for work in (session.files.opener, session.files.saver):
            if work.busy:
                return f"{work.words}…", work.fraction, ""
        for study, name in names.items():
            if (live := study.runner.live) is not None:
                words = text(
                    "progress_of_run",
                    run=live.look.name,
                    study=name,
                    doing=text("run_stops") if live.stopping else live.words,
                    beside=len(study.runner.running) - 1 or None,
                    waiting=len(study.runner.queue) or None,
                )
                return words, live.fraction, _time_words(live)
        for study, name in names.items():
            held = study.tournament
            if held.live is not None:
                begun = "elapsed" if held.live.entries else "search_prepares"
                doing = text("search_stops" if held.stopping else begun, seconds=held.live.spent)
                words = text("progress_of_search", study=name, doing=doing)
                left = held.live.left if held.live.entries else None
                return words, held.live.fraction, "" if left is None else _left_words(left)
        return "" if self._run.isEnabled() else self._run.statusTip(), None, ""


def _text_width(menus: QMenuBar) -> int:
    """Return the width of the titles of a menu bar, in pixels of its present font."""
    metrics = menus.fontMetrics()
    return sum(metrics.horizontalAdvance(a.text().replace("&", "")) for a in menus.actions())


def _time_words(live: LiveRun) -> str:
    if live.fraction is None:
        return ""
    percent = f"{100 * live.fraction:.0f} %"
    left = live.seconds_left()
    if left is None or left < 1.0:
        return percent
    return f"{percent} · {_left_words(left)}"


def _left_words(seconds: float) -> str:
    return f"{seconds:.0f} s left" if seconds < 90 else f"{seconds / 60:.0f} min left"


class _ActionButton(QPushButton):
    """A button with the text of an action, which it triggers."""

    def __init__(self, action: QAction, name: str, *, primary: bool = False) -> None:
        super().__init__()
        self._action, self._tip = action, control_words(name).get("tip", "")
        self._in_words = True
        named(self, name)
        self.setProperty("primary", primary)
        self._follow()
        set_icon(self, name.removeprefix("strip_"), ON_ACCENT if primary else ON_CARD)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow)

    def show_words(self, shown: bool) -> None:
        """Show the text of the action, or only its icon."""
        if shown != self._in_words:
            self._in_words = shown
            self._follow()

    def _follow(self) -> None:
        words = self._action.text().replace("&&", "and").replace("&", "")
        self.setText(elided(words, _MOST_LETTERS, len) if self._in_words else "")
        self.setAccessibleName(words)
        keys = self._action.shortcut().toString()
        # The status tip of the action states why it is disabled.
        plain_tooltip(self, self._action.statusTip() or f"{self._tip or words} ({keys})")
        self.setEnabled(self._action.isEnabled())
