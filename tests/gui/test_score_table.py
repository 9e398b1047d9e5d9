"""Scoring a table in the window: rejected and allowed columns, reports, saving, cancelling."""

import csv
import threading

import duckdb
import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QWidget,
)

from aucstudio.cli import main
from aucstudio.engine import roc
from aucstudio.gui.common.plots.roc_sketch import outline
from aucstudio.gui.dialogs import scored as scoring_work
from aucstudio.gui.dialogs.scoring import ScoreTableDialog
from aucstudio.notices.words import score_words
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import Cancelled
from aucstudio.project.results.thresholds import Target
from aucstudio.project.runs.final_model import calibrated, validated_model
from aucstudio.project.runs.scoring import read_to_score, scores_of
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import write_file, write_parquet, write_table
from tests.gui.conftest import choose, make_record, put, train


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture
def later(tmp_path):
    """Write a later table: a copy of the first one with its rows or header changed."""

    def write(change=lambda _rows: None, header=lambda names: names, name="later.csv"):
        rows = read_rows(write_table(tmp_path / "source.csv", rows=60, seed=3))
        names, rows = header(rows[0]), rows[1:]
        change(rows)
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([names, *rows])
        return tmp_path / name

    return write


@pytest.fixture
def dialog_of(session, qtbot, table_file, answers):
    """Open the dialog on a run with one split or several."""
    parent, answers.choice = QWidget(), "discard"
    qtbot.addWidget(parent)

    def open_dialog(file=table_file, roles=None, **validation):
        session.files.open_now(file, "table")
        session.set_roles(roles=roles or {})
        record = make_record(session.table, validation=Validation(**validation))
        put(session, record, "A run")
        dialog = ScoreTableDialog(session, session.run(record.id), parent)
        dialog.ask(modal=False)
        qtbot.waitUntil(dialog.isVisible)
        return dialog

    yield open_dialog
    for dialog in parent.findChildren(ScoreTableDialog):
        dialog.reject()


@pytest.fixture
def press(qtbot):
    """Press a button, and wait until the dialog is idle."""

    def press(dialog, button):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not dialog.busy)

    return press


@pytest.fixture
def choose_table(answers, press):
    def choose_table(dialog, path):
        answers.open_path = str(path)
        press(dialog, dialog.form.choose_table)

    return choose_table


def found(dialog):
    return [row.cells for row in dialog.report.view.sheet.rows]


def box_of(dialog, column, setting=None):
    """Find the box that accepts a column, or that changes a setting."""
    return next(
        box
        for way, box in dialog.allowed.boxes.items()
        if way.column == column and (setting is None or way.setting == setting)
    )


def test_action_is_enabled_with_a_run_with_a_model(window, table_file, qtbot):
    assert not window.actions_.score_table.isEnabled()
    window.session.files.open_now(table_file, "table")
    assert not window.actions_.score_table.isEnabled()
    train(qtbot, window.session)
    window.actions_.score_table.trigger()
    (dialog,) = window.findChildren(ScoreTableDialog)
    assert not dialog.isModal()
    dialog.reject()


