"""Cyclic garbage is collected on the window's thread alone.

Python's collector runs on whichever thread asks for memory. A Qt object that it destroys on another
one locks Qt and then waits for the interpreter, while the window's thread holds the interpreter and
waits for Qt: neither ever goes on. So the collector is off, and a timer does its work.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from aucstudio.gui.widgets import ticking

_MILLISECONDS = 1000
_NAME = "garbage_timer"


def collect_on_this_thread(application: QApplication) -> None:
    """Switch the automatic collector off, and collect by a timer of the application."""
    gc.disable()
    if application.findChild(QTimer, _NAME) is None:
        timer = ticking(application, _MILLISECONDS, collect_what_is_due)
        timer.setObjectName(_NAME)
        timer.start()


def collect_what_is_due() -> None:
    """Collect the oldest generation that Python would have collected by itself."""
    counts, thresholds = gc.get_count(), gc.get_threshold()
    due = [g for g in range(3) if counts[g] > thresholds[g]]
    if due:
        gc.collect(max(due))
