"""Several runs at once: listed, stopped together, and started only if memory suffices."""

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction

from aucstudio.engine import METHODS
from aucstudio.gui import app
from aucstudio.gui.panels.runs_panel import QueueList
from aucstudio.gui.panels.status import ProgressStrip
from aucstudio.gui.state import project_handle
from aucstudio.notices.controls import control_words
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.record import DONE, FAILED, STOPPED
from aucstudio.project.work import submit
from tests.conftest import write_file
from tests.gui.conftest import Gate, on


@pytest.fixture
def held(monkeypatch):
    """Fits that block after the first split of their run until released."""
    gates = {
        method: Gate(monkeypatch, METHODS[method], "_fit", call=2)
        for method in ("auc-rls", "rls", "rank-svm")
    }
    yield gates
    open_all(gates)


def open_all(gates):
    for gate in gates.values():
        gate.open()


def start_runs(session, table_file, *methods):
    session.files.open_now(table_file, "table")
    folds = Validation(scheme="folds", folds=3)
    for method in methods:
        session.edit(dataclasses.replace(session.plan, method=method, validation=folds), "choose")
        session.runs.start([session.runs.planned()])


def texts(model):
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_two_runs_train_at_once_and_both_are_listed(session, table_file, qtbot, held):
    queue = QueueList(session)
    qtbot.addWidget(queue)
    strip = ProgressStrip(session, QAction("&Run"), QAction("&Stop"))
    qtbot.addWidget(strip)
    strip.resize(900, 30)
    session.runs.run_at_once(2)
    start_runs(session, table_file, "auc-rls", "rls", "rank-svm")
    held["auc-rls"].wait(qtbot)
    held["rls"].wait(qtbot)
    assert [live.experiment.method for live in session.running] == ["auc-rls", "rls"]
    assert session.live is session.running[0]
    assert texts(queue.model) == ["AUC-RLS", "RLS", "RankSVM"]
    assert strip.words.toolTip().endswith("1 more in training · 1 waiting")
    held["auc-rls"].open()
    held["rank-svm"].wait(qtbot)
    assert [live.experiment.method for live in session.running] == ["rls", "rank-svm"]
    assert session.live.experiment.method == "rls"
    open_all(held)
    qtbot.waitUntil(lambda: not session.busy)
    assert {record.status for record in session.records.values()} == {DONE}
    assert len(session.project.runs()) == 3


@pytest.fixture
def shown_queue(session, table_file, qtbot, held):
    """A visible list with one run in training and two in the queue."""
    queue = QueueList(session)
    qtbot.addWidget(queue)
    queue.resize(280, 300)
    start_runs(session, table_file, "auc-rls", "rls", "rank-svm")
    held["auc-rls"].wait(qtbot)
    queue.show()
    return queue


