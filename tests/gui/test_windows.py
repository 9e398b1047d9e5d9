"""The File menu, closing during runs, and several windows of one program."""

import threading

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QComboBox, QMessageBox, QPushButton

from aucstudio.engine import METHODS
from aucstudio.gui import windows as windows_module
from aucstudio.gui.common import prompts
from aucstudio.gui.state import study_reading
from aucstudio.gui.windows import the_windows
from aucstudio.project.errors import InputError
from aucstudio.project.runs.record import DONE, STOPPED
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.store.workspace import remember_recent
from aucstudio.project.work.submit import Here
from tests.conftest import write_file, write_table
from tests.gui.conftest import Gate, pick, save_as


@pytest.fixture(autouse=True)
def run_on_threads(monkeypatch):
    """Run methods on threads, where a test can block them."""
    monkeypatch.setattr("aucstudio.gui.app.the_processes", Here)
    monkeypatch.setattr(windows_module, "the_processes", Here)


@pytest.fixture(autouse=True)
def closed(qtbot):
    yield
    for window in list(the_windows().open):
        window.leave()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def held(window, table_file, qtbot, monkeypatch):
    """A running job that blocks until released, and a queued one."""
    gate = Gate(monkeypatch, METHODS["auc-rls"], "_fit")
    window.open_now(table_file)
    for _ in range(2):
        window.actions_.run.trigger()
    gate.wait(qtbot)
    yield gate
    gate.open()


def press(window, name):
    window.findChild(QAction, f"action_{name}").trigger()


def test_opening_a_table_does_not_block_the_window(window, answers, table_file, qtbot, monkeypatch):
    gate = Gate(monkeypatch, study_reading, "read_table")
    answers.open_path = str(table_file)
    press(window, "open_data")
    gate.wait(qtbot)
    qtbot.waitUntil(lambda: window.strip.words.toolTip() == "opening study.csv…")
    assert window.actions_.stop.isEnabled()
    press(window, "stop")
    assert not window.actions_.stop.isEnabled()
    assert window.strip.words.toolTip() == "Open a table first."
    press(window, "open_data")
    gate.open()
    qtbot.waitUntil(lambda: window.shows_study)
    assert window.session.table.path == table_file


def test_files_that_cannot_be_opened_are_reported_in_the_bar(
    window, answers, table_file, qtbot, tmp_path
):
    gone = tmp_path / "gone.csv"
    window.open_path(gone)
    qtbot.waitUntil(lambda: bool(answers.errors))
    assert str(gone) in window.messages.words.text()
    window.open_now(table_file)
    window.open_path(write_file(tmp_path / "broken.aucproj", b"no project"))
    qtbot.waitUntil(lambda: len(answers.errors) == 2)
    assert "broken.aucproj" in answers.errors[1]
    window.open_path(gone)
    qtbot.waitUntil(lambda: "gone.csv" in window.workplace.data_panel.problem.text())
    assert window.session.table.path == table_file


def test_failed_save_is_reported_in_the_bar(window, answers, table_file, qtbot, tmp_path):
    window.open_now(table_file)
    answers.save_path = str(tmp_path / "no such folder" / "p.aucproj")
    press(window, "save_project_as")
    qtbot.waitUntil(lambda: bool(answers.errors))
    assert "cannot save the project as" in window.messages.words.text().lower()
    assert not window.session.study.is_saved


@pytest.fixture
def full_disk(monkeypatch):
    """Make the disk full for runs until the test frees it."""
    full, add_run = threading.Event(), ProjectFile.add_run

    def add(self, record):
        if full.is_set():
            raise InputError("the disk is full")
        return add_run(self, record)

    monkeypatch.setattr(ProjectFile, "add_run", add)
    full.set()
    return full


@pytest.fixture
def unsaved(window, answers, table_file, full_disk, run_to_end, qtbot, tmp_path):
    """A saved project whose last run could not be saved."""
    window.open_now(table_file)
    answers.save_path = str(tmp_path / "p.aucproj")
    press(window, "save_project_as")
    qtbot.waitUntil(lambda: window.session.study.is_saved)
    run_to_end(window)
    (record,) = window.session.records.values()
    assert list(window.session.unsaved) == [record.id]
    return record


def test_save_writes_the_unsaved_runs(window, unsaved, full_disk, qtbot):
    for there in ([], [unsaved.id]):
        press(window, "save_project")
        qtbot.waitUntil(lambda: not window.session.files.saver.busy)
        assert [record.id for record in window.session.project.runs()] == there
        assert list(window.session.unsaved) == ([] if there else [unsaved.id])
        full_disk.clear()
    assert window.session.study.status == "All runs saved in p.aucproj"


