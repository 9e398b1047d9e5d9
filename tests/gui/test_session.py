import dataclasses
import shutil

import numpy as np
import pytest

from aucstudio.engine import METHODS, InvalidSetting
from aucstudio.gui.state import project_handle, study_reading
from aucstudio.gui.state.plan import Plan, RunLook
from aucstudio.gui.state.study import Focus
from aucstudio.notices import text
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.record import DONE, STOPPED
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.store.project.unfinished_runs import Owner
from tests.conftest import write_file, write_table
from tests.gui.conftest import PATIENCE, Gate, on, save_as


@pytest.fixture
def run(session, table_file, qtbot):
    """Run a method on the open table to its end."""
    session.files.open_now(table_file, "table")

    def go(method, **params):
        plan = dataclasses.replace(session.plan, method=method, params={method: params})
        session.edit(plan, "set up")
        session.runs.start([session.runs.planned()])
        qtbot.waitUntil(lambda: not session.busy)
        return session.records[session.selected]

    return go


def test_finished_run_is_saved_before_it_is_listed(session, table_file, qtbot):
    session.files.open_now(table_file, "table")
    seen = []

    def look():
        if session.project:
            seen.append((len(session.records), len(session.project.runs())))

    on(session, "runs", look)
    session.runs.start([session.runs.planned()])
    qtbot.waitUntil(lambda: not session.busy)
    assert seen
    assert all(on_disk >= listed for listed, on_disk in seen)


def test_reopened_project_has_equal_numbers_and_looks(session, run, tmp_path):
    first, second = run("auc-rls"), run("svm-pauc", fpr_range=(0.0, 0.5))
    session.set_look(first.id, "Rename run", name="mine", colour=5, visible=False)
    session.set_band(0.0, 0.25)
    save_as(session, tmp_path / "named.aucproj")
    before = session.plan
    assert session.files.open_now(tmp_path / "named.aucproj", "project").warnings == []
    assert session.plan == before
    assert session.plan.looks[first.id].name == "mine"
    for old in (first, second):
        again = session.records[old.id]
        np.testing.assert_array_equal(again.splits[0].test_scores, old.splits[0].test_scores)
    assert session.table is not None


def test_missing_table_is_reported_and_runs_are_kept(session, run, table_file, tmp_path):
    record = run("auc-rls")
    save_as(session, tmp_path / "named.aucproj")
    table_file.unlink()
    warnings = session.files.open_now(tmp_path / "named.aucproj", "project").warnings
    assert len(warnings) == 1
    assert str(table_file) in warnings[0]
    assert list(session.records) == [record.id]
    assert session.table is None


def test_changed_table_is_reported(session, run, table_file, tmp_path):
    run("auc-rls")
    save_as(session, tmp_path / "named.aucproj")
    write_table(table_file, seed=9)
    warnings = session.files.open_now(tmp_path / "named.aucproj", "project").warnings
    assert "has changed" in warnings[0]


def test_run_lost_in_a_crash_is_reported_once(session, run, ended_owner):
    record = run("auc-rls")
    session.project.begin_run(record.experiment)
    path = session.project.path
    assert (
        "running when the program last ended" in session.files.open_now(path, "project").warnings[0]
    )
    assert session.files.open_now(path, "project").warnings == []


def test_undo_reverts_edits_but_not_runs(session, run):
    session.set_band(0.0, 0.3)
    record = run("auc-rls")
    session.set_look(record.id, "Rename run", name="other")
    session.undo_stack.undo()
    assert session.plan.looks[record.id].name == "AUC-RLS"
    while session.undo_stack.canUndo():
        session.undo_stack.undo()
    assert session.plan.band == (0.0, 0.1)
    assert record.id in session.plan.looks


def test_repeated_edits_of_a_field_are_one_undo_step(session, table_file):
    session.files.open_now(table_file, "table")
    for beta in (0.2, 0.3, 0.4):
        session.set_band(0.0, beta)
    assert session.undo_stack.count() == 1
    session.undo_stack.undo()
    assert session.plan.band == (0.0, 0.1)


