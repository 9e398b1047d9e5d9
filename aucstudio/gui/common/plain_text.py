"""Plain text in widgets, and text shortened to a width."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import (
    QGraphicsItem,
    QLabel,
    QMessageBox,
    QTableWidgetItem,
    QToolTip,
    QWidget,
)

_ALIKE = 4  # letters of a common beginning


def elided(words: str, width: int, measure: Callable[[str], int]) -> str:
    """Cut a name in its middle so that it is at most ``width`` wide."""
    if measure(words) <= width:
        return words
    kept = len(words) - 1
    while kept > 2 and measure(_cut(words, kept)) > width:
        kept -= 1
    return _cut(words, kept)


def _cut(words: str, kept: int) -> str:
    # The ends distinguish names more often than the middle, and parentheses stay whole.
    bracket = len(words) - words.rfind(" (") if " (" in words else 0
    end = bracket if bracket <= kept - _ALIKE and words.endswith(")") else 0
    end = end or kept // 2
    return f"{words[: kept - end]}…{words[len(words) - end :]}"


def distinguishable(
    first: str, second: str, width: int, measure: Callable[[str], int]
) -> list[str]:
    """Shorten two names in their common part, so that they stay distinct."""
    at_end = first[:_ALIKE] == second[:_ALIKE]

    def cut(name: str, kept: int) -> str:
        if kept == len(name):
            return name
        return f"…{name[len(name) - kept :]}" if at_end else f"{name[:kept]}…"

    found = []
    for name in (first, second):
        kept = len(name)
        while kept > 2 and measure(cut(name, kept)) > width:
            kept -= 1
        found.append(cut(name, kept))
    return found


def shortened(name: str) -> str:
    """Return a name with at most 28 letters."""
    return name if len(name) <= 28 else f"{name[:27]}…"


_Target = QWidget | QGraphicsItem | QTableWidgetItem | QAction


class Markup(str):
    """Rich text in which every name is escaped; made by :func:`rich` and :func:`joined`."""

    __slots__ = ()


def rich(template: str, *parts: object) -> Markup:
    """Fill parts into a template of markup; parts that are not markup are escaped."""
    filled = (part if isinstance(part, Markup) else escape(str(part)) for part in parts)
    return Markup(template.format(*filled))


def joined(between: str, parts: Iterable[Markup]) -> Markup:
    """Join pieces of markup."""
    return Markup(between.join(parts))


class PlainLabel(QLabel):
    """A label that shows its text literally."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        # Before the text is set, or Qt would render it.
        self.setTextFormat(Qt.TextFormat.PlainText)
        if text:
            self.setText(text)


def tip_text(text: str) -> str:
    """Return a text that Qt shows literally, or as markup if it is markup."""
    if isinstance(text, Markup) or not QtText.mightBeRichText(text):
        return str(text)
    return f"<p style='white-space:pre-wrap'>{escape(text)}</p>"


def plain_tooltip(target: _Target, text: str) -> None:
    """Set the tooltip of a widget, an item or an action to a literal text."""
    target.setToolTip(tip_text(text))


def show_tip(at: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip at a position on the screen."""
    QToolTip.showText(at, tip_text(text), widget)


def menu_text(text: str) -> str:
    """Escape ampersands, which mark keys in menus."""
    return text.replace("&", "&&")


def message_box(
    icon: QMessageBox.Icon, title: str, text: str, parent: QWidget | None
) -> QMessageBox:
    """Make a message box with a literal text."""
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setIcon(icon)
    box.setWindowTitle(title)
    box.setText(text)
    return box


def line_label(text: str) -> str:
    """Escape a label for pyqtgraph, which fills in text in braces."""
    return text.replace("{", "{{").replace("}", "}}")
