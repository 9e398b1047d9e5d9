"""The start page: recent files with their content, missing files, unsaved studies."""

import dataclasses
import datetime
import os

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton

from aucstudio.engine import roc
from aucstudio.gui.app import make_application
from aucstudio.gui.panels.welcome import WelcomePage
from aucstudio.notices.words import day_words
from aucstudio.project.data.validation import Validation
from aucstudio.project.examples import examples
from aucstudio.project.results.documents import describe_file
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.record import FAILED
from aucstudio.project.store import workspace
from aucstudio.project.store.project.project_file import ProjectFile
from tests.gui.conftest import is_at_rest, make_record

NOW = datetime.datetime(2026, 11, 22, 10, 30)


@pytest.fixture
def project(tmp_path, table):
    made = ProjectFile.create(tmp_path / "churn.aucproj")
    for method in ("auc-rls", "logistic"):
        made.add_run(make_record(table, method))
    return made.path


@pytest.fixture
def page(qtbot):
    def show():
        make_application("light")
        made = WelcomePage()
        qtbot.addWidget(made)
        made.resize(900, 700)
        made.refresh()
        with qtbot.waitExposed(made):
            made.show()
        qtbot.waitUntil(lambda: is_at_rest(made))
        return made

    return show


def facts(page, name):
    return page.findChild(QLabel, f"{name}_facts").text()


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (datetime.datetime(2026, 11, 22, 8, 5), "today, 08:05"),
        (datetime.datetime(2026, 11, 21, 23, 59), "yesterday"),
        (datetime.datetime(2026, 11, 18, 12, 0), "Wednesday"),
        (datetime.datetime(2026, 3, 2, 12, 0), "2 March"),
        (datetime.datetime(2024, 3, 2, 12, 0), "2 March 2024"),
    ],
)
def test_days_are_shown_in_relative_form(then, words):
    assert day_words(then, NOW) == words


def test_recent_files_are_listed_with_their_content(page, project, table_file, qtbot):
    workspace.remember_recent(table_file)
    workspace.remember_recent(project)
    made = page()
    qtbot.waitUntil(lambda: "best" in facts(made, "recent_file_0"))
    assert made.findChild(QPushButton, "recent_file_0").text() == "churn.aucproj"
    facts_shown = facts(made, "recent_file_0")
    assert facts_shown.startswith("Project · study.csv · 2 runs · best ")
    assert "pAUC 0." in facts_shown
    assert str(project.parent) in facts_shown
    assert facts(made, "recent_file_1").startswith("Table · ")
    assert made.findChild(QLabel, "recent_file_0_day").text().startswith("today, ")
    example = next(b for b in made.findChildren(QPushButton) if "welcome_example" in b.objectName())
    assert made.findChild(QPushButton, "recent_file_1").mapTo(made, made.pos()).y() < (
        example.mapTo(made, made.pos()).y()
    )


def test_missing_recent_file_is_grey_and_can_be_removed(page, table_file, project, qtbot):
    workspace.remember_recent(project)
    workspace.remember_recent(table_file)
    os.remove(table_file)
    made = page()
    gone = made.findChild(QPushButton, "recent_file_0")
    qtbot.waitUntil(lambda: not gone.isEnabled())
    assert "no longer there" in facts(made, "recent_file_0")
    qtbot.mouseClick(made.findChild(QPushButton, "recent_file_0_forget"), Qt.MouseButton.LeftButton)
    assert [recent.path for recent in workspace.recents()] == [project]
    assert made.findChild(QPushButton, "recent_file_0").text() == "churn.aucproj"


def test_unsaved_study_is_named_by_its_table_and_day(page, qtbot, table):
    made = workspace.new_unsaved_project(table.path)
    shown = page()
    assert shown.findChild(QPushButton, "unsaved_study_0").text() == "study"
    assert shown.findChild(QLabel, "unsaved_study_0_day").text().startswith("today, ")
    with qtbot.waitSignal(shown.path_asked) as asked:
        shown.findChild(QPushButton, "unsaved_study_0").click()
    assert asked.args == [str(made.path)]


def test_unsaved_study_shows_its_last_change(page, table):
    made = workspace.new_unsaved_project(table.path)
    os.utime(made.path, (1e9, 1e9))
    name, changed = workspace.unsaved_study(made.path)
    assert (name, changed.timestamp()) == ("study", 1e9)
    assert "2001" in page().findChild(QLabel, "unsaved_study_0_day").text()


