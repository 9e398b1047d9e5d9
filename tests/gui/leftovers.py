"""What a test of the window leaves behind: objects of Qt's, threads and processes.

Python's collector may end an object of Qt's on any thread and in any order, which can stop or crash
the program. So no such object may wait for it, nor outlive its test.
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

_ENDING_SECONDS = 30.0  # a call that was given up ends in its own time
_OF_THE_APPLICATION = (QApplication, QClipboard, QMimeData, QScreen, QStyle)
# They belong to the processes that all windows have in common, and end with the program.
_COMMON = ("aucstudio-pipe", "aucstudio-spawner")


class Leftovers:
    """What is there now belongs to others; what comes after it must have gone in the end."""

    def __init__(self):
        gc.disable()
        gc.collect()
        gc.freeze()
        self._windows = set(map(_pointer, QApplication.topLevelWidgets()))
        self._threads = set(threading.enumerate())
        self._children = _children()

    def found(self):
        """End what waits for its end; list what is left then."""
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        try:
            return [*_waiting_for_the_collector(), *self._living(), *self._running()]
        finally:
            gc.enable()

    def _living(self):
        # What was there before is out of the collector's sight, and so not among the objects.
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


def _waiting_for_the_collector():
    """List the living objects of Qt's that only the collector would end, and let it."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    found = [f"{_named(one)}, for the collector" for one in gc.garbage if _is_of_qt(one)]
    gc.garbage.clear()
    gc.collect()
    return found


def _is_of_qt(one):
    # By its type: a dead weak proxy in the garbage of others cannot be asked for its class.
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
    """Give the processes at rest that wait for the next run of any window."""
    if not the_processes.cache_info().currsize:
        return set()
    return {process._popen.pid for process in the_processes()._idle}