def test_scored_table_equals_that_of_the_command_line(
    dialog_of, session, later, choose_table, press, answers, tmp_path, capsys
):
    def change(rows):
        rows[3][4] = rows[8][4] = "west"
        rows[5][0] = ""
        rows[6][1] = "old"
        rows[9].append("one too many")

    path = later(change)
    dialog = dialog_of()
    assert not dialog.score.isEnabled()
    assert not dialog.save.isEnabled()
    choose(dialog.form.choice.chooser.rule, "own")  # the default of the command line
    choose_table(dialog, path)
    choose(dialog.form.identifier, "x3")
    press(dialog, dialog.score)
    assert dialog.report.isVisible()
    assert "AUC 0." in dialog.report.figure.text()
    assert "59 of 60 rows scored, " in dialog.report.sentence.text()
    met = found(dialog)
    assert "CSV, utf-8, delimiter “,”" in dialog.report.facts.text()
    assert met[0] == ("Columns matched", "5", "'x0', 'x1', 'x2', 'x3', 'town'")
    assert met[1] == ("Columns ignored", "0", "–")
    assert ("    town", "2", "'west'") in met
    assert ("    x1", "1", "'old' in line 8; treated as missing") in met
    assert ("    x0", "1", "a larger share than in training") in met
    assert met[-2:] == [
        ("Rows left out", "1", ""),
        ("    row 10, line 11", "", "7 cells instead of 6"),
    ]
    answers.save_path = str(tmp_path / "window.csv")
    press(dialog, dialog.save)
    assert dialog.words.text() == f"Saved {tmp_path / 'window.csv'}"
    model = validated_model(session.records[session.selected], 0, None)
    save_model(model, tmp_path / "m.aucmodel")
    for name in ("command.csv", "command.parquet"):
        command = ["score", tmp_path / "m.aucmodel", path, "--id", "x3", "-o", tmp_path / name]
        assert main([str(part) for part in command]) == 0
    capsys.readouterr()
    written = (tmp_path / "window.csv").read_bytes()
    assert written == (tmp_path / "command.csv").read_bytes()
    assert written.startswith(b"row,x3,score,threshold,predicted\n")
    rows = [row[2:4] for row in read_rows(tmp_path / "command.csv")[1:]]
    stored = duckdb.sql(f"FROM '{tmp_path / 'command.parquet'}'").fetchall()
    assert [row[2:4] for row in stored] == [(float(score), float(at)) for score, at in rows]


@pytest.mark.slow
def test_renamed_column_is_rejected_until_allowed(dialog_of, later, choose_table, press):
    path = later(header=lambda names: [names[0].upper(), *names[1:]])
    dialog = dialog_of()
    choose_table(dialog, path)
    press(dialog, dialog.score)
    assert "later.csv lacks column 'x0'" in dialog.allowed.sentence.text()
    assert "did you mean 'X0'?" in dialog.allowed.sentence.text()
    assert "--" not in dialog.allowed.sentence.text()
    assert not dialog.report.isVisible()
    assert not dialog.save.isEnabled()
    assert [way.column for way in dialog.allowed.boxes] == ["x0"]
    box = box_of(dialog, "x0")
    assert box.isVisible()
    dialog.form.label.setFocus()
    dialog.focusNextChild()
    assert dialog.focusWidget() is box
    assert "x0" in box.accessibleName()
    box.click()
    press(dialog, dialog.score)
    assert dialog.report.isVisible()
    assert ("Absent columns, as allowed", "1", "'x0'") in found(dialog)
    assert ("Columns ignored", "1", "'X0'") in found(dialog)
    assert dialog.save.isEnabled()
    box.click()
    assert not dialog.save.isEnabled()


def scores_in(dialog):
    return [float(row[1]) for row in read_rows(dialog.scored.files[".csv"])[1:]]


@pytest.mark.slow
def test_check_box_accepts_another_number_format(dialog_of, later, choose_table, press):
    def change(rows):
        for row in rows:
            row[:4] = [cell.replace(".", ",") for cell in row[:4]]
            row[3] = f"{row[3]} kg"

    dialog = dialog_of()
    choose_table(dialog, later())
    press(dialog, dialog.score)
    expected = scores_in(dialog)
    choose_table(dialog, later(change, name="other.csv"))
    press(dialog, dialog.score)
    assert "has another format than in training" in dialog.allowed.sentence.text()
    assert "--" not in dialog.allowed.sentence.text()
    comma, notation = box_of(dialog, "", "decimal"), box_of(dialog, "x3", "written")
    assert "comma" in comma.text()
    for box in (comma, notation):
        box.click()
    press(dialog, dialog.score)
    assert scores_in(dialog) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_check_box_accepts_numbers_out_of_range(dialog_of, later, choose_table, press):
    def change(rows):
        for row in rows:
            row[0] = f"{1e6 + float(row[0]):.6f}"

    dialog = dialog_of()
    choose_table(dialog, later(change))
    press(dialog, dialog.score)
    assert "far outside the training range" in dialog.allowed.sentence.text()
    (box,) = dialog.allowed.boxes.values()
    assert "as they are" in box.text()
    box.click()
    press(dialog, dialog.score)
    assert dialog.scored.report.allowed["range"] == ("x0",)


