"""Verify a run on the Training page; the result is saved with the project."""

import dataclasses
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QTableView

from aucstudio.gui.pages.training.training_view import TrainingView
from aucstudio.project.runs.verification import verify_run
from tests.gui.conftest import make_record, put, save_as


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    return open_view(TrainingView, session)


@pytest.fixture
def record(session, tmp_path):
    made = make_record(session.table, "svm-auc")
    session.study.home.add_run(made)
    put(session, made, "Mine")
    save_as(session, tmp_path / "study.aucproj")
    return made


def button(view):
    return view.findChild(QPushButton, "verify_button")


def press(view, qtbot):
    qtbot.waitUntil(lambda: button(view).isVisible())
    qtbot.mouseClick(button(view), Qt.MouseButton.LeftButton)


def done(view, qtbot):
    qtbot.waitUntil(lambda: not view.verify_panel.busy())


def cells(view):
    model = view.findChild(QTableView, "verify_table").model()
    return [[model.index(r, c).data() for c in range(4)] for r in range(model.rowCount())]


def words(view):
    return view.findChild(QLabel, "verify_verdict").text()


@pytest.mark.slow
def test_verification_table_is_kept_after_reopening(
    view, record, session, qtbot, open_view, tmp_path
):
    press(view, qtbot)
    assert button(view).text() == "&Cancel"
    assert view.findChild(QProgressBar, "verify_progress").isVisible()
    done(view, qtbot)
    assert button(view).text() == "Verif&y…"
    lines = cells(view)
    assert lines[0][0] == "Objective of this scorer, recomputed"
    assert lines[-1][0].startswith("pAUC at FPR 0 … 0.1, held-out")
    assert "An independent solver" in words(view)
    assert view.findChild(QTableView, "verify_table").isVisible()
    session.files.open_now(tmp_path / "study.aucproj", "project")
    qtbot.waitUntil(lambda: not view.is_stale and view.verify_panel.isVisible())
    assert cells(view) == lines
    # Save as copies the verification.
    save_as(session, tmp_path / "other.aucproj")
    assert set(session.study.home.file.read().verifications) == {record.id}


def test_second_press_cancels_the_verification(view, record, session, qtbot):
    press(view, qtbot)
    qtbot.mouseClick(button(view), Qt.MouseButton.LeftButton)
    done(view, qtbot)
    assert session.study.home.verified == {}
    assert not view.verify_panel.isVisible()
    assert button(view).text() == "Verif&y…"


@pytest.mark.slow
def test_missing_table_is_reported_on_the_page(view, record, session, qtbot, table_file):
    table_file.unlink()
    press(view, qtbot)
    done(view, qtbot)
    assert words(view).startswith("Not verified: ")
    assert "study.csv" in words(view)
    assert session.study.home.verified == {}


def test_run_without_a_finished_fit_has_no_verify_button(view, session, qtbot):
    assert not button(view).isVisible()
    failed = dataclasses.replace(make_record(session.table, "svm-auc"), splits=(), status="failed")
    put(session, failed, "Failed")
    qtbot.waitUntil(lambda: not view.is_stale)
    assert not button(view).isVisible()


def test_verification_table_leaves_room_for_the_plots(view, record, session, qtbot):
    session.study.home.keep_verification(verify_run(record, 0, lambda *_: None))
    session.notify({"runs"})
    qtbot.waitUntil(lambda: view.verify_panel.isVisible())
    table = view.findChild(QTableView, "verify_table")
    tall = table.height()
    view.resize(900, 360)
    qtbot.waitUntil(lambda: table.height() < tall)
    assert table.height() < 0.5 * view.height()


def test_crashed_verification_process_is_reported(view, record, session, qtbot, monkeypatch):
    dies = [sys.executable, "-c", "raise SystemExit(7)"]
    monkeypatch.setattr("aucstudio.project.child_process.child_command", lambda *_: dies)
    press(view, qtbot)
    done(view, qtbot)
    assert "ended unexpectedly (exit status 7)" in words(view)
