"""Values under the pointer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtWidgets import QWidget

from aucstudio.gui.common.plain_text import PlainLabel
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.widgets import named

_APART = 14  # pixels between the pointer and the words
_LINE = 40  # letters
_BETWEEN = "   "  # what parts of the words may be put on lines of their own


class Readout(PlainLabel):
    """A text at the pointer, over the plot that it describes; not part of saved pictures.

    Parameters
    ----------
    name, accessible : str
    owner : QWidget
        Its parent until it is first shown over a plot.
    """

    def __init__(self, name: str, accessible: str, owner: QWidget) -> None:
        super().__init__()
        self.setParent(owner)
        self._plot: QWidget | None = None
        named(self, name, accessible)
        self.setProperty("role", "readout")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._words = ""
        self.hide()

    def text(self) -> str:
        return self._words

    def watch(self, plot: Plot, describe: Callable[[QPointF], str]) -> Readout:
        """Show the description of a position at the pointer, if it is not empty; return this."""

        def on_hover(place: QPointF | None) -> None:
            words = "" if place is None else describe(place)
            if place is not None and words:
                self.show_at(plot, place, words)
            else:
                self.show_nothing()

        plot.hovered.connect(on_hover)
        return self

    def show_at(self, plot: Plot, place: QPointF, words: str) -> None:
        """Show a text next to a position in a plot."""
        self._words = words
        if self._plot is not plot:
            self._plot = plot
            self.setParent(plot)
            plot.installEventFilter(self)
        self.setText(in_lines(words))
        self.adjustSize()
        self.move(self._beside(plot.place_of(place.x(), place.y()).toPoint(), plot))
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.show_nothing()
        return super().eventFilter(watched, event)

    def show_nothing(self) -> None:
        """Hide the text."""
        self._words = ""
        self.hide()

    def _beside(self, place: QPoint, plot: QWidget) -> QPoint:
        """Return the position of the text in the plot: right of and above a place if possible."""
        left = place.x() + _APART
        if left + self.width() > plot.width():
            left = place.x() - _APART - self.width()
        top = place.y() - _APART - self.height()
        if top < 0:
            top = place.y() + _APART
        return QPoint(
            max(0, min(left, plot.width() - self.width())),
            max(0, min(top, plot.height() - self.height())),
        )


def in_lines(words: str) -> str:
    """Wrap parts into lines; the first part has a line of its own."""
    first, *rest = words.split(_BETWEEN)
    lines = [first]
    for k, part in enumerate(rest):
        longer = f"{lines[-1]}{_BETWEEN}{part}"
        if k and len(longer) <= _LINE:
            lines[-1] = longer
        else:
            lines.append(part)
    return "\n".join(lines)
