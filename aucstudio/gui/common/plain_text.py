"""Show text of users literally; the only module that builds markup.

Qt guesses whether a text is markup, renders it, and fetches the pictures that it names. Names of
files, columns, classes and runs are untrusted: they reach labels, tooltips and messages through
this module only.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    import pyqtgraph as pg

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

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
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


def plot_title(plot: pg.PlotWidget, text: str, *, color: str, size: str) -> None:
    """Set the title of a plot, which pyqtgraph renders as markup."""
    words = text if isinstance(text, Markup) else escape(text)
    plot.setTitle(words, color=color, size=size)


def line_label(text: str) -> str:
    """Escape a label for pyqtgraph, which fills in text in braces."""
    return text.replace("{", "{{").replace("}", "}}")