def test_queued_runs_get_distinct_names_and_colours(session, table_file, qtbot):
    session.files.open_now(table_file, "table")
    for method in ("auc-rls", "auc-svm", "auc-rls"):
        session.edit(dataclasses.replace(session.plan, method=method), "choose")
        session.runs.start([session.runs.planned()])
    qtbot.waitUntil(lambda: not session.busy and not session.queue)
    looks = list(session.plan.looks.values())
    assert [look.name for look in looks] == ["AUC-RLS", "AUC-SVM", "AUC-RLS (2)"]
    assert len({look.colour for look in looks}) == 3
    session.set_looks([*session.plan.looks][:2], "Remove 2 runs", removed=True)
    session.runs.start([session.runs.planned()])
    qtbot.waitUntil(lambda: not session.busy and not session.queue, timeout=PATIENCE)
    session.undo_stack.undo()
    assert len({look.colour for look in session.plan.looks.values()}) == 4


@pytest.mark.slow
def test_stopped_run_keeps_its_finished_splits(session, table_file, qtbot, monkeypatch):
    gate = Gate(monkeypatch, METHODS["auc-rls"], "_fit", call=3)
    session.files.open_now(table_file, "table")
    plan = dataclasses.replace(session.plan, validation=Validation(scheme="folds", folds=5))
    session.edit(plan, "folds")
    session.runs.start([session.runs.planned()])
    gate.wait(qtbot)
    session.stop()
    qtbot.waitUntil(lambda: not session.busy)
    gate.open()
    record = session.records[session.selected]
    assert record.status == STOPPED
    assert len(record.splits) == 2
    assert len(session.project.runs()) == 1


def test_settings_of_a_run_are_applied_to_the_form(session, run):
    record = run("auc-svm", C=3.0)
    run("auc-rls")
    session.reuse_settings(record.id)
    assert session.plan.method == "auc-svm"
    assert session.plan.params["auc-svm"]["C"] == 3.0


def test_validation_applied_from_a_run_is_reported(session, run):
    record, messages = run("auc-svm"), []
    session.message.connect(messages.append)
    session.reuse_settings(record.id)
    assert messages == []
    before = Validation("folds")
    session.change("Change validation", validation=before)
    session.reuse_settings(record.id)
    assert messages == [text("validation_of_run", scheme="Hold-out")]
    session.undo_stack.undo()
    assert session.plan.validation == before


def test_undo_of_a_removal_selects_the_run_again(session, run):
    first, second = run("auc-svm"), run("auc-rls")
    session.select(first.id)
    session.set_look(first.id, "Remove run", removed=True)
    assert session.selected == second.id
    session.undo_stack.undo()
    assert session.selected == first.id
    session.undo_stack.redo()
    assert session.selected == second.id


def test_leaving_a_study_counts_the_listed_runs(session, run, tmp_path):
    record = run("auc-svm")
    run("auc-rls")
    session.set_look(record.id, "Remove run", removed=True)
    name, messages = session.study.name, []
    session.informed.connect(messages.append)
    other = write_table(tmp_path / "other.csv")
    session.files.open_now(other, "table")
    assert messages == [text("study_left", study=name, runs=1)]


def test_invalid_setting_starts_no_run(session, table_file):
    session.files.open_now(table_file, "table")
    plan = dataclasses.replace(session.plan, method="auc-svm", params={"auc-svm": {"C": 0.0}})
    session.edit(plan, "bad")
    with pytest.raises(InvalidSetting):
        session.runs.start([session.runs.planned()])
    assert not session.busy
    assert session.project is None


def test_unreadable_file_leaves_the_session_unchanged(session, table_file, tmp_path):
    table = session.files.open_now(table_file, "table").table
    for name, content in (("empty.csv", ""), ("binary.csv", "\0\1\2" * 50), ("one.csv", "a\n1\n2")):
        path = write_file(tmp_path / name, content)
        with pytest.raises(InputError, match=name):
            session.files.open_now(path, "table")
        assert session.table is table
    with pytest.raises(InputError, match=r"absent\.csv"):
        session.files.open_now(tmp_path / "absent.csv", "table")


def test_run_is_kept_and_reported_if_the_disk_fails(session, run, tmp_path):
    messages = []
    session.failed.connect(lambda sentence, _trace: messages.append(sentence))
    kept = run("auc-rls")
    shutil.rmtree(session.project.path.parent)
    again = run("auc-rls")
    assert again.status == DONE
    assert any("cannot read or write the project" in sentence for sentence in messages)
    assert "1 run not saved" in session.study.status
    assert list(session.records) == [kept.id, again.id] == [kept.id, f"{kept.id}-2"]
    save_as(session, tmp_path / "rescued.aucproj")
    assert session.study.status == "All runs saved in rescued.aucproj"
    assert ids(session.project) == [kept.id, again.id]