@pytest.mark.slow
def test_every_unreadable_column_has_a_check_box(dialog_of, later, choose_table, press):
    def change(rows):
        for row in rows:
            row[1], row[4] = "", row[4].upper()

    dialog = dialog_of()
    choose_table(dialog, later(change))
    press(dialog, dialog.score)
    assert "also 'town'" in dialog.allowed.sentence.text()
    assert [way.column for way in dialog.allowed.boxes] == ["x1", "town"]
    box_of(dialog, "x1").click()
    press(dialog, dialog.score)
    assert "'NORTH', 'SOUTH'" in dialog.allowed.sentence.text()
    assert box_of(dialog, "x1").isChecked()
    box_of(dialog, "town").click()
    press(dialog, dialog.score)
    assert dialog.report.isVisible()
    choose_table(dialog, later(name="other.csv"))
    assert dialog.allowed.boxes == {}
    assert not dialog.save.isEnabled()


@pytest.mark.slow
def test_label_can_be_absent_or_another_column(dialog_of, later, choose_table, press):
    dialog = dialog_of()
    choose_table(dialog, later(header=lambda names: [*names[:-1], "verdict"]))
    assert dialog.form.label.currentText() == "none"
    press(dialog, dialog.score)
    assert dialog.report.figure.isHidden()
    assert "no AUC, as the table has no label" in dialog.report.sentence.text()
    choose(dialog.form.label, "verdict")
    press(dialog, dialog.score)
    assert "AUC 0." in dialog.report.figure.text()


def test_unsaved_scores_are_not_lost_unasked(
    dialog_of, later, choose_table, press, answers, tmp_path, qtbot
):
    dialog = dialog_of()
    choose_table(dialog, later())
    dialog.score.setFocus()
    below = dialog.save.mapToGlobal(dialog.save.rect().topLeft()), dialog.size()
    press(dialog, dialog.score)
    assert dialog.focusWidget() is dialog.save
    assert (dialog.save.mapToGlobal(dialog.save.rect().topLeft()), dialog.size()) == below
    answers.choice = None
    dialog.reject()
    assert dialog.isVisible()
    assert answers.asked[-1][2] == ["save", "discard"]
    answers.choice, answers.save_path = "save", str(tmp_path / "kept.csv")
    dialog.reject()
    qtbot.waitUntil(lambda: not dialog.busy)
    assert (tmp_path / "kept.csv").exists()
    asked = len(answers.asked)
    dialog.reject()
    assert len(answers.asked) == asked
    assert not dialog.isVisible()


def test_scores_are_written_as_the_input(dialog_of, later, choose_table, press, answers, tmp_path):
    path, plain = later(), tmp_path / "plain.csv"
    rows = read_rows(path)
    path = path.rename(path.with_suffix(".tsv"))
    with path.open("w", newline="", encoding="utf-8") as file:
        cells = [[cell.replace(".", ",") for cell in row] for row in rows]
        csv.writer(file, delimiter="\t").writerows(cells)
    dialog = dialog_of()
    choose_table(dialog, path)
    press(dialog, dialog.score)
    for box in list(dialog.allowed.boxes.values())[:1]:  # the decimal comma
        box.click()
        press(dialog, dialog.score)
    assert [dialog.format.itemData(k) for k in range(3)] == ["input", ".csv", ".parquet"]
    assert dialog.format.currentData() == "input"
    answers.save_path = str(tmp_path / "own.csv")
    press(dialog, dialog.save)
    assert answers.suggested.endswith("-scores.tsv")
    choose(dialog.format, ".csv")
    answers.save_path = str(plain)
    press(dialog, dialog.save)
    assert answers.suggested.endswith("-scores.csv")
    with (tmp_path / "own.csv").open(encoding="utf-8-sig", newline="") as file:
        own = list(csv.reader(file, delimiter="\t"))
    assert "," in own[1][1]
    assert [[cell.replace(",", ".") for cell in row] for row in own] == read_rows(plain)


