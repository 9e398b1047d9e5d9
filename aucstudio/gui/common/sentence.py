"""The conclusion under a picture, with more on demand."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from aucstudio.gui.common.buttons import link_button
from aucstudio.gui.common.layouts import across, down, keep_room
from aucstudio.gui.common.plain_text import PlainLabel, plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import unbroken
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


_HEADLINE_LINES, _NARROW_LINES = 2, 3
_NARROW, _TALL = 360, 320  # pixels of a page whose headline has a line more
_MOST_OF_PAGE = 0.25  # of the page's height: the rest belongs to the picture


class Sentence(QWidget):
    """A headline of two lines, or three on a narrow page, elided if necessary.

    A button unfolds the rest.

    Its height depends on the button and the page, and never shrinks while it is open, so that a
    picture does not move while something in it is dragged.

    Parameters
    ----------
    name : str
        Object name.

    Attributes
    ----------
    headline, rest : PlainLabel
    more_button : QPushButton
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._statement, self._lines = Statement(), 0
        self._make_line(name)
        self._make_rest(name)
        line = across((self.headline, 1), self.more_button)
        self.setLayout(down(line, self._area, gap=0, around=(0, 0, 0, 4)))
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
        self.rest.setContentsMargins(6, 0, 6, 0)
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidgetResizable(True)
        self._area.setWidget(self.rest)
        self._area.hide()

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
        lines = self._headline_lines()
        seen = _wrapped(headline, lines, inside.width() - _SPARE, measure)
        is_cut, is_open = seen.replace("\n", " ") != headline, self.more_button.isChecked()
        rest = self._statement.more
        if is_cut and is_open:  # the rest continues the headline
            kept = len(seen[:-1].rpartition(" ")[0])
            seen, rest = f"{seen[:kept]} …", f"… {headline[kept:].lstrip()} {rest}".rstrip()
        self.headline.setText(seen)
        padding = self.headline.height() - inside.height()
        self.headline.setMinimumHeight(padding + lines * measure.lineSpacing())
        plain_tooltip(self.headline, self.text() if is_cut else "")
        self.more_button.setText("Less" if is_open else "More")
        self.more_button.setVisible(is_cut or is_open or bool(self._statement.more))
        self.rest.setText(unbroken(rest))
        self._area.setFixedHeight(self._room())
        self._area.setVisible(is_open)

    def _headline_lines(self) -> int:
        page = self.parentWidget()
        is_tall = page is not None and page.height() >= scaled(_TALL)
        return _NARROW_LINES if is_tall and self.width() < scaled(_NARROW) else _HEADLINE_LINES

    def _room(self) -> int:
        """Return the height of whole lines of the rest: all of them, fewer on a small page.

        While it is open it never shrinks.
        """
        line, page = self.rest.fontMetrics().lineSpacing(), self.parentWidget()
        needed = -(-self.rest.heightForWidth(self.width()) // line)
        self._lines = max(self._lines, needed) if self.more_button.isChecked() else 0
        most = self._lines if page is None else int((_MOST_OF_PAGE * page.height() - _SPARE) / line)
        return max(1, min(self._lines, most)) * line + _SPARE

    def _scroll_to_rest(self) -> None:
        """Scroll a page that is higher than the window."""
        part = self.parentWidget()
        while part is not None and not isinstance(part, QScrollArea):
            part = part.parentWidget()
        if part is not None:
            part.ensureWidgetVisible(self, 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.fit()


def _wrapped(words: str, lines: int, width: int, measure: QFontMetrics) -> str:
    """Break a text into lines of a width; the last one is elided."""
    if lines > 1 and measure.horizontalAdvance(words) > width:
        fitting = measure.elidedText(words, Qt.TextElideMode.ElideRight, width)
        first = fitting[:-1].rpartition(" ")[0]
        if first:
            following = _wrapped(words[len(first) + 1 :], lines - 1, width, measure)
            return f"{first}\n{following}"
    return measure.elidedText(words, Qt.TextElideMode.ElideRight, width)


_SPARE = 6  # pixels: the style's padding, and a letter's overhang