def test_refreshed_list_keeps_the_focus_at_its_file(page, project, table_file):
    workspace.remember_recent(table_file)
    workspace.remember_recent(project)
    made = page()
    made.findChild(QPushButton, "recent_file_1").setFocus()
    for place, change in ((1, lambda: None), (0, lambda: workspace.remember_recent(table_file))):
        change()
        made.refresh()
        focus = made.window().focusWidget()
        assert focus is made.findChild(QPushButton, f"recent_file_{place}")
        assert focus.text() == table_file.name


def test_recent_files_are_chosen_by_keyboard(page, qtbot, project, table_file):
    workspace.remember_recent(table_file)
    workspace.remember_recent(project)
    made = page()
    first = made.findChild(QPushButton, "recent_file_0")
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Down)
    second = made.findChild(QPushButton, "recent_file_1")
    assert made.window().focusWidget() is second
    with qtbot.waitSignal(made.path_asked) as asked:
        qtbot.keyClick(second, Qt.Key.Key_Space)
    assert asked.args == [str(table_file.resolve())]


def test_project_outline_is_cached_until_it_changes(project, monkeypatch):
    first = describe_file(project)
    empty = [], (0.0, 0.1), None
    monkeypatch.setattr("aucstudio.project.results.documents.listed_runs", lambda _path: empty)
    assert describe_file(project) == first
    os.utime(project, (1, 1))
    assert describe_file(project).facts == "no run"


def test_best_run_is_one_with_the_present_columns(tmp_path, table):
    file = ProjectFile.create(tmp_path / "leak.aucproj")
    now = table.with_roles(ignore=["x0", "x1", "x2"])
    for one, regularization in ((table, 1.0), (now, 2.0), (now, 3.0)):
        record = make_record(one, params={"regularization": regularization})
        name = "clean" if one is now else "leaking"
        plan = dataclasses.replace(record.experiment, name=name)
        file.add_run(dataclasses.replace(record, experiment=plan))
    assert "best leaking" in describe_file(file.path).facts
    file.set_plan({"data": DataReference.to_table(now).as_json()})
    os.utime(file.path, (1, 1))
    assert "best clean" in describe_file(file.path).facts


def test_failed_runs_are_counted_as_in_the_window(project, table):
    failed = dataclasses.replace(make_record(table, "rls"), status=FAILED, splits=())
    ProjectFile(project).add_run(failed)
    assert " · 3 runs · " in describe_file(project).facts


def test_tab_reaches_recent_files_and_enter_opens_them(page, project, qtbot):
    workspace.remember_recent(project)
    shown = page()
    shown.activateWindow()
    start = shown.findChild(QPushButton, "welcome_try_example")
    start.setFocus()
    qtbot.waitUntil(start.hasFocus)
    qtbot.keyClick(start, Qt.Key.Key_Tab)
    entry = shown.findChild(QPushButton, "recent_file_0")
    assert entry.hasFocus()
    with qtbot.waitSignal(shown.path_asked) as asked:
        qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert asked.args == [str(project)]


def test_first_button_has_the_focus(page, qtbot):
    assert page().focusWidget().objectName() == "welcome_open_data"


def test_examples_are_beside_the_files_where_there_is_room(page, qtbot):
    made = page()
    example = made.findChild(QPushButton, f"welcome_example_{examples()[0].key}")
    for width, is_beside in ((1600, True), (900, False)):
        made.resize(width, 800)
        qtbot.waitUntil(
            lambda is_beside=is_beside: (example.mapTo(made, QPoint()).x() > 600) == is_beside
        )


def test_unfinished_run_is_never_the_best(tmp_path, table):
    file = ProjectFile.create(tmp_path / "stopped.aucproj")
    for name, kept in (("whole", 3), ("stopped", 1)):
        record = make_record(table, validation=Validation("folds", folds=3))
        plan = dataclasses.replace(record.experiment, name=name, params={"regularization": kept})
        best = max(record.splits, key=lambda split: roc.auc(split.test_positive, split.test_scores))
        splits = record.splits if kept == 3 else (best,)
        file.add_run(dataclasses.replace(record, experiment=plan, splits=splits, id=""))
    assert "best whole" in describe_file(file.path).facts
