"""Python's cyclic collector works on the window's thread alone.

By itself it runs on whichever thread asks for memory. An object of Qt's that it ended there would
lock Qt and then wait for the interpreter, while the window's thread holds the interpreter and waits
for Qt: neither would ever go on.
"""

from __future__ import annotations

import gc
import sys

from PySide6.QtCore import QObject

from aucstudio.gui.state.timers import ticking

_MILLISECONDS = 1000


class Collector(QObject):
    """Switches the automatic collector off, and collects by a timer what it would have collected.

    Parameters
    ----------
    parent : QObject
        Lives as long as there is something to collect: the application.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._modules = 0
        self._keep()
        ticking(self, _MILLISECONDS, self.collect_what_is_due).start()

    def collect_what_is_due(self) -> None:
        """Collect the oldest generation that is due."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        due = max((age for age in range(3) if counts[age] > thresholds[age]), default=-1)
        if due == 2 and len(sys.modules) > self._modules:
            self._keep()
        elif due >= 0:
            gc.collect(due)

    def collect_all(self) -> None:
        """Look through everything, as it may be once a window with all its data has gone."""
        gc.unfreeze()
        gc.collect()
        self._keep()

    def _keep(self) -> None:
        # To look through all that libraries have brought takes longer than a window may pause.
        self._modules = len(sys.modules)
        gc.freeze()