def test_closing_asks_before_unsaved_runs_are_lost(window, answers, unsaved, qtbot):
    answers.choice = None
    assert not window.close()
    (asked,) = answers.asked
    assert asked[1:] == ("1 run not saved: the disk is full.", ["save", "lose"])
    answers.choice = "lose"
    window.close()
    qtbot.waitUntil(lambda: not the_windows().open)


@pytest.mark.parametrize("verb", ["open_data", "close"])
def test_opening_another_study_asks_before_unsaved_runs_are_lost(
    window, answers, unsaved, table_file, qtbot, tmp_path, verb
):
    answers.open_path, answers.choice = str(table_file), None
    press(window, verb)
    (asked,) = answers.asked
    assert asked[1] == "1 run not saved: the disk is full."
    assert [key for key in asked[2] if key != "elsewhere"] == ["save", "lose"]
    assert not window.session.files.opener.busy
    assert list(window.session.records) == [unsaved.id]
    answers.choice = "lose"
    press(window, verb)
    qtbot.waitUntil(lambda: not window.session.records)
    assert (window.session.table is None) == (verb == "close")


def test_closed_study_keeps_unsaved_runs_until_confirmed(
    window, answers, held, full_disk, table_file, qtbot
):
    answers.open_path, answers.choice = str(table_file), "go on"
    press(window, "open_data")
    qtbot.waitUntil(lambda: bool(window.session.left))
    held.open()
    qtbot.waitUntil(lambda: not window.session.files.has_work)
    answers.choice = None
    assert not window.close()
    assert answers.asked[-1][1].startswith("In study.csv, 2 runs not saved: the disk is full")


def test_leaving_a_study_retries_the_unsaved_runs(window, unsaved, full_disk, table_file, qtbot):
    project = window.session.project
    full_disk.clear()
    window.open_now(table_file)
    qtbot.waitUntil(lambda: not window.session.files.saver.busy)
    assert window.session.project is None
    assert [record.id for record in project.runs()] == [unsaved.id]


def test_closing_retries_the_unsaved_runs(window, answers, unsaved, full_disk):
    project = window.session.project
    full_disk.clear()
    assert window.close()
    assert answers.asked == []
    assert [record.id for record in project.runs()] == [unsaved.id]


def test_failed_run_does_not_stop_the_next_ones(window, answers, table_file, qtbot, monkeypatch):
    def break_down(self, X, positive, monitor):
        raise ValueError("this method gives up")

    monkeypatch.setattr(METHODS["rls"], "_fit", break_down)
    window.open_now(table_file)
    for method in ("rls", "auc-rls"):
        pick(window.findChild(QComboBox, "method_combo"), method)
        window.actions_.run.trigger()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.session.shown_runs()[-1].record.status == DONE
    (error,) = answers.errors
    assert error.startswith("RLS failed: ")
    assert "this method gives up" in error


def test_recent_files_are_in_the_menu(window, table_file, tmp_path, qtbot):
    odd = write_table(tmp_path / "salt & pepper.csv")
    for path in (table_file, odd):
        remember_recent(path)
    menu = window.actions_.recent
    menu.aboutToShow.emit()
    first, second = menu.actions()
    assert first.text() == f"salt && pepper.csv   {tmp_path}"
    assert second.text().startswith("study.csv")
    first.trigger()
    qtbot.waitUntil(lambda: window.shows_study)
    assert window.session.table.path == odd


def test_close_returns_to_the_start_page_and_then_closes(ran):
    band = ran.session.plan.band
    press(ran, "close")
    assert ran.centre.currentWidget() is ran.welcome
    assert ran.session.shown_runs() == []
    assert ran.session.plan.band == band
    assert ran.isVisible()
    press(ran, "close")
    assert not ran.isVisible()


def test_closing_with_running_jobs_asks_once(window, answers, held, qtbot):
    answers.choice = None
    assert not window.close()
    ((_title, text, choices),) = answers.asked
    assert text == (
        "In study.csv, AUC-RLS is training, 1 run waits. Stopped runs keep their finished splits."
    )
    assert choices == ["wait", "stop"]
    assert window.isVisible()
    assert len(window.session.running) == 1
    answers.choice = "stop"
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert not window.session.files.has_work


def test_window_closes_when_all_runs_have_ended(window, answers, held, qtbot):
    answers.choice = "wait"
    press(window, "quit")
    assert window.isVisible()
    held.open()
    qtbot.waitUntil(lambda: not window.isVisible())
    records = window.session.project.runs()
    assert [record.status for record in records] == [DONE, DONE]


