"""Cyclic garbage is collected on the window's thread only."""

import gc
import sys
import threading

import pytest
from PySide6.QtCore import QCoreApplication, QObject, QTimer

from aucstudio.gui.app import Collector


class Loop:
    """A reference cycle that records the thread it is collected on."""

    def __init__(self, ended):
        self.held, self.itself, self.ended = QObject(), self, ended

    def __del__(self):
        self.ended.append(threading.current_thread())


@pytest.fixture
def collector(qapp):
    """A collector on the application's thread; stopped after the test."""
    was_on = gc.isenabled()
    made = Collector(qapp)
    yield made
    made.deleteLater()
    if was_on:
        gc.enable()


def test_only_the_main_thread_collects(collector):
    ended = []
    Loop(ended)
    busy = threading.Thread(target=lambda: [[k] for k in range(200_000)])
    busy.start()
    busy.join()
    assert ended == []
    gc.collect()
    assert ended == [threading.main_thread()]


def test_timer_collects_garbage_when_due(collector, qtbot):
    (timer,) = collector.findChildren(QTimer)
    assert timer.isActive()
    timer.setInterval(1)
    ended = []
    Loop(ended)
    kept = [[k] for k in range(2 * gc.get_threshold()[0])]
    qtbot.waitUntil(lambda: ended == [threading.main_thread()])
    assert len(kept) > gc.get_threshold()[0]


def test_no_collection_without_new_objects(collector):
    gc.collect()
    found = []
    gc.callbacks.append(lambda phase, _info: found.append(phase))
    try:
        collector.collect_what_is_due()
    finally:
        gc.callbacks.pop()
    assert found == []


@pytest.mark.slow
def test_objects_of_newly_imported_libraries_are_frozen(collector, monkeypatch):
    monkeypatch.setitem(sys.modules, "a_library_that_came_later", sys)
    brought = Loop(ended := [])
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 1000))
    collector.collect_what_is_due()
    del brought
    collector.collect_what_is_due()
    assert ended == []
    collector.collect_all()
    assert ended == [threading.main_thread()]


def test_program_starts_the_collector(monkeypatch):
    """When the application runs; a program that only creates a window keeps Python's collector."""
    from aucstudio.gui import app

    def begin(application):
        assert isinstance(application, QCoreApplication)
        raise InterruptedError

    monkeypatch.setattr(app, "Collector", begin)
    with pytest.raises(InterruptedError):
        app.run_application(None)