def test_plan_round_trips_through_json():
    plan = Plan(
        Validation(scheme="folds", repeats=2),
        "svm-pauc",
        {"svm-pauc": {"fpr_range": (0.0, 0.2)}},
        (0.1, 0.4),
        {"a": RunLook("one", 3, False, True)},
    )
    assert Plan.from_json(plan.as_json()) == plan


def ids(project):
    """Return the ids of the runs in a project file."""
    return [record.id for record in ProjectFile.open(project.path).runs()]


@pytest.fixture
def held(session, table_file, qtbot, monkeypatch):
    """A running job that blocks until released, at the latest after the test."""
    session.files.open_now(table_file, "table")
    made = Gate(monkeypatch, METHODS["auc-rls"], "_fit")
    session.runs.start([session.runs.planned()])
    made.wait(qtbot)
    yield made
    made.open()
    qtbot.waitUntil(lambda: not session.busy)


def test_running_job_is_saved_in_the_new_file_after_save_as(session, held, qtbot, tmp_path):
    unnamed = session.project.path
    save_as(session, tmp_path / "first.aucproj")
    save_as(session, tmp_path / "second.aucproj")
    assert not unnamed.exists()
    held.open()
    qtbot.waitUntil(lambda: not session.busy)
    assert ids(session.project) == list(session.records) != []
    assert session.study.status == "All runs saved in second.aucproj"
    assert session.project.unfinished_runs().lost == []
    # The previous named file stays and does not expect the run saved elsewhere.
    first = ProjectFile.open(tmp_path / "first.aucproj")
    assert first.runs() == []
    assert first.unfinished_runs().lost == []


def test_run_that_ends_during_a_save_is_saved(session, held, qtbot, tmp_path, monkeypatch):
    disk = Gate(monkeypatch, project_handle, "write_project")
    session.files.begin_save(tmp_path / "named.aucproj")
    disk.wait(qtbot)
    held.open()  # the run ends while the file is being written, and waits for it
    disk.open()
    qtbot.waitUntil(lambda: not session.busy)
    assert session.project.path == tmp_path / "named.aucproj"
    assert ids(session.project) == list(session.records) != []
    assert session.study.is_saved


def test_crash_after_save_as_is_reported_in_the_new_file(session, held, tmp_path, monkeypatch):
    save_as(session, tmp_path / "named.aucproj")
    monkeypatch.setattr(Owner, "lives", lambda _owner: False)
    lost = ProjectFile.open(tmp_path / "named.aucproj").unfinished_runs().lost
    assert [experiment.method for experiment in lost] == ["auc-rls"]


def test_finished_run_not_yet_listed_is_saved(session, held, tmp_path):
    held.open()
    (task,) = session.study.runner.running.values()
    assert task.wait(PATIENCE / 1000)
    assert session.records == {}
    save_as(session, tmp_path / "named.aucproj")
    assert len(ids(session.project)) == 1


def test_late_run_is_not_added_to_another_study_of_the_table(
    session, held, table_file, tmp_path, qtbot
):
    save_as(session, tmp_path / "its own.aucproj")
    own = session.project
    session.files.open_now(table_file, "table")
    held.open()
    qtbot.waitUntil(lambda: not session.busy)
    assert session.records == {}
    assert len(ids(own)) == 1


@pytest.mark.parametrize("harm", ["deleted", "empty", "truncated", "damaged", "folder gone"])
def test_save_as_rescues_runs_of_a_broken_file(session, run, tmp_path, harm):
    first = run("auc-rls")
    (tmp_path / "place").mkdir()
    path = tmp_path / "place" / "broken.aucproj"
    save_as(session, path)
    second = run("auc-svm")
    session.set_look(first.id, "Rename run", name="mine")
    whole = path.read_bytes()
    if harm == "deleted":
        path.unlink()
    elif harm == "folder gone":
        shutil.rmtree(path.parent)
    else:
        half = len(whole) // 2
        path.write_bytes(
            {
                "empty": b"",
                "truncated": whole[:half],
                "damaged": whole[:4096] + b"\x5a" * (half - 4096) + whole[half:],
            }[harm]
        )
    save_as(session, tmp_path / "rescued.aucproj")
    assert session.files.open_now(tmp_path / "rescued.aucproj", "project").warnings == []
    assert list(session.records) == [first.id, second.id]
    assert session.plan.looks[first.id].name == "mine"
    for before in (first, second):
        again = session.records[before.id].splits[0]
        np.testing.assert_array_equal(again.test_scores, before.splits[0].test_scores)