def test_ignored_identifier_is_written_with_the_scores(dialog_of, press, choose_table, tmp_path):
    names, *rows = read_rows(write_table(tmp_path / "t.csv", rows=60))
    path = tmp_path / "named.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = [[f"P{k:03}", *row] for k, row in enumerate(rows)]
        csv.writer(file).writerows([["patient_id", *names], *table])
    dialog = dialog_of(path)
    choose_table(dialog, path)
    assert dialog.form.identifier.currentData() == "patient_id"
    assert ("Columns ignored", "0", "–") in found(dialog)
    press(dialog, dialog.score)
    assert ("Columns ignored", "0", "–") in found(dialog)
    choose(dialog.form.identifier, None)
    press(dialog, dialog.score)
    assert ("Columns ignored", "1", "'patient_id'") in found(dialog)


def test_identifiers_of_the_table_are_written_together(
    dialog_of, press, choose_table, tmp_path, answers
):
    names, *rows = read_rows(write_table(tmp_path / "t.csv", rows=60))
    path, saved = tmp_path / "named.csv", tmp_path / "scores.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = [[f"P{k // 2:03}", str(k % 2), *row] for k, row in enumerate(rows)]
        csv.writer(file).writerows([["patient", "visit", *names], *table])
    dialog = dialog_of(path, {"patient": "id", "visit": "id"})
    choose_table(dialog, path)
    assert dialog.form.identifier.currentText() == "patient, visit"
    press(dialog, dialog.score)
    named = {row.cells[0]: row.cells[1] for row in dialog.report.rows.sheet.rows}
    assert named["2"] == "P000 · 1"
    answers.save_path = str(saved)
    press(dialog, dialog.save)
    header, *written = read_rows(saved)
    assert header[:4] == ["row", "patient", "visit", "score"]
    assert [row[1:3] for row in written] == [row[:2] for row in table]


@pytest.mark.slow
def test_refit_model_scores_after_several_splits(
    dialog_of, later, choose_table, press, answers, tmp_path
):
    path = later()
    dialog = dialog_of(repeats=3)
    assert dialog.form.choice.kinds.button(1).isChecked()
    choose_table(dialog, path)
    press(dialog, dialog.score)
    assert "all 160 labelled rows" in dialog.scored.model.trained_on
    choose(dialog.form.choice.chooser.rule, "fpr")
    dialog.form.choice.chooser.fields["bound"].setText("20 %")
    dialog.form.choice.chooser.fields["bound"].editingFinished.emit()
    assert not dialog.save.isEnabled()
    press(dialog, dialog.score)
    answers.save_path = str(tmp_path / "anew.csv")
    press(dialog, dialog.save)
    model = dialog.scored.model
    assert model.threshold_rule.endswith("carried over from the validated models")
    rows = read_rows(tmp_path / "anew.csv")[1:]
    assert {float(row[2]) for row in rows} == {model.threshold}
    assert [row[3] == "yes" for row in rows] == [float(r[1]) > model.threshold for r in rows]


@pytest.mark.slow
def test_model_of_a_file_scores(dialog_of, session, later, press, tmp_path, qtbot, answers):
    path = later()
    dialog = dialog_of()
    dialog.form.from_file.click()  # and no file is chosen
    assert dialog.form.choice.is_of_run
    record = make_record(session.table, "logistic")
    other = calibrated(record.splits[0].model, record, "platt", 0)
    save_model(other, tmp_path / "other.aucmodel")
    for dropped in (tmp_path / "other.aucmodel", path):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(dropped))])
        copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
        left = Qt.MouseButton.LeftButton
        dialog.dropEvent(QDropEvent(QPointF(9, 9), copy, data, left, none))
        qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog.form.from_file.isChecked()
    assert dialog.windowTitle() == "Score a table with other.aucmodel"
    assert dialog.form.choice.chooser.isHidden()
    assert dialog.form.own_threshold.isVisible()
    assert dialog.form.own_threshold.text().startswith(f"{other.threshold:.6g}")
    press(dialog, dialog.score)
    assert dialog.scored.model.method == "logistic"
    answers.save_path = str(tmp_path / "other.aucmodel.csv")
    press(dialog, dialog.save)
    rows = read_rows(tmp_path / "other.aucmodel.csv")[1:]
    assert not dialog.report.rows.isColumnHidden(5)
    highest = [float(row.cells[5]) for row in dialog.report.rows.sheet.rows]
    saved = sorted((float(row[-1]) for row in rows), reverse=True)
    np.testing.assert_allclose(highest, saved[:100], atol=6e-4)
    scores = [float(row[1]) for row in rows]
    expected = load_model(tmp_path / "other.aucmodel")
    np.testing.assert_array_equal(scores, scores_of(expected, read_to_score(expected, path)))
    dialog.form.choice.kinds.button(0).click()
    qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog.windowTitle() == "Score a table with A run"
    press(dialog, dialog.score)
    assert dialog.scored.model.method == "auc-rls"


