import dataclasses

import pytest
from PySide6.QtCore import Qt

from aucstudio.gui.panels.runs_panel import RunsPanel
from aucstudio.project.results.summary import auc_summary

PATIENCE = 30_000


@pytest.fixture
def panel(session, table_file, qtbot):
    made = RunsPanel(session)
    qtbot.addWidget(made)
    session.open_data(table_file)
    for _ in range(2):
        session.run_planned()
    qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)
    return made


def test_the_model_keeps_qts_rules(panel, qtmodeltester):
    qtmodeltester.check(panel.model)


def test_a_row_shows_the_figures_of_its_run(panel, session):
    record = next(iter(session.records.values()))
    area = auc_summary(record)
    text = panel.model.index(0, 1).data()
    assert text.startswith(f"{area.value:.3f} ±")
    assert panel.model.index(1, 0).data() == "AUC-RLS (2)"


def test_check_marks_hide_a_run(panel, session):
    index = panel.model.index(0, 0)
    panel.model.setData(index, Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    assert [run.look.name for run in session.checked_runs()] == ["AUC-RLS (2)"]


def test_renaming_in_place_and_by_the_menu(panel, session, answers):
    panel.model.setData(panel.model.index(0, 0), "first", Qt.ItemDataRole.EditRole)
    assert panel.model.index(0, 0).data() == "first"
    answers.text = "second"
    menu = panel.make_menu(panel.model.run_at(1))
    next(a for a in menu.actions() if a.objectName() == "menu_rename").trigger()
    assert panel.model.index(1, 0).data() == "second"


def test_removing_a_run_can_be_undone_and_never_touches_the_file(panel, session):
    menu = panel.make_menu(panel.model.run_at(0))
    next(a for a in menu.actions() if a.objectName() == "menu_remove").trigger()
    assert panel.model.rowCount() == 1
    assert len(session.project.runs()) == 2
    session.undo_stack.undo()
    assert panel.model.rowCount() == 2


def test_choosing_a_row_chooses_the_run(panel, session):
    panel.view.selectRow(0)
    assert session.selected == next(iter(session.records))
    words = panel.details.lines.text().replace("\N{NO-BREAK SPACE}", " ")
    assert "AUC-RLS: k = linear" in words


def test_a_failed_run_says_why(panel, session, qtbot):
    from aucstudio.project.data.split import Validation

    plan = dataclasses.replace(session.plan, validation=Validation(scheme="folds", folds=100))
    session.edit(plan, "too many folds")
    session.run_planned()
    qtbot.waitUntil(lambda: not session.busy, timeout=PATIENCE)
    row = panel.model.rowCount() - 1
    assert panel.model.index(row, 0).data().startswith("✕")
    assert "choose fewer folds" in panel.details.error.text()
    assert not session.shown_runs()[-1].look.visible


def test_another_record_of_the_same_id_shows_its_own_figures(panel, session):
    """A stopped and a whole run of one experiment share an id in two studies."""
    shown = session.shown_runs()[0]
    before = panel.model.index(0, 1).data()
    split = shown.record.splits[0]
    turned = dataclasses.replace(split, test_scores=-split.test_scores)
    session.records[shown.record.id] = dataclasses.replace(shown.record, splits=(turned,))
    panel.model.reload()
    assert panel.model.index(0, 1).data() != before
    area = auc_summary(session.records[shown.record.id])
    assert panel.model.index(0, 1).data().startswith(f"{area.value:.3f}")
