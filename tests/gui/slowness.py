"""Slow dialogs and slow disks, which are otherwise instant in tests."""

import threading

from PySide6.QtCore import QEventLoop, QTimer


class LateAnswer:
    """A dialog that stays open while something happens behind it, and is then answered.

    Parameters
    ----------
    answer : object
        None is Cancel.
    meanwhile : callable
        Called while the dialog is open.
    """

    def __init__(self, answer, meanwhile):
        self._answer, self._meanwhile = answer, meanwhile

    def __call__(self, *_asked):
        loop = QEventLoop()
        QTimer.singleShot(0, lambda: self._pass(loop))
        loop.exec()
        loop.deleteLater()
        return self._answer

    def _pass(self, loop):
        try:
            self._meanwhile()
        finally:
            loop.quit()


class SlowDisk:
    """Reading or writing that blocks until released."""

    def __init__(self, call):
        self._call, self._may = call, threading.Event()
        self.reached = threading.Event()

    def __call__(self, *arguments, **options):
        self.reached.set()
        self._may.wait()
        return self._call(*arguments, **options)

    def go_on(self):
        """Release all calls from now on."""
        self._may.set()


def meanwhile(verb):
    """Call a function from the event loop, whether or not the next call returns."""
    QTimer.singleShot(0, verb)
