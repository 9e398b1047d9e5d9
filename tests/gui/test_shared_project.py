"""Two windows on one project, and projects with damaged runs."""

import dataclasses

import pytest

from aucstudio.gui.state import study_reading
from aucstudio.gui.state.session import Session
from aucstudio.project.scratch import BoundedCache
from aucstudio.project.store.project import database as source
from aucstudio.project.store.project.project_file import ProjectFile
from tests.gui.conftest import save_as, train
from tests.project.test_project_damage import damage_run


@pytest.fixture
def path(session, table_file, tmp_path, qtbot):
    """A saved project of two runs, open in ``session``."""
    session.files.open_now(table_file, "table")
    train(qtbot, session)
    train(qtbot, session, method="rls")
    save_as(session, tmp_path / "shared.aucproj")
    session.save_plan()
    return tmp_path / "shared.aucproj"


@pytest.fixture
def other(qtbot):
    made = Session()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    monkeypatch.setattr(source, "shared_cache", BoundedCache(1 << 30))


def test_changes_of_two_windows_are_merged(session, path, other, qtbot):
    first, second = session.records
    assert other.files.open_now(path, "project").warnings == []
    messages = []
    session.message.connect(messages.append)
    other.set_look(first, "Rename run", name="renamed there")
    other.save_plan()
    session.set_look(second, "Rename run", name="renamed here")
    session.save_plan()
    qtbot.waitUntil(lambda: session.plan.looks[first].name == "renamed there")
    assert session.plan.looks[second].name == "renamed here"
    assert any("Another window changed this project" in sentence for sentence in messages)
    session.save_plan()
    names = {run: look["name"] for run, look in _window(path)["looks"].items()}
    assert names == {first: "renamed there", second: "renamed here"}


def test_run_listed_by_another_window_stays_listed(session, path, other, qtbot):
    other.files.open_now(path, "project")
    train(qtbot, other, method="svm")
    other.save_plan()
    (new,) = set(other.records) - set(session.records)
    session.set_band(0.0, 0.3)
    session.save_plan()
    assert _window(path)["band"] == [0.0, 0.3]
    assert _window(path)["looks"][new]["name"] == other.plan.looks[new].name


def _window(path):
    return ProjectFile.open(path).plan()["window"]


def test_damaged_run_is_skipped_and_reported_on_opening(session, path, other):
    first, second = session.records
    damage_run(path, "test_scores", 1)
    warnings = other.files.open_now(path, "project").warnings
    assert len(warnings) == 1
    assert f"({first}), split 1, is damaged" in warnings[0]
    assert list(other.records) == [second]
    assert [run.record.id for run in other.shown_runs()] == [second]


def test_run_found_damaged_later_is_removed_from_the_list(session, path, other, qtbot, monkeypatch):
    first, second = session.records
    damage_run(path, "train_scores", 1)
    monkeypatch.setattr(
        study_reading, "READ_SECONDS", -1.0
    )  # everything is left to the background reader
    messages = []
    other.failed.connect(lambda sentence, _trace: messages.append(sentence))
    assert other.files.open_now(path, "project").warnings == []
    qtbot.waitUntil(lambda: list(other.records) == [second])
    (sentence,) = messages
    assert f"({first})" in sentence
    assert other.selected == second


def test_run_found_damaged_during_a_save_is_skipped(session, path, other, tmp_path, monkeypatch):
    first, second = session.records
    monkeypatch.setattr(study_reading, "READ_SECONDS", -1.0)
    monkeypatch.setattr(study_reading, "find_damaged", lambda *_, **__: ({}, []))
    other.files.open_now(path, "project")
    damage_run(path, "model", 1)
    messages = []
    other.failed.connect(lambda sentence, _trace: messages.append(sentence))
    save_as(other, tmp_path / "saved.aucproj")
    assert [run.id for run in ProjectFile.open(tmp_path / "saved.aucproj").runs()] == [second]
    assert len(messages) == 1
    assert first in messages[0]


def test_many_new_runs_get_distinct_names_and_colours(session, path):
    (record,) = list(session.records.values())[:1]
    records = [dataclasses.replace(record, id=f"r{k}") for k in range(1_000)]
    looks = session.plan.with_all_looks(records).looks
    assert len({look.name for look in looks.values()}) == len(looks)
    assert len({look.colour for look in looks.values()}) == len(looks)


def test_plan_snapshot_does_not_change_later(table_session):
    before = table_session.plan.as_json()
    taken = table_session.study.document()
    table_session.set_band(0.2, 0.3)
    assert taken()["window"] == before