@pytest.mark.slow
@pytest.mark.parametrize("what", ["table", "model"])
def test_invalid_file_is_reported(dialog_of, tmp_path, what, qtbot):
    dialog = dialog_of()
    path = write_file(tmp_path / {"table": "empty.csv", "model": "no.aucmodel"}[what], "")
    dialog.choose_file(path)
    qtbot.waitUntil(lambda: not dialog.busy)
    assert path.name in dialog.words.text()
    assert not dialog.score.isEnabled()


class Held:
    """Scoring that blocks halfway and ends as its progress callback decides."""

    def __init__(self, monkeypatch):
        self.begun, self.go, self.ended = (threading.Event() for _ in range(3))
        self.error = None
        self._write = scoring_work.score_into
        monkeypatch.setattr(scoring_work, "score_into", self)

    def __call__(self, *arguments, **how):
        self.begun.set()
        assert self.go.wait(30)
        try:
            return self._write(*arguments, **how)
        except BaseException as error:
            self.error = error
            raise
        finally:
            self.ended.set()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["cancel", "close", "another table"])
def test_cancelled_scoring_stops_and_its_result_is_dropped(
    dialog_of, later, choose_table, press, qtbot, monkeypatch, way
):
    path = later()
    dialog = dialog_of()
    choose_table(dialog, path)
    held = Held(monkeypatch)
    qtbot.mouseClick(dialog.score, Qt.MouseButton.LeftButton)
    assert held.begun.wait(30)
    folder = dialog.scratch_folder()
    assert dialog.busy
    assert dialog.progress.isVisible()
    assert not dialog.score.isEnabled()
    reports = []
    monkeypatch.setattr(dialog.report, "show_report", lambda *given: reports.append(given))
    if way == "cancel":
        press(dialog, dialog.progress.cancel)
        assert dialog.score.isEnabled()
        assert dialog.words.text() == ""
    elif way == "close":
        dialog.reject()
    else:
        choose_table(dialog, later(name="other.csv"))
    held.go.set()
    assert held.ended.wait(30)
    # The scoring is cancelled at its next step.
    assert isinstance(held.error, Cancelled) or type(held.error).__name__ == "Stopped"
    QApplication.processEvents()
    assert reports == []
    assert not list(folder.glob("*.csv"))
    if way == "close":
        assert not folder.exists()


