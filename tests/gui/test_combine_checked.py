"""Run ▸ Combine checked runs: the runs of the list as one, without refitting."""

import dataclasses

import pytest
from PySide6.QtWidgets import QWidget

from aucstudio.gui.dialogs.export_model import REFIT, ExportModelDialog
from aucstudio.project.combination.combining import combine_runs
from aucstudio.project.combination.planning import plan_combination
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.summary import auc_summary
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.settings_shown import shown_settings
from tests.gui.conftest import card_text, make_record, put


@pytest.fixture
def session(window, table_file, qtbot):
    window.open_now(table_file)
    made = window.session
    made.runs.start([made.runs.planned("auc-rls"), made.runs.planned("logistic")])
    qtbot.waitUntil(lambda: not made.busy and len(made.shown_runs()) == 2)
    return made


def menu_action(window, name):
    menu = window.workplace.runs_panel.actions_.run_menu()
    (found,) = [action for action in menu.actions() if action.objectName() == name]
    return found.isEnabled(), found.toolTip()


def test_checked_runs_are_combined_into_a_new_run(window, session, qtbot):
    action = window.actions_.combine
    assert action.isEnabled()
    assert "without refitting" in action.toolTip()
    assert menu_action(window, "menu_combine") == (True, action.toolTip())
    action.trigger()
    qtbot.waitUntil(lambda: not session.busy and len(session.shown_runs()) == 3)
    *members, run = session.shown_runs()
    assert run.look.name == "Combination of 2 runs"
    assert run.record.status == "done"
    assert set(run.record.experiment.members) == {one.record.id for one in members}
    assert session.selected == run.record.id
    assert 0.5 < auc_summary(run.record).value <= 1
    details = card_text(window.workplace.runs_panel.details)
    assert "Combination of finished runs" in details
    assert "2 finished runs" in details
    assert "quick" not in details
    # It cannot be a member of another combination.
    assert not action.isEnabled()
    assert "is itself a combination of runs" in action.toolTip()


def test_disabled_combine_action_shows_its_reason(window, session, qtbot):
    action, run = window.actions_.combine, session.shown_runs()[0].record.id
    session.set_looks([run], "Hide runs", visible=False)
    assert not action.isEnabled()
    assert action.toolTip().startswith("A combination needs two or more runs")
    assert menu_action(window, "menu_combine") == (False, action.toolTip())
    session.set_looks([run], "Show runs", visible=True)
    assert action.isEnabled()
    folds = Validation(scheme="folds", folds=3)
    session.edit(dataclasses.replace(session.plan, validation=folds), "Folds")
    session.runs.start([session.runs.planned("auc-rls")])
    qtbot.waitUntil(lambda: not session.busy and len(session.shown_runs()) == 3)
    assert "shares no held-out rows with" in action.toolTip()
    assert not action.isEnabled()


def test_refit_of_a_combination_needs_all_members(table_session, qtbot):
    session, folds, runs = table_session, Validation(scheme="folds", folds=3), []
    for method in ("auc-rls", "logistic"):
        record = make_record(session.table, method, validation=folds)
        put(session, record, method)
        runs.append((method, record))
    put(session, combine_runs(plan_combination(runs, None, (0.0, 0.1)), runs), "Both")
    parent = QWidget()
    qtbot.addWidget(parent)
    choice = ExportModelDialog(session, session.run(session.selected), parent).choice
    assert choice.kinds.button(REFIT).isEnabled()
    choice.kinds.button(REFIT).setChecked(True)
    model = choice.making()(lambda _progress: False)
    assert model.trained_on.startswith("all ")
    assert {share.title for share in model.scorer.members} == {"auc-rls", "logistic"}
    # A run removed from the list stays in the project, so the combination still works.
    session.set_looks([runs[0][1].id], "Remove run", removed=True)
    left = ExportModelDialog(session, session.run(session.selected), parent).choice
    left.kinds.button(REFIT).setChecked(True)
    again = left.making()(lambda _progress: False)
    assert again.scorer.members == model.scorer.members
    session.files.leave_out({runs[0][1].id: "it is damaged"})
    lost = ExportModelDialog(session, session.run(session.selected), parent)
    gone = lost.choice.kinds.button(REFIT)
    assert not gone.isEnabled()
    assert "no longer in the project" in gone.toolTip()


def test_combination_has_no_members_setting(table_session):
    data = DataReference.to_table(table_session.table)
    trained = plan_experiment(data, "auc-ensemble", {}, Validation())
    made = dataclasses.replace(trained, members=("one", "other"))
    assert "Members" in [setting.title for setting in shown_settings(trained)]
    assert "Members" not in [setting.title for setting in shown_settings(made)]
