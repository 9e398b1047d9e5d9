"""Window positions that stay reachable on the screen."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QGuiApplication

FRAME = QSize(16, 48)  # added by the desktop to a window when it is shown
_LEAST_SHOWN = 48  # pixels of a window that must be visible on a screen


def on_some_screen(wanted: QRect, least: QSize) -> QRect:
    """Return the position of a window, moved onto a screen if too little of it would be visible.

    A window that is larger than its screen is made smaller, with room for its frame.
    """
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    rect = QRect(wanted.topLeft(), wanted.size().expandedTo(least))
    for area in screens:
        seen = area.intersected(rect)
        top_is_seen = area.top() <= rect.top() <= area.bottom() - _LEAST_SHOWN
        if seen.width() >= _LEAST_SHOWN and top_is_seen:
            return _fitted(rect, area)
    area = QGuiApplication.primaryScreen().availableGeometry()
    rect.setSize(rect.size().boundedTo(area.size()))
    rect.moveCenter(area.center())
    return rect


def _fitted(rect: QRect, area: QRect) -> QRect:
    """Return the position if the size fits the screen, or one that fits with its frame."""
    if rect.size() == rect.size().boundedTo(area.size()):
        return rect
    aside, above = FRAME.width() // 2, FRAME.height() - FRAME.width() // 2
    inside = area.adjusted(aside, above, -aside, -aside)
    size = rect.size().boundedTo(inside.size())
    left = min(max(rect.left(), inside.left()), inside.left() + inside.width() - size.width())
    top = min(max(rect.top(), inside.top()), inside.top() + inside.height() - size.height())
    return QRect(QPoint(left, top), size)
