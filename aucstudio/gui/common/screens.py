"""Where windows are: always where they can be taken hold of."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QGuiApplication

_LEAST_SHOWN = 48  # pixels of a window that must be on some screen to be taken hold of


def on_some_screen(wanted: QRect, least: QSize) -> QRect:
    """Give a window's place, moved onto a screen if too little of it would be seen."""
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    rect = QRect(wanted.topLeft(), wanted.size().expandedTo(least))
    for area in screens:
        seen = area.intersected(rect)
        top_is_seen = area.top() <= rect.top() <= area.bottom() - _LEAST_SHOWN
        if seen.width() >= _LEAST_SHOWN and top_is_seen:
            return QRect(rect.topLeft(), rect.size().boundedTo(area.size()))
    area = QGuiApplication.primaryScreen().availableGeometry()
    rect.setSize(rect.size().boundedTo(area.size()))
    rect.moveCenter(area.center())
    return rect
