"""What is instant in tests unless it is made slow: dialogs that stay open, and disks that wait."""

import threading

from PySide6.QtCore import QEventLoop, QTimer


class LateAnswer:
    """A dialog that stays open while things happen behind it, and is then answered.

    Parameters
    ----------
    answer : object
        None is Cancel.
    meanwhile : callable
        What happens behind it.
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
    """Reading or writing that waits until it is let go on."""

    def __init__(self, call):
        self._call, self._may = call, threading.Event()
        self.reached = threading.Event()

    def __call__(self, *arguments, **options):
        self.reached.set()
        self._may.wait()
        return self._call(*arguments, **options)

    def go_on(self):
        """Let everything through, from now on."""
        self._may.set()


def meanwhile(verb):
    """Have something done from the event loop, whether or not what is called next comes back."""
    QTimer.singleShot(0, verb)