def test_failed_save_leaves_the_session_unchanged(session, run, tmp_path):
    record = run("auc-rls")
    path = session.project.path
    with pytest.raises(InputError, match="cannot save the project as"):
        save_as(session, tmp_path / "no such folder" / "p.aucproj")
    assert session.project.path == path
    assert not session.study.is_saved
    assert ids(session.project) == [record.id]


def test_save_as_onto_itself_keeps_the_file(session, run, tmp_path):
    record = run("auc-rls")
    save_as(session, session.project.path)
    assert ids(session.project) == [record.id]
    save_as(session, tmp_path / "named.aucproj")
    save_as(session, tmp_path / "named.aucproj")
    assert ids(session.project) == [record.id]


def test_running_job_stays_in_its_project_after_opening_a_table(
    session, held, qtbot, tmp_path, table
):
    save_as(session, tmp_path / "its own.aucproj")
    session.runs.start([session.runs.planned()])  # waits
    messages = []
    session.message.connect(messages.append)
    session.files.open_now(write_table(tmp_path / "another.csv", seed=5), "table")
    assert session.project is None
    assert session.running == []
    assert list(session.queue) == []
    assert session.busy
    held.open()
    qtbot.waitUntil(lambda: not session.busy)
    assert session.records == {}
    assert "AUC-RLS (2) ended in its own" in messages
    assert session.files.open_now(tmp_path / "its own.aucproj", "project").warnings == []
    assert [run.record.status for run in session.shown_runs()] == [DONE, DONE]
    assert [run.look.name for run in session.shown_runs()] == ["AUC-RLS", "AUC-RLS (2)"]


def test_study_has_its_own_selection_focus_and_undo(session, run, tmp_path):
    run("auc-rls")
    session.point_at(row=150, pair=(150, 3))
    session.set_band(0.0, 0.3)
    notified = []
    on(session, "focus", lambda: notified.append(session.focus))
    session.files.open_now(write_table(tmp_path / "shorter.csv", rows=60), "table")
    assert notified == [Focus()]
    assert session.selected is None
    assert not session.undo_group.canUndo()


def test_late_results_of_a_closed_study_are_ignored(session, run, table_file, tmp_path):
    run("auc-rls")
    old = session.study
    save_as(session, tmp_path / "old.aucproj")
    session.files.open_now(table_file, "table")
    messages = []
    session.failed.connect(lambda sentence, _trace: messages.append(sentence))
    plan = session.plan
    changed = dataclasses.replace(old.plan, band=(0.0, 0.7))
    documents = [{"window": made.as_json()} for made in (old.plan, changed)]
    session.plan_joined.emit(old, *documents)
    assert session.plan == plan
    assert messages == []
    assert session.records == {}


def test_label_positive_class_and_roles_can_be_undone(session, table_file):
    session.files.open_now(table_file, "table")
    before = session.table
    other = next(name for name in before.classes if name != before.positive)
    session.set_roles(positive=other)
    session.set_roles(roles={before.features[0].name: "ignore"})
    session.point_at(pair=(1, 2))
    assert session.undo_stack.undoText() == "Change column roles"
    session.undo_stack.undo()
    assert len(session.table.features) == len(before.features)
    assert session.focus.pair is None  # it may no longer be a pair of a positive and a negative
    assert session.undo_stack.undoText() == "Change positive class"
    session.undo_stack.undo()
    assert session.table is before
    session.undo_stack.redo()
    assert session.table.positive == other


def test_run_that_was_started_last_is_selected_when_it_ends(session, run):
    first, second = run("auc-rls"), run("rls")
    assert session.selected == second.id
    session.select(first.id)
    assert run("logistic").id not in (first.id, second.id)


def test_finished_run_is_not_selected_once_another_was_chosen(session, run, qtbot):
    first, second = run("auc-rls"), run("rls")
    session.runs.start([session.runs.planned("logistic")])
    session.select(first.id)
    session.select(second.id)  # the last of the list
    qtbot.waitUntil(lambda: not session.busy)
    assert len(session.records) == 3
    assert session.selected == second.id