@pytest.mark.parametrize("choice", ["go on", "stop"])
def test_opening_with_running_jobs_asks(window, answers, held, qtbot, tmp_path, choice):
    project = window.session.project.path
    other = write_table(tmp_path / "other.csv", seed=3)
    answers.choice = None
    window.open_path(other)
    assert answers.asked[0][2] == ["elsewhere", "go on", "stop"]
    assert "AUC-RLS is training, 1 run waits" in answers.asked[0][1]
    answers.choice = choice
    with qtbot.waitSignal(window.session.files.opened):
        window.open_path(other)
    assert window.session.table.path == other
    assert window.actions_.stop.isEnabled() or choice == "stop"
    if choice == "go on":
        assert window.strip.words.toolTip().startswith("AUC-RLS of study.csv · ")
    held.open()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.session.records == {}
    found = [record.status for record in ProjectFile(project).runs()]
    assert found == ([DONE, DONE] if choice == "go on" else [STOPPED])


def test_opening_in_a_new_window_does_not_change_the_first(window, answers, held, qtbot, tmp_path):
    other = write_table(tmp_path / "other.csv", seed=3)
    answers.choice = "elsewhere"
    window.open_path(other)
    (second,) = [one for one in the_windows().open if one is not window]
    qtbot.waitUntil(lambda: second.shows_study)
    assert second.session.table.path == other
    assert window.session.table.path.name == "study.csv"
    assert len(window.session.running) == 1
    assert second.session.running == []


def test_stop_cancels_running_and_queued_runs(window, held, qtbot):
    assert window.actions_.stop.isEnabled()
    press(window, "stop")
    assert list(window.session.queue) == []
    held.open()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert not window.actions_.stop.isEnabled()
    assert len(window.session.records) == 1


def test_two_windows_have_separate_studies(window, table_file, qtbot, tmp_path):
    press(window, "new_window")
    first, second = the_windows().open
    assert first is window
    other = write_table(tmp_path / "other.csv", seed=3)
    window.open_now(table_file)
    second.open_now(other)
    window.session.set_band(0.0, 0.3)
    assert second.session.plan.band == (0.0, 0.1)
    assert not second.session.undo_group.canUndo()
    second.close()
    assert the_windows().open == [window]
    assert window.session.table.path == table_file


def test_window_of_an_open_project_is_raised(window, table_file, tmp_path, monkeypatch):
    window.open_now(table_file)
    save_as(window.session, tmp_path / "study.aucproj")
    press(window, "new_window")
    second, raised = the_windows().open[1], []
    monkeypatch.setattr(window, "raise_", lambda: raised.append(window))
    second.open_path(tmp_path / "study.aucproj")
    assert raised == [window]
    assert not second.session.files.opener.busy
    assert not second.shows_study


def test_question_dialog_does_not_block(qtbot, window, monkeypatch):
    monkeypatch.undo()
    answers = []
    prompts.ask_choice(
        window, "Close", "<b>Two</b> runs", (("wait", "&Wait"), ("stop", "&Stop")), answers.append
    )
    box = window.findChild(QMessageBox, "choice_prompt")
    assert box.text() == "<b>Two</b> runs"
    assert answers == []
    box.findChild(QPushButton, "choice_stop").click()
    assert answers == ["stop"]
    prompts.ask_choice(window, "Close", "Two runs", (("wait", "&Wait"),), answers.append)
    window.findChildren(QMessageBox, "choice_prompt")[-1].reject()
    assert answers == ["stop", None]


def test_opening_a_table_reports_where_the_earlier_runs_are(ran, table_file, tmp_path, qtbot):
    assert ran.messages.messages == []
    other = write_table(tmp_path / "other.csv", seed=3)
    ran.open_now(other)
    assert table_file.name in ran.messages.shown.sentence
    menu = ran.actions_.recent
    menu.aboutToShow.emit()
    (kept,) = [a for a in menu.actions() if a.objectName() == "action_unsaved_0"]
    assert kept.text().startswith(table_file.stem)
    kept.trigger()
    qtbot.waitUntil(lambda: len(ran.session.shown_runs()) == 1)
    assert ran.session.table.path == table_file


def test_opening_a_table_reports_that_settings_are_kept(window, table_file, tmp_path):
    window.open_now(table_file)
    window.open_now(write_table(tmp_path / "second.csv", seed=1))
    assert "are kept" not in window.statusBar().currentMessage()
    window.workplace.validation_panel.fields["repeats"].setValue(3)
    window.open_now(write_table(tmp_path / "third.csv", seed=2))
    assert "of the previous table are kept" in window.statusBar().currentMessage()
    assert window.session.plan.validation.repeats == 3
