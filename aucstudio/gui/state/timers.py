"""Timers on the window's thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def ticking(parent: QObject, milliseconds: int, action: Callable[[], object]) -> QTimer:
    """Return a stopped timer that calls a function repeatedly."""
    timer = QTimer(parent)
    timer.setInterval(milliseconds)
    timer.timeout.connect(action)
    return timer


def delayed(parent: QObject, milliseconds: int, action: Callable[[], object]) -> QTimer:
    """Return a stopped timer that calls a function once, some time after its last start."""
    timer = ticking(parent, milliseconds, action)
    timer.setSingleShot(True)
    return timer


class Turns(QObject):
    """Calls one function in each turn of the event loop, so that user events come between.

    Parameters
    ----------
    parent : QObject
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: deque[Callable[[], object]] = deque()
        self._next = delayed(self, 0, self._take)

    def ask(self, action: Callable[[], object]) -> None:
        """Call a function soon, once however often it is requested."""
        if action not in self._waiting:
            self._waiting.append(action)
        self._next.start()

    def _take(self) -> None:
        if self._waiting:
            self._next.start()
            self._waiting.popleft()()