@pytest.mark.slow
def test_markup_in_names_is_shown_as_text(dialog_of, later, choose_table, press):
    dialog = dialog_of()
    hostile = "<b>A & B</b>"

    def change(rows):
        for row in rows:
            row[4] = hostile

    path = later(change, header=lambda names: [hostile, *names[1:]])
    choose_table(dialog, path)
    press(dialog, dialog.score)
    box_of(dialog, "x0").click()
    press(dialog, dialog.score)
    box_of(dialog, "town").click()
    press(dialog, dialog.score)
    assert ("Columns ignored", "1", f"'{hostile}'") in found(dialog)
    assert ("    town", "60", f"'{hostile}'") in found(dialog)
    assert dialog.form.identifier.findText(hostile) > 0


@pytest.mark.slow
def test_matched_columns_are_shown_before_scoring(dialog_of, later, choose_table):
    dialog = dialog_of()
    choose_table(dialog, later(header=lambda names: ["X0", *names[1:-1], "verdict"]))
    assert dialog.report.isVisible()
    assert "4 of the model's 5 columns found" in dialog.report.sentence.text()
    assert "there is no label" in dialog.report.sentence.text()
    assert ("Columns absent", "1", "'x0'") in found(dialog)
    assert ("Columns ignored", "2", "'X0', 'verdict'") in found(dialog)
    assert not dialog.save.isEnabled()
    choose(dialog.form.label, "verdict")
    assert "the label is 'verdict'" in dialog.report.sentence.text()
    assert ("Columns ignored", "1", "'X0'") in found(dialog)


@pytest.mark.slow
def test_parquet_table_is_scored_and_saved_as_parquet(
    dialog_of, later, choose_table, press, answers, tmp_path
):
    def change(rows):
        for k, row in enumerate(rows):
            row[0] = f"=name {k}"

    later(change, header=lambda names: ["score", *names[1:]])
    path = write_parquet(tmp_path / "later.parquet", f"FROM '{tmp_path / 'later.csv'}'")
    dialog = dialog_of()
    choose_table(dialog, path)
    press(dialog, dialog.score)
    box_of(dialog, "x0").click()
    choose(dialog.form.identifier, "score")
    press(dialog, dialog.score)
    choose(dialog.format, ".csv")
    answers.save_path = str(tmp_path / "window.csv")
    press(dialog, dialog.save)
    answers.save_path = str(tmp_path / "window.parquet")
    press(dialog, dialog.save)
    saved = duckdb.sql(f"SELECT * FROM '{tmp_path / 'window.parquet'}'")
    assert saved.columns == ["row", "score (identifier)", "score", "threshold", "predicted"]
    kinds = ["BIGINT", "VARCHAR", "DOUBLE", "DOUBLE", "VARCHAR"]
    assert [str(kind) for kind in saved.types] == kinds
    rows = read_rows(tmp_path / "window.csv")[1:]
    expected = [
        (int(row), cell.removeprefix("'"), float(score), float(threshold), predicted)
        for row, cell, score, threshold, predicted in rows
    ]
    assert saved.fetchall() == expected
    assert expected[3][1] == "=name 3"
    before = path.read_bytes()
    answers.save_path = str(path)
    press(dialog, dialog.save)
    assert "would be overwritten" in dialog.words.text()
    assert path.read_bytes() == before
    assert dialog.save.isEnabled()