def test_only_the_run_that_was_queued_last_is_selected(session, run, qtbot):
    run("auc-rls")
    selected = []
    on(session, "selection", lambda: selected.append(session.selected))
    session.runs.start([session.runs.planned("rls"), session.runs.planned("logistic")])
    qtbot.waitUntil(lambda: not session.busy)
    assert selected == [list(session.records)[-1]]
    assert session.records[session.selected].experiment.method == "logistic"


@pytest.fixture
def reading(session, table_file, qtbot, monkeypatch):
    """A table whose reading blocks until the gate is opened."""
    gate = Gate(monkeypatch, study_reading, "read_table")
    session.files.begin_open(table_file, study_reading.TABLE)
    gate.wait(qtbot)
    return gate


@pytest.fixture
def saving(session, run, tmp_path, qtbot, monkeypatch):
    """A study whose save as named.aucproj blocks until the gate is opened."""
    run("auc-rls")
    gate = Gate(monkeypatch, project_handle, "write_project")
    gate.before = session.project.path
    session.files.begin_save(tmp_path / "named.aucproj")
    gate.wait(qtbot)
    return gate


def test_reading_from_a_slow_disk_does_not_block_the_session(session, reading, table_file, qtbot):
    assert session.busy
    assert session.table is None
    session.set_band(0.0, 0.5)
    reading.open()
    with qtbot.waitSignal(session.files.opened):
        pass
    assert session.table.path == table_file
    assert session.plan.band == (0.0, 0.5)


def test_cancelled_opening_drops_its_late_result(session, reading):
    results = []
    session.files.opened.connect(results.append)
    session.files.opener.refused.connect(lambda *answer: results.append(answer))
    session.stop()
    assert not session.busy
    reading.open()
    assert reading.ended.wait(PATIENCE / 1000)
    assert results == []
    assert session.table is None


def test_last_of_two_requested_files_is_opened(session, reading, tmp_path, qtbot):
    opened = []
    session.files.opened.connect(lambda found: opened.append(found.path))
    last = write_table(tmp_path / "last.csv", seed=2)
    session.files.begin_open(last, study_reading.TABLE)
    reading.open()
    qtbot.waitUntil(lambda: not session.busy)
    assert opened == [last]


def test_second_save_waits_for_the_first(session, saving, tmp_path, qtbot):
    (record,) = session.records.values()
    session.files.begin_save(tmp_path / "second.aucproj")
    session.set_look(record.id, "Rename run", name="renamed meanwhile")
    saving.open()
    qtbot.waitUntil(lambda: not session.busy)
    session.save_plan()
    assert session.project.path == tmp_path / "second.aucproj"
    assert ids(session.project) == [record.id]
    assert (tmp_path / "named.aucproj").exists()
    session.files.open_now(tmp_path / "second.aucproj", "project")
    assert session.plan.looks[record.id].name == "renamed meanwhile"


def test_cancelled_save_keeps_the_previous_file(session, saving, tmp_path, qtbot):
    session.stop()
    saving.open()
    qtbot.waitUntil(lambda: not session.busy)
    assert session.project.path == saving.before
    assert not session.study.is_saved
    assert list(tmp_path.glob("*named*")) == []


def test_save_finishes_after_its_study_is_closed(session, saving, table_file, tmp_path, qtbot):
    kept = list(session.records)
    session.files.open_now(table_file, "table")
    saving.open()
    qtbot.waitUntil(lambda: not session.busy)
    assert session.project is None
    assert not session.study.is_saved
    assert ids(ProjectFile(tmp_path / "named.aucproj")) == kept


def test_closing_during_reading_ends_cleanly(session, reading):
    session.close()
    reading.open()
    assert not session.busy


def test_stack_of_undo_lists_an_edit_when_views_show_its_table(table_session):
    session, seen = table_session, []
    on(session, "table", lambda: seen.append((session.undo_stack.undoText(), session.table)))
    before = session.table
    session.set_roles("Ignore x0", ignore=["x0"])
    assert seen == [("Ignore x0", session.table)]
    session.set_band(0.0, 0.3)  # an edit of something else shows no table
    session.undo_stack.undo()
    assert len(seen) == 1
    session.undo_stack.undo()
    assert seen[1:] == [("", before)]
