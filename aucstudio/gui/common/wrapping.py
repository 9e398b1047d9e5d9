"""A row of controls that wraps to the next line."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLayoutItem

_WIDE = 10_000
_AROUND_WORDS = 46  # of a list: its frame and its arrow


class WrappingRow(QHBoxLayout):
    """Lays out a row that wraps to further lines.

    In a narrow row, lists first become as narrow as their current text. Then their labels are
    hidden if that saves a line. A label stays beside its control.
    """

    _laid_in = _WIDE

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width)
        gaps = self.spacing() * max(0, len(lines) - 1)
        return sum(_height(line) for line in lines) + gaps

    def minimumSize(self) -> QSize:
        groups = self._groups()
        least = [self._room([_least(item) for item in group]) for group in groups]
        # The page asks for the minimum height, not for the height for a width.
        return QSize(max(least, default=0), self.heightForWidth(self._laid_in))

    def setGeometry(self, rect: QRect) -> None:
        before, self._laid_in = self.minimumSize(), rect.width()
        if self.minimumSize() != before:
            self.update()
        widths = [_width(item) for group in self._groups() for item in group]
        if self._room(widths) <= rect.width():
            super().setGeometry(rect)
            return
        top, lines = rect.top(), self._lines(rect.width())
        seen = {id(item) for line in lines for item in line}
        for item in (item for group in self._groups() for item in group):
            if id(item) not in seen:
                item.setGeometry(QRect(rect.topLeft(), QSize(0, 0)))
        for line in lines:
            left, height = rect.left(), _height(line)
            for item in line:
                width = min(_compact(item), rect.right() + 1 - left)
                item.setGeometry(QRect(left, top, width, height))
                left += width + self.spacing()
            top += height + self.spacing()

    def _groups(self) -> list[list[QLayoutItem]]:
        """Return the groups of items that stay together, from left to right."""
        groups: list[list[QLayoutItem]] = []
        joined = False
        for k in range(self.count()):
            item = self.itemAt(k)
            if item is None or item.isEmpty():  # hidden, or a space
                continue
            if joined:
                groups[-1].append(item)
            else:
                groups.append([item])
            widget = item.widget()
            joined = isinstance(widget, QLabel) and widget.buddy() is not None
        return groups

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        groups = self._groups()
        whole = self._wrapped(groups, width)
        bare = self._wrapped([_without_label(group) for group in groups], width)
        return bare if len(bare) < len(whole) else whole

    def _wrapped(self, groups: list[list[QLayoutItem]], width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        for group in groups:
            longer = [*lines[-1], *group] if lines else []
            if longer and self._room([_compact(item) for item in longer]) <= width:
                lines[-1] = longer
            else:
                lines.append(group)
        return lines

    def _room(self, widths: list[int]) -> int:
        return sum(widths) + self.spacing() * max(0, len(widths) - 1)


def _width(item: QLayoutItem) -> int:
    return min(max(item.sizeHint().width(), item.minimumSize().width()), item.maximumSize().width())


def _compact(item: QLayoutItem) -> int:
    width, box = _width(item), item.widget()
    if not isinstance(box, QComboBox):
        return width
    words = box.fontMetrics().horizontalAdvance(box.currentText()) + _AROUND_WORDS
    return min(width, max(words, box.minimumWidth()))


def _without_label(group: list[QLayoutItem]) -> list[QLayoutItem]:
    """Return a group without the label of a list."""
    is_list = len(group) > 1 and isinstance(group[-1].widget(), QComboBox)
    return group[1:] if is_list else group


def _least(item: QLayoutItem) -> int:
    return min(item.minimumSize().width(), _compact(item))


def _height(items: list[QLayoutItem]) -> int:
    return max(item.sizeHint().height() for item in items)
