"""Cyclic garbage, among it Qt objects, is collected on the window's thread alone."""

import gc
import threading

from PySide6.QtCore import QObject, QTimer

from aucstudio.gui import garbage
from aucstudio.gui.app import make_application


class Loop:
    """A cycle with something of Qt's in it."""

    def __init__(self, ended):
        self.held, self.itself, self.ended = QObject(), self, ended

    def __del__(self):
        self.ended.append(threading.current_thread())


def test_other_threads_collect_nothing(qapp):
    make_application()
    assert not gc.isenabled()
    ended = []
    Loop(ended)
    busy = threading.Thread(target=lambda: [[k] for k in range(200_000)])
    busy.start()
    busy.join()
    assert ended == []
    gc.collect()
    assert ended == [threading.main_thread()]


def test_the_timer_collects_what_is_due(qapp):
    make_application()
    make_application()
    (timer,) = qapp.findChildren(QTimer, "garbage_timer")
    assert timer.isActive()
    ended = []
    Loop(ended)
    kept = [[k] for k in range(2 * gc.get_threshold()[0])]
    garbage.collect_what_is_due()
    assert ended == [threading.main_thread()]
    assert len(kept) > gc.get_threshold()[0]
