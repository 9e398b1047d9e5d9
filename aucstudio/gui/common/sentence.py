"""The conclusion under a picture, with more on demand."""

from __future__ import annotations

import dataclasses
import re

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from aucstudio.gui.common.buttons import link_button
from aucstudio.gui.common.layouts import across, card_around, keep_room, scrolled
from aucstudio.gui.common.plain_text import PlainLabel, plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import scroll_area_of, unbroken
from aucstudio.gui.state.background import delayed


@dataclasses.dataclass(frozen=True)
class Statement:
    """The conclusion of a picture.

    Attributes
    ----------
    headline : str
        One sentence about the picture.
    more : str
        Certainty, evidence and exceptions.
    """

    headline: str = ""
    more: str = ""

    @classmethod
    def of(cls, *parts: str) -> Statement:
        """Make a statement of sentences; the first one that is not empty is the headline."""
        given = [part for part in parts if part]
        return cls(given[0] if given else "", " ".join(given[1:]))

    def then(self, *parts: str) -> Statement:
        """Return the statement with further sentences."""
        return Statement.of(self.headline, self.more, *parts)

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(part for part in (self.headline, self.more) if part)


_HEADLINE_LINES, _NARROW_LINES, _MOST_LINES = 2, 3, 4
_NARROW, _TALL = 360, 320  # pixels of a page whose headline has more lines


class Sentence(QWidget):
    """A headline with room for two lines, or three on a narrow page, and with more if necessary.

    A longer one ends with a whole clause. A button shows the rest on a sheet over the picture: the
    picture keeps its size.

    Parameters
    ----------
    name : str
        Object name.

    Attributes
    ----------
    headline, rest : PlainLabel
    more_button : QPushButton
    sheet : Card
        Holds the rest, above the headline.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._statement, self._lines = Statement(), 0
        self._make_line(name)
        self._make_rest(name)
        self.setLayout(across((self.headline, 1), self.more_button, around=(0, 0, 0, 4)))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def _make_line(self, name: str) -> None:
        self.headline = PlainLabel()
        self.headline.setObjectName(f"{name}_headline")
        self.headline.setProperty("role", "sentence")
        self.headline.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.headline.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        about = "More about what the picture shows"
        self.more_button = link_button(f"{name}_more_button", about)
        self.more_button.setText("More")
        self.more_button.toggled.connect(self.fit)
        self.more_button.toggled.connect(delayed(self, 0, self._scroll_to_rest).start)
        keep_room(self.more_button)

    def _make_rest(self, name: str) -> None:
        self.rest = PlainLabel()
        self.rest.setObjectName(f"{name}_rest")
        self.rest.setWordWrap(True)
        self.rest.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.rest.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        area = scrolled(self.rest)
        area.setFrameShape(QFrame.Shape.NoFrame)
        self.sheet = card_around(area)
        self.sheet.setParent(self)
        self.sheet.hide()

    def text(self) -> str:
        """Return the full text."""
        return self._statement.text

    def setText(self, words: Statement | str) -> None:
        """Show a statement; a plain text is a headline."""
        statement = Statement(words) if isinstance(words, str) else words
        if statement != self._statement:
            self._statement = statement
            self.headline.setAccessibleName(statement.headline)
            self.fit()

    def fit(self) -> None:
        """Show as much of the headline as fits, and the rest if it is unfolded."""
        headline = unbroken(self._statement.headline)
        inside, measure = self.headline.contentsRect(), self.headline.fontMetrics()
        least, most = self._headline_lines()
        seen = wrapped(headline, most, inside.width() - _SPARE, measure)
        # The room stays, so that the picture does not move when values change.
        self._lines = min(most, max(least, self._lines, seen.count("\n") + 1))
        is_cut, is_open = seen.replace("\n", " ") != headline, self.more_button.isChecked()
        self.headline.setText(seen)
        padding = self.headline.height() - inside.height()
        self.headline.setMinimumHeight(padding + self._lines * measure.lineSpacing())
        plain_tooltip(self.headline, self.text() if is_cut else "")
        self.more_button.setText("Less" if is_open else "More")
        self.more_button.setVisible(is_cut or is_open or bool(self._statement.more))
        self.rest.setText(unbroken(self.text() if is_cut else self._statement.more))
        self._place_sheet(is_open and bool(self.rest.text()))

    def _headline_lines(self) -> tuple[int, int]:
        """Return the number of lines that have room in any case, and the largest one."""
        page = self.parentWidget()
        if page is None or page.height() < scaled(_TALL):
            return _HEADLINE_LINES, _HEADLINE_LINES
        is_narrow = self.width() < scaled(_NARROW)
        return _NARROW_LINES if is_narrow else _HEADLINE_LINES, _MOST_LINES

    def _place_sheet(self, shown: bool) -> None:
        """Show the sheet above the headline, as high as its text needs and the page allows."""
        page = self.parentWidget()
        if page is not None and self.sheet.parentWidget() is not page:
            self.sheet.setParent(page)
        around = self.sheet.rows.contentsMargins()
        width = self.width() - around.left() - around.right() - _SPARE
        needed = self.rest.heightForWidth(width) + around.top() + around.bottom() + _SPARE
        top = max(0, self.y() - needed)
        self.sheet.setGeometry(self.x(), top, self.width(), self.y() - top)
        self.sheet.setVisible(shown)
        self.sheet.raise_()

    def _scroll_to_rest(self) -> None:
        """Scroll a page that is higher than the window."""
        if (around := scroll_area_of(self)) is not None:
            around.ensureWidgetVisible(self, 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lines = 0
        self.fit()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.more_button.isChecked():
            self.more_button.setChecked(False)
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.fit()


def wrapped(words: str, most: int, width: int, measure: QFontMetrics) -> str:
    """Break a text into lines of a width; drop clauses at its end if there are too many lines."""
    lines = _lines(words, width, measure)
    ends = [place for place, letter in enumerate(words) if letter == " "]  # if no clause fits
    ends += [end.start() for end in _BETWEEN_CLAUSES.finditer(words)]
    while len(lines) > most and ends:
        lines = _lines(f"{words[: ends.pop()].rstrip(',;:')}\u00a0…", width, measure)
    return "\n".join(lines[:most])


def _lines(words: str, width: int, measure: QFontMetrics) -> list[str]:
    """Break a text into lines between words; a word that is wider than a line is elided."""
    lines: list[str] = []
    for word in words.split(" "):
        if lines and measure.horizontalAdvance(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(measure.elidedText(word, Qt.TextElideMode.ElideRight, width))
    return lines


_BETWEEN_CLAUSES = re.compile(r"(?<=[.,;:)]) | (?=\()")
_SPARE = 6  # pixels: the style's padding, and a letter's overhang
