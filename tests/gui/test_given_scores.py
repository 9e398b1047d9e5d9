"""Run ▸ Add scores…: a column of the table becomes a run among the others."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox

from aucstudio import cli
from aucstudio.gui.dialogs.run_dialogs import GivenScoresDialog
from aucstudio.gui.pages.planes.subject import find_subject


@pytest.fixture
def dialog(window, table_file, qtbot):
    assert not window.actions_.add_scores.isEnabled()
    window.open_now(table_file)
    window.actions_.add_scores.trigger()
    made = window.findChild(GivenScoresDialog)
    qtbot.waitUntil(made.isVisible)
    return made


def add(dialog, qtbot):
    button = dialog.ends.button(QDialogButtonBox.StandardButton.Ok)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_score_column_becomes_a_run_and_is_ignored(window, dialog, qtbot):
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
    assert session.undo_stack.undoText() == f"Ignore {column}"
    session.undo_stack.undo()
    assert session.table.column(column).role == "number"


def test_score_column_can_stay_a_feature(window, dialog, qtbot):
    column = dialog.column.itemText(0)
    dialog.learnt.setChecked(True)
    dialog.direction.setCurrentIndex(dialog.direction.findData("lower"))
    add(dialog, qtbot)
    qtbot.waitUntil(lambda: not window.session.busy and bool(window.session.shown_runs()))
    (run,) = window.session.shown_runs()
    assert run.record.params == {"direction": "lower"}
    assert (run.record.splits[0].model.scorer.weights < 0).all()
    assert window.session.table.column(column).role == "number"


@pytest.fixture
def named_rows(window, tmp_path, qtbot):
    """A table with row identifiers, and a file with scores of most of them."""
    rng = np.random.default_rng(0)
    rows = [f"p{k:03},{rng.normal() + k % 2:.4f},{k % 2}" for k in range(60)]
    table, scores = tmp_path / "t.csv", tmp_path / "s.tsv"
    table.write_text("\n".join(["who,x,y", *rows]) + "\n")
    rows = [f"p{k:03}\t{k % 2 + rng.random():.4f}" for k in reversed(range(3, 60))]
    scores.write_text("\n".join(["case\trisk", *rows]) + "\n")
    window.open_now(table)
    window.actions_.add_scores.trigger()
    made = window.findChild(GivenScoresDialog)
    qtbot.waitUntil(made.isVisible)
    made.source.setCurrentIndex(made.source.findData("file"))
    return made, scores


def choose(combo, text):
    combo.setCurrentIndex(combo.findText(text))
    combo.activated.emit(combo.currentIndex())


def test_scores_of_a_file_are_joined_by_row_identifier(window, named_rows, qtbot):
    (dialog, scores), session = named_rows, window.session
    ok = dialog.ends.button(QDialogButtonBox.StandardButton.Ok)
    assert not ok.isEnabled()
    assert dialog.learnt.isHidden()
    dialog.read(str(scores))
    qtbot.waitUntil(lambda: dialog.key.count() > 0)
    assert [dialog.column.itemText(k) for k in range(dialog.column.count())] == ["risk"]
    choose(dialog.identifier, "x")
    qtbot.waitUntil(lambda: bool(dialog.problem.text()))
    assert "no row of" in dialog.problem.text()
    assert not ok.isEnabled()
    choose(dialog.identifier, "who")
    qtbot.waitUntil(ok.isEnabled)
    assert dialog.matched.text() == (
        "s.tsv has scores of 57 of 60 rows, matched by case = who. "
        "3 rows without a score are excluded."
    )
    add(dialog, qtbot)
    qtbot.waitUntil(lambda: not session.busy and bool(session.shown_runs()))
    (run,) = session.shown_runs()
    assert run.look.name == "risk"
    assert run.record.status == "done"
    assert run.record.experiment.data.scores[0].path == str(scores)
    assert "risk" not in {column.name for column in session.table.columns}
    # Pages that show rows read the file again.
    seen = find_subject(session, held_out=True).sample()
    np.testing.assert_allclose(seen.X[:, 0], run.record.splits[0].test_scores)


def test_problem_with_a_score_file_is_shown_in_the_dialog(named_rows, qtbot):
    dialog, scores = named_rows
    lines = scores.read_text().splitlines()
    scores.write_text("\n".join([*lines, lines[1]]) + "\n")
    dialog.read(str(scores))
    qtbot.waitUntil(lambda: dialog.key.count() > 0)
    choose(dialog.identifier, "who")
    qtbot.waitUntil(lambda: "in rows 1 and 58" in dialog.problem.text())
    dialog.read(str(scores.with_name("gone.csv")))
    qtbot.waitUntil(lambda: "gone.csv" in dialog.problem.text())
    assert dialog.joined is None
    dialog.source.setCurrentIndex(dialog.source.findData("table"))
    assert not dialog.problem.text()
    assert dialog.ends.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def test_project_ending_with_a_score_file_run_opens_its_table(window, tmp_path, qtbot):
    table, scores, project = tmp_path / "t.csv", tmp_path / "s.csv", tmp_path / "p.aucproj"
    rng = np.random.default_rng(0)
    rows = [f"p{k:03},{rng.normal() + k % 2:.4f},{k % 2}" for k in range(60)]
    table.write_text("\n".join(["who,x,y", *rows]) + "\n")
    scores.write_text("\n".join(["who,risk", *(f"p{k:03},{k % 7}" for k in range(60))]) + "\n")
    common = ["train", str(table), "--label", "y", "--id", "who", "--project", str(project)]
    assert cli.main([*common, "--method", "auc-rls", "--quiet"]) == 0
    given = ["--score-file", str(scores), "--score-column", "risk"]
    assert cli.main([*common, *given, "--quiet"]) == 0
    scores.unlink()
    window.open_now(project)
    columns = {column.name: column.role for column in window.session.table.columns}
    assert columns == {"who": "id", "x": "number", "y": "label"}
    assert len(window.session.shown_runs()) == 2
