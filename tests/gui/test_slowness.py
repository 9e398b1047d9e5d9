"""Slow dialogs and slow disks: events that happen meanwhile are not lost."""

import pytest

from aucstudio.gui.common import prompts
from aucstudio.project import scratch
from aucstudio.project.store.project.project_file import ProjectFile
from tests.gui.slowness import LateAnswer, SlowDisk, meanwhile


@pytest.fixture
def slow(monkeypatch):
    """Make a function of a module or class block; all calls are released after the test."""
    made = []

    def slow(owner, name):
        disk = SlowDisk(getattr(owner, name))
        monkeypatch.setattr(owner, name, lambda *a, **k: disk(*a, **k))
        made.append(disk)
        return disk

    yield slow
    for disk in made:
        disk.go_on()


@pytest.fixture
def wait(qtbot):
    return lambda state: qtbot.waitUntil(state)


def test_run_that_ends_behind_the_save_dialog_is_saved(
    window, wait, monkeypatch, table_file, tmp_path
):
    path = tmp_path / "kept.aucproj"
    window.open_now(table_file)
    wait(lambda: window.session.table is not None)

    def train():
        window.actions_.run.trigger()
        wait(lambda: len(window.session.shown_runs()) == 1)

    monkeypatch.setattr(prompts, "ask_save_path", LateAnswer(str(path), train))
    window.actions_.save_project_as.trigger()
    wait(lambda: window.session.study.is_saved)
    assert len(ProjectFile.open(path).runs()) == 1


def test_cancelled_dialog_keeps_changes_made_behind_it(window, wait, monkeypatch, table_file):
    window.open_now(table_file)
    wait(lambda: window.session.table is not None)
    table = window.session.table

    def train():
        window.actions_.run.trigger()
        wait(lambda: len(window.session.shown_runs()) == 1)

    monkeypatch.setattr(prompts, "ask_open_path", LateAnswer(None, train))
    window.actions_.open_data.trigger()
    assert window.session.table is table
    assert len(window.session.shown_runs()) == 1


def test_window_responds_during_slow_reading(window, wait, slow, answers, table_file):
    disk = slow(scratch, "folder")
    answers.open_path = str(table_file)
    seen = []

    def look():
        wait(disk.reached.is_set)
        window.set_theme("dark")
        seen.append((window.session.table, window.actions_.stop.isEnabled()))
        disk.go_on()

    meanwhile(look)
    window.actions_.open_data.trigger()
    wait(lambda: window.session.table is not None)
    assert seen == [(None, True)]
    assert answers.errors == []


def test_slow_reading_can_be_stopped(window, wait, slow, answers, table_file):
    disk = slow(scratch, "folder")
    answers.open_path = str(table_file)

    def stop():
        wait(disk.reached.is_set)
        window.actions_.stop.trigger()
        disk.go_on()

    meanwhile(stop)
    window.actions_.open_data.trigger()
    wait(lambda: disk.reached.is_set() and not window.session.busy)
    assert window.session.table is None
    assert answers.errors == []