def click_row(qtbot, queue, row):
    at = queue.view.visualRect(queue.model.index(row, 0)).center()
    qtbot.mouseClick(queue.view.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_running_and_queued_runs_are_listed(shown_queue, qtbot, session, held):
    queue = shown_queue
    assert texts(queue.model) == ["AUC-RLS", "RLS", "RankSVM"]
    qtbot.waitUntil(lambda: queue.model.index(0, 1).data() == "training 33 %")
    assert queue.model.index(1, 1).data() == "waiting"
    open_all(held)
    qtbot.waitUntil(lambda: not queue.model.items)
    assert not queue.isVisible()


def test_queued_runs_are_reordered_and_removed(shown_queue, qtbot, session, held):
    queue = shown_queue
    click_row(qtbot, queue, 0)
    assert not queue.up.isEnabled()
    assert not queue.down.isEnabled()
    click_row(qtbot, queue, 2)
    assert not queue.down.isEnabled()
    qtbot.mouseClick(queue.up, Qt.MouseButton.LeftButton)
    assert texts(queue.model) == ["AUC-RLS", "RankSVM", "RLS"]
    assert queue.chosen().experiment.method == "rank-svm"  # it stays selected at its new place
    qtbot.keyClick(queue.view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert texts(queue.model) == ["AUC-RLS", "RLS", "RankSVM"]
    assert queue.stop_this.text() == control_words("queue_take_out")["text"]
    qtbot.mouseClick(queue.stop_this, Qt.MouseButton.LeftButton)
    assert texts(queue.model) == ["AUC-RLS", "RLS"]
    open_all(held)
    qtbot.waitUntil(lambda: not session.busy and not session.queue)
    methods = [record.experiment.method for record in session.records.values()]
    assert methods == ["auc-rls", "rls"]


def test_stopping_one_run_continues_the_queue(shown_queue, qtbot, session, held):
    queue = shown_queue
    click_row(qtbot, queue, 0)
    qtbot.mouseClick(queue.stop_this, Qt.MouseButton.LeftButton)
    assert queue.model.index(0, 1).data() == "stopping…"
    assert not queue.stop_this.isEnabled()
    open_all(held)
    qtbot.waitUntil(lambda: not session.busy and not session.queue)
    assert [r.status for r in session.records.values()] == [STOPPED, DONE, DONE]


@pytest.mark.slow
def test_stop_all_keeps_the_finished_splits(session, table_file, qtbot, held):
    session.runs.run_at_once(2)
    start_runs(session, table_file, "auc-rls", "rls", "rank-svm")
    held["auc-rls"].wait(qtbot)
    held["rls"].wait(qtbot)
    session.stop()
    assert all(live.stopping for live in session.running)
    qtbot.waitUntil(lambda: not session.busy)
    records = list(session.records.values())
    assert [record.status for record in records] == [STOPPED, STOPPED]
    assert [len(record.splits) for record in records] == [1, 1]
    assert len(session.project.runs()) == 2


def test_run_that_exceeds_memory_beside_another_waits(
    session, table_file, qtbot, held, monkeypatch
):
    session.runs.run_at_once(2)
    asked = []

    def refuse(experiments, _table, count):
        asked.append(([experiment.method for experiment in experiments], count))
        raise InputError("2 runs at once would take about 3 GB")

    monkeypatch.setattr("aucstudio.gui.state.session_runs.check_size_at_once", refuse)
    start_runs(session, table_file, "auc-rls", "rls")
    held["auc-rls"].wait(qtbot)
    assert asked[-1] == (["rls", "auc-rls"], 2)
    assert len(session.running) == 1
    assert len(session.queue) == 1
    held["auc-rls"].open()
    held["rls"].wait(qtbot)
    held["rls"].open()
    qtbot.waitUntil(lambda: not session.busy)
    assert len(session.records) == 2


def test_run_requested_during_preparation_is_queued(session, table_file, qtbot, monkeypatch):
    gate = Gate(monkeypatch, project_handle, "new_unsaved_project")
    start_runs(session, table_file, "auc-rls")
    gate.wait(qtbot)
    for method in ("rls", "rank-svm"):
        session.edit(dataclasses.replace(session.plan, method=method), "choose")
        session.runs.start([session.runs.planned()])
    assert [one.experiment.method for one in session.queue] == ["rls", "rank-svm"]
    gate.open()
    qtbot.waitUntil(lambda: not session.busy)
    assert [record.experiment.method for record in session.records.values()] == [
        "auc-rls",
        "rls",
        "rank-svm",
    ]
    assert len(session.project.runs()) == 3


def test_missing_test_file_fails_its_run_only(session, table_file, qtbot, tmp_path):
    session.files.open_now(table_file, "table")
    errors = []
    session.failed.connect(lambda sentence, _trace: errors.append(sentence))
    gone = write_file(tmp_path / "gone.csv", table_file.read_bytes())
    schemes = (
        Validation(),
        Validation(scheme="file", test_file=str(gone)),
        Validation(seed=2),
        Validation(seed=3),
    )
    for validation in schemes:
        session.edit(dataclasses.replace(session.plan, validation=validation), "choose")
        session.runs.start([session.runs.planned()])
    gone.unlink()
    qtbot.waitUntil(lambda: not session.busy)
    records = list(session.records.values())
    assert [record.status for record in records] == [DONE, FAILED, DONE, DONE]
    assert str(gone) in records[1].error
    assert len(errors) == 1
    assert str(gone) in errors[0]
    assert [record.status for record in session.project.runs()] == [DONE, FAILED, DONE, DONE]


@pytest.mark.slow
def test_stop_ends_the_run_and_starts_the_next(session, table_file, qtbot, held):
    start_runs(session, table_file, "auc-rls", "rls")
    held["auc-rls"].wait(qtbot)
    session.study.runner.stop(session.live)
    held["rls"].wait(qtbot)
    held["rls"].open()
    qtbot.waitUntil(lambda: not session.busy)
    assert [record.status for record in session.records.values()] == [STOPPED, DONE]


def test_queue_moves_and_cancels_single_runs(session, table_file, qtbot, held):
    start_runs(session, table_file, "auc-rls", "rls", "rank-svm", "rls")
    held["auc-rls"].wait(qtbot)
    first, second, third = session.queue
    queues = []
    on(session, "live", lambda: queues.append(list(session.queue)))
    session.study.runner.move(second, -1)
    assert queues[-1] == [second, first, third]
    session.study.runner.move(second, -1)
    assert queues[-1] == [second, first, third]
    session.study.runner.move(second, 1)
    session.study.runner.cancel(first)  # but not the third, which has the same settings
    assert queues[-1] == [second, third]
    open_all(held)
    qtbot.waitUntil(lambda: not session.busy)
    names = [run.look.name for run in session.shown_runs()]
    assert names == ["AUC-RLS", "RankSVM", "RLS (2)"]


@pytest.mark.slow
def test_run_waiting_for_a_slow_disk_can_be_stopped(session, table_file, qtbot, monkeypatch):
    gate = Gate(monkeypatch, submit, "with_test_file")
    start_runs(session, table_file, "auc-rls")
    gate.wait(qtbot)
    session.stop()
    qtbot.waitUntil(lambda: not session.busy)
    gate.open()
    assert session.records == {}


def test_menu_sets_the_number_of_simultaneous_runs(window, table_file, qtbot, monkeypatch):
    place = app.the_processes()
    chosen = [action for action in window.findChildren(QAction) if "at_once" in action.objectName()]
    assert chosen[0].isChecked()
    chosen[-1].trigger()
    assert place.at_once == int(chosen[-1].text()) >= 1
    start_runs(window.session, table_file, "auc-rls", "rls", "rank-svm")
    qtbot.waitUntil(lambda: not window.session.busy and not window.session.queue)
    assert [record.status for record in window.session.records.values()] == [DONE] * 3
    chosen[0].trigger()
    assert place.at_once == 1
