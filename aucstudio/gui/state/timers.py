"""Timers on the window's thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def ticking(parent: QObject, milliseconds: int, verb: Callable[[], object]) -> QTimer:
    """Make a timer, not yet started, that calls ``verb`` again and again."""
    timer = QTimer(parent)
    timer.setInterval(milliseconds)
    timer.timeout.connect(verb)
    return timer


def delayed(parent: QObject, milliseconds: int, verb: Callable[[], object]) -> QTimer:
    """Make a timer that calls ``verb`` once, some time after its last start."""
    timer = ticking(parent, milliseconds, verb)
    timer.setSingleShot(True)
    return timer


class Turns(QObject):
    """Does one thing in each turn of the event loop: what a person does comes between.

    Parameters
    ----------
    parent : QObject
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: deque[Callable[[], object]] = deque()
        self._next = delayed(self, 0, self._take)

    def ask(self, verb: Callable[[], object]) -> None:
        """Call a function soon, once however often it is requested."""
        if verb not in self._waiting:
            self._waiting.append(verb)
        self._next.start()

    def _take(self) -> None:
        if self._waiting:
            self._next.start()
            self._waiting.popleft()()