def test_scores_and_classes_are_shown_before_they_are_saved(
    dialog_of, later, choose_table, press, answers, tmp_path
):
    dialog = dialog_of()
    report = dialog.report
    choose_table(dialog, later())
    choose(dialog.form.identifier, "x3")
    assert not report.rows.isVisible()
    assert not report.histogram.isVisible()
    press(dialog, dialog.score)
    assert report.rows.isVisible()
    assert report.histogram.isVisible()
    answers.save_path = str(tmp_path / "scores.csv")
    press(dialog, dialog.save)
    saved = read_rows(tmp_path / "scores.csv")[1:]
    cells = [row.cells for row in report.rows.sheet.rows]
    highest = sorted(saved, key=lambda row: -float(row[2]))[:100]
    assert [(*row[:2], row[4]) for row in cells] == [(*row[:2], row[4]) for row in highest]
    as_numbers = [[float(cell.replace("−", "-")) for cell in row[2:4]] for row in cells]
    exact = [[float(cell) for cell in row[2:4]] for row in highest]
    np.testing.assert_allclose(as_numbers, exact, rtol=1e-3)
    report.rows.horizontalHeader().setSortIndicator(0, Qt.SortOrder.AscendingOrder)
    numbers = [int(row.cells[0]) for row in report.rows.sheet.rows]
    assert numbers == sorted(int(row[0]) for row in highest)
    assert report.rows.isColumnHidden(5)  # the model has no probabilities
    drawn = [item.getData()[1].sum() for item in report.histogram.classes]
    called = sum(row[4] == "yes" for row in saved)
    assert drawn == [called, len(saved) - called]
    assert report.histogram.threshold.value() == float(saved[0][3])
    highest = score_words(max(float(row[2]) for row in saved))
    assert highest in report.histogram.words.text()  # the axis ends before it
    choose(dialog.form.identifier, None)
    assert not report.rows.isVisible()


@pytest.mark.slow
def test_labelled_table_shows_its_roc_curve_and_areas(
    dialog_of, session, later, choose_table, press
):
    dialog = dialog_of()
    session.set_band(0.0, 0.3)
    choose(dialog.form.choice.chooser.rule, "own")
    choose_table(dialog, later())
    assert dialog.report.curve.isHidden()
    press(dialog, dialog.score)
    curve = dialog.report.curve
    assert curve.isVisible()
    rows = read_rows(dialog.scored.files[".csv"])[1:]
    scores = np.array([float(row[1]) for row in rows])
    positive = np.array([row[-1] == "yes" for row in read_rows(dialog.form.table)[1:]])
    called = scores > 0
    point = called[~positive].mean(), called[positive].mean()
    np.testing.assert_allclose(curve.point.getData(), np.transpose([point]))
    x, y = curve.sketch.lines[0].getData()
    assert np.trapezoid(y, x) == pytest.approx(roc.auc(positive, scores), abs=2e-3)
    area = roc.partial_auc(positive, scores, 0.0, 0.3).normalized
    assert f"pAUC {area:.3f} in FPR 0 … 0.3 (95 % " in curve.words.text()
    assert f"TPR {point[1]:.3f} (" in curve.words.text()
    choose_table(dialog, later(header=lambda names: [*names[:-1], "verdict"]))
    press(dialog, dialog.score)
    assert curve.isHidden()


def test_thinned_curve_has_the_same_area():
    rng = np.random.default_rng(2)
    y = rng.random(200_000) < 0.2
    curve = roc.roc_curve(y, rng.normal(size=len(y)) + y)
    across, up = outline(curve)
    assert len(across) < 2100
    assert np.trapezoid(up, across) == pytest.approx(np.trapezoid(curve.tpr, curve.fpr), abs=1e-3)


@pytest.mark.slow
def test_predicted_classes_use_the_threshold_of_the_study(
    dialog_of, session, later, choose_table, press, answers, tmp_path
):
    dialog = dialog_of()
    dialog.close()
    session.use_everywhere(Target("tpr", 0.95))
    again = ScoreTableDialog(session, session.run(session.selected), dialog.parent())
    again.show()
    assert again.form.choice.chooser.rule.currentData() == "tpr"
    choose_table(again, later())
    press(again, again.score)
    answers.save_path = str(tmp_path / "labels.csv")
    press(again, again.save)
    split = session.records[session.selected].splits[0]
    own = split.model
    table = read_to_score(own, later())
    expected = scores_of(own, table) > session.focus.threshold
    rows = read_rows(tmp_path / "labels.csv")[1:]
    np.testing.assert_array_equal([row[-1] == "yes" for row in rows], expected)
    np.testing.assert_allclose([float(row[1]) for row in rows], scores_of(own, table))
    assert {float(row[2]) for row in rows} == {again.scored.model.threshold}
    again.close()


