"""Cyclic garbage is collected on the window's thread alone, and nothing of Qt's waits for it."""

import gc
import sys
import threading

import pytest
from PySide6.QtCore import QCoreApplication, QObject, QTimer

from aucstudio.gui.app import Collector


class Loop:
    """A cycle with something of Qt's in it."""

    def __init__(self, ended):
        self.held, self.itself, self.ended = QObject(), self, ended

    def __del__(self):
        self.ended.append(threading.current_thread())


@pytest.fixture
def collector(qapp):
    """The application collects on its own thread; ended with the test."""
    was_on = gc.isenabled()
    made = Collector(qapp)
    yield made
    made.deleteLater()
    if was_on:
        gc.enable()


def test_other_threads_collect_nothing(collector):
    ended = []
    Loop(ended)
    busy = threading.Thread(target=lambda: [[k] for k in range(200_000)])
    busy.start()
    busy.join()
    assert ended == []
    gc.collect()
    assert ended == [threading.main_thread()]


def test_what_is_due_is_collected_by_a_timer(collector, qtbot):
    (timer,) = collector.findChildren(QTimer)
    assert timer.isActive()
    timer.setInterval(1)
    ended = []
    Loop(ended)
    kept = [[k] for k in range(2 * gc.get_threshold()[0])]
    qtbot.waitUntil(lambda: ended == [threading.main_thread()])
    assert len(kept) > gc.get_threshold()[0]


def test_without_new_objects_nothing_is_collected(collector):
    gc.collect()
    found = []
    gc.callbacks.append(lambda phase, _info: found.append(phase))
    try:
        collector.collect_what_is_due()
    finally:
        gc.callbacks.pop()
    assert found == []


@pytest.mark.slow
def test_what_libraries_bring_is_not_looked_through_again(collector, monkeypatch):
    monkeypatch.setitem(sys.modules, "a_library_that_came_later", sys)
    brought = Loop(ended := [])
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 1000))
    collector.collect_what_is_due()
    del brought
    collector.collect_what_is_due()
    assert ended == []
    collector.collect_all()
    assert ended == [threading.main_thread()]


def test_the_program_collects_so(monkeypatch):
    """As soon as it runs; a program that only has a window made keeps its own collector."""
    from aucstudio.gui import app

    def begin(application):
        assert isinstance(application, QCoreApplication)
        raise InterruptedError

    monkeypatch.setattr(app, "Collector", begin)
    with pytest.raises(InterruptedError):
        app.run_application(None)
