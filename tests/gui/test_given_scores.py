"""Run ▸ Add scores…: a column of the table becomes a run among the others."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox

from aucstudio.gui.dialogs.given_scores import GivenScoresDialog


@pytest.fixture
def dialog(window, table_file, qtbot):
    window.open_data(table_file)
    window.actions_.add_scores.trigger()
    made = window.findChild(GivenScoresDialog)
    qtbot.waitUntil(made.isVisible)
    return made


def add(dialog, qtbot):
    button = dialog.ends.button(QDialogButtonBox.StandardButton.Ok)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_a_column_becomes_a_run_and_others_learn_nothing_from_it(window, dialog, qtbot):
    session, column = window.session, dialog.column.itemText(0)
    assert column
    assert session.table.label not in map(dialog.column.itemText, range(dialog.column.count()))
    add(dialog, qtbot)
    qtbot.waitUntil(lambda: not session.busy and bool(session.shown_runs()))
    (run,) = session.shown_runs()
    assert run.look.name == column
    assert run.record.status == "done"
    assert run.record.splits[0].model.feature_columns == (column,)
    assert session.table.column(column).role == "ignore"
    assert session.undo_stack.undoText() == f"Learn nothing from {column}"
    session.undo_stack.undo()
    assert session.table.column(column).role == "number"


@pytest.mark.slow
def test_others_learn_from_it_where_that_is_said(window, dialog, qtbot):
    column = dialog.column.itemText(0)
    dialog.learnt.setChecked(True)
    dialog.direction.setCurrentIndex(dialog.direction.findData("lower"))
    add(dialog, qtbot)
    qtbot.waitUntil(lambda: not window.session.busy and bool(window.session.shown_runs()))
    (run,) = window.session.shown_runs()
    assert run.record.params == {"direction": "lower"}
    assert (run.record.splits[0].model.scorer.weights < 0).all()
    assert window.session.table.column(column).role == "number"


@pytest.mark.slow
def test_there_are_no_scores_without_a_table(window):
    assert not window.actions_.add_scores.isEnabled()
