"""Find Qt objects, threads and processes that a window test leaves behind.

Python's collector may delete a Qt object on any thread and in any order, which can hang or crash
the program. So no Qt object may depend on it or outlive its test.
"""

import gc
import threading
import time

import psutil
import shiboken6
from PySide6.QtCore import QEvent, QMimeData, QObject, QThread
from PySide6.QtGui import QClipboard, QScreen
from PySide6.QtWidgets import QApplication, QGraphicsItem, QStyle

from aucstudio.project.work.processes import the_processes

_ENDING_SECONDS = 30.0  # a cancelled call may still run for a while
_OF_THE_APPLICATION = (QApplication, QClipboard, QMimeData, QScreen, QStyle)
# They belong to the worker processes that all windows share, and end with the program.
_COMMON = ("aucstudio-pipe", "aucstudio-spawner")


class Leftovers:
    """Objects created after this snapshot must be gone at the end of the test."""

    def __init__(self):
        gc.disable()
        gc.collect()
        gc.freeze()
        self._windows = set(map(_pointer, QApplication.topLevelWidgets()))
        self._threads = set(threading.enumerate())
        self._children = _children()

    def found(self):
        """Run pending deletions; list what is left."""
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        try:
            return [*_uncollected(), *self._living(), *self._running()]
        finally:
            gc.enable()

    def _living(self):
        # Earlier objects are frozen, so the collector does not list them.
        seen = {_pointer(one): one for one in gc.get_objects() if _is_of_qt(one)}
        seen |= {
            at: window
            for window in QApplication.topLevelWidgets()
            if (at := _pointer(window)) not in self._windows
        }
        return map(_named, seen.values())

    def _running(self):
        until = time.monotonic() + _ENDING_SECONDS
        left = [
            thread
            for thread in set(threading.enumerate()) - self._threads
            if thread.name.startswith("aucstudio-") and not thread.name.startswith(_COMMON)
        ]
        for thread in left:
            thread.join(max(0.0, until - time.monotonic()))
        yield from (f"the thread {thread.name}" for thread in left if thread.is_alive())
        yield from (f"the process {pid}" for pid in _children() - self._children - _common())


def _uncollected():
    """List the Qt objects that only the collector would delete, and collect them."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    found = [f"{_named(one)}, for the collector" for one in gc.garbage if _is_of_qt(one)]
    gc.garbage.clear()
    gc.collect()
    return found


def _is_of_qt(one):
    # By its type: reading ``__class__`` of a dead weak proxy raises an error.
    if not issubclass(type(one), (QObject, QGraphicsItem)) or not shiboken6.isValid(one):
        return False
    while isinstance(one, QObject) and one.parent() is not None:
        one = one.parent()
    return not isinstance(one, _OF_THE_APPLICATION)


def _pointer(one):
    return shiboken6.getCppPointer(one)[0]


def _named(one):
    name = one.objectName() if isinstance(one, QObject) else ""
    running = " (running)" if isinstance(one, QThread) and one.isRunning() else ""
    return f"{type(one).__name__} {name}".strip() + running


def _children():
    return {child.pid for child in psutil.Process().children()}


def _common():
    """Return the idle worker processes that all windows share."""
    if not the_processes.cache_info().currsize:
        return set()
    return {process.pid for process in the_processes().idle}