def test_report_counts_predicted_positives_and_missing_cells(
    dialog_of, later, choose_table, press, answers, tmp_path
):
    def change(rows):
        rows[5][0] = rows[6][0] = ""
        rows[7][0] = "old"

    dialog = dialog_of()
    choose_table(dialog, later(change))
    press(dialog, dialog.score)
    assert ("    x0", "2", "a larger share than in training") in found(dialog)
    assert ("Missing cells, handled as in training", "4", "") in found(dialog)  # x1 has two
    answers.save_path = str(tmp_path / "scores.csv")
    press(dialog, dialog.save)
    called = sum(row[-1] == "yes" for row in read_rows(tmp_path / "scores.csv"))
    assert f"60 of 60 rows scored, {called} predicted yes; AUC" in dialog.report.sentence.text()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1])
def test_table_with_at_most_one_row_has_no_curve(dialog_of, later, choose_table, press, rows):
    def change(lines):
        del lines[rows:]

    dialog = dialog_of()
    choose_table(dialog, later(change))
    if dialog.score.isEnabled():
        press(dialog, dialog.score)
    if rows:
        assert "1 of 1 rows scored, " in dialog.report.sentence.text()
    else:
        assert "later.csv" in dialog.words.text()
    assert dialog.report.curve.isHidden()


@pytest.mark.slow
def test_moving_the_threshold_discards_the_scores(dialog_of, session, later, choose_table, press):
    dialog = dialog_of()
    choose_table(dialog, later())
    press(dialog, dialog.score)
    session.weigh(miss=9.0)
    assert dialog.save.isEnabled()
    choose(dialog.form.choice.chooser.rule, "cost")
    assert not dialog.save.isEnabled()
    press(dialog, dialog.score)
    session.weigh(miss=0.001)
    assert not dialog.save.isEnabled()


def test_groups_that_were_trained_on_are_reported(
    dialog_of, choose_table, press, tmp_path, table_file, capsys
):
    names, *rows = read_rows(table_file)
    for name, numbered in (("first", 20), ("known", 10), ("partly", 40)):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            cells = [[*row, f"m-{k % numbered}"] for k, row in enumerate(rows)]
            csv.writer(file).writerows([[*names, "machine"], *cells])
    dialog = dialog_of(tmp_path / "first.csv", {"machine": "group"})
    save_model(dialog.form.run_model, tmp_path / "m.aucmodel")
    for name, said in (("known", "All 10 values of machine occur"), ("partly", "20 of 40 values")):
        choose_table(dialog, tmp_path / f"{name}.csv")
        press(dialog, dialog.score)
        assert said in dialog.report.facts.text()
        assert main(["score", str(tmp_path / "m.aucmodel"), str(tmp_path / f"{name}.csv")]) == 0
        assert said.lower() in capsys.readouterr().err.lower()


def test_rows_after_the_last_training_day_are_listed(dialog_of, choose_table, press, tmp_path):
    names, *rows = read_rows(write_table(tmp_path / "t.csv", rows=60))
    for name, day in (("first.csv", 1), ("later.csv", 41)):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            dated = [
                [f"2025-0{1 + (day + k // 2) // 28}-{1 + (day + k // 2) % 28:02}", *row]
                for k, row in enumerate(rows)
            ]
            csv.writer(file).writerows([["came", *names], *dated])
    dialog = dialog_of(tmp_path / "first.csv")
    choose_table(dialog, tmp_path / "later.csv")
    press(dialog, dialog.score)
    assert ("Rows after the last training day", "60", "came: after 2025-02-03") in found(dialog)


def test_absent_column_is_refused_before_the_model_is_refit(
    dialog_of, later, choose_table, press, monkeypatch
):
    dialog, refitted = dialog_of(), []
    choose_table(dialog, later(header=lambda names: ["other", *names[1:]]))
    monkeypatch.setattr(dialog.form, "make_model", lambda: refitted.append(1))
    press(dialog, dialog.score)
    assert "x0" in dialog.allowed.sentence.text()
    assert [way.column for way in dialog.allowed.boxes] == ["x0"]
    assert not refitted
