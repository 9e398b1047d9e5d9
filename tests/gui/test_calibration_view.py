"""The Calibration page, and the export of a model with probabilities."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QTableView, QWidget

from aucstudio.engine.reliability import Reliability
from aucstudio.gui.common.plots.rate_axes import LINEAR, ROOT
from aucstudio.gui.dialogs.export_model import REFIT, VALIDATED, ExportModelDialog
from aucstudio.gui.pages.scores.calibration_view import CalibrationView, suitable_axis
from aucstudio.project.data.validation import Validation
from aucstudio.project.results.calibration import AS_IT_STANDS, TITLES, estimate_calibration
from aucstudio.project.results.thresholds import Target
from aucstudio.project.store.model_file import load_model
from tests.gui.conftest import choose, make_record, points, put, shown


@pytest.fixture
def session(table_session):
    return table_session


@pytest.fixture
def view(session, open_view):
    return open_view(CalibrationView, session)


@pytest.fixture
def folds(session):
    return put(session, make_record(session.table, validation=Validation("folds")), "Five folds")


def test_diagram_shows_the_estimated_map(view, folds, qtbot):
    said = shown(view, qtbot)
    expected = estimate_calibration(folds, "platt").diagram
    assert view.map_combo.currentData() == "platt"
    (line,) = view.diagram.lines
    np.testing.assert_array_equal(points(line), np.stack([expected.mean, expected.share], axis=1))
    (whisker,) = view.diagram.whiskers
    ends = whisker.getData()[1].reshape(-1, 2)
    np.testing.assert_array_equal(ends, np.stack([expected.low, expected.high], axis=1))
    assert "Five folds" in said
    assert "Brier score" in said
    assert "160 held-out rows" in said


def test_maps_are_chosen_and_compared_with_raw_scores(view, folds, qtbot):
    shown(view, qtbot)
    for kind in TITLES:
        choose(view.map_combo, kind)
        shown(view, qtbot)
        expected = estimate_calibration(folds, kind).diagram
        np.testing.assert_array_equal(view.diagram.lines[0].getData()[1], expected.share)
    assert not view.diagram.before
    choose(view.map_combo, "isotonic")
    view.before_check.setChecked(True)
    shown(view, qtbot)
    before = estimate_calibration(folds, AS_IT_STANDS).diagram
    np.testing.assert_array_equal(view.diagram.before[0].getData()[1], before.share)


def test_checked_runs_are_drawn_and_listed_with_every_map(view, session, folds, qtbot):
    other = put(session, make_record(session.table, "logistic"), "Logistic")
    shown(view, qtbot)
    assert len(view.diagram.lines) == 2
    assert view.table.sheet.rowCount() == 2 * len(TITLES)
    view.table.clicked.emit(view.table.sheet.index(len(TITLES) + 1, 0))
    assert session.selected == folds.id
    assert view.map_combo.currentData() == list(TITLES)[1]
    looks = session.plan.looks
    hidden = {**looks, other.id: dataclasses.replace(looks[other.id], visible=False)}
    session.put_plan(dataclasses.replace(session.plan, looks=hidden))
    shown(view, qtbot)
    assert len(view.diagram.lines) == 1


def test_selected_run_is_described_if_it_is_not_checked(view, session, folds, qtbot):
    record = put(session, make_record(session.table, "logistic"), "Logistic")
    session.set_look(record.id, "Hide", visible=False)
    session.select(record.id)
    said = shown(view, qtbot)
    assert said.startswith("Logistic: ")
    assert len(view.diagram.lines) == 2


def test_histogram_counts_every_row_of_the_selected_run(view, folds, qtbot):
    shown(view, qtbot)
    for curve in view.histogram.curves:
        assert curve.getData()[1].sum() == pytest.approx(1.0)


def test_figure_data_matches_the_diagram(view, folds, qtbot):
    shown(view, qtbot)
    columns = view.figure_data()
    assert {len(values) for values in columns.values()} == {len(columns["run"])}
    of_platt = [k for k, kind in enumerate(columns["calibrated by"]) if kind == "platt"]
    assert sum(columns["rows"][k] for k in of_platt) == 160


def test_run_without_held_out_rows_shows_the_reason(view, session, qtbot):
    put(session, make_record(session.table, validation=Validation("leave-pair-out")))
    assert "holds out no rows" in shown(view, qtbot)
    assert view.hint.isVisible()
    assert not view.content.isVisible()


# ------------------------------------------------------------------ export


@pytest.fixture
def export(session, qtbot, answers, tmp_path):
    """Open the dialog on the chosen run; return a function that saves and loads the model."""

    def run(model, kind, target=None):
        parent = QWidget()
        qtbot.addWidget(parent)
        dialog = ExportModelDialog(session, session.run(session.selected), parent)
        dialog.choice.kinds.button(model).setChecked(True)
        choose(dialog.findChild(QComboBox, "calibration_combo"), kind)
        if target is not None:
            dialog.choice.chooser.target_chosen.emit(target)
        answers.save_path = str(tmp_path / "model.aucmodel")
        button = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
        qtbot.waitUntil(button.isEnabled)  # the format is checked first
        with qtbot.waitSignal(session.message):
            button.click()
        return load_model(tmp_path / "model.aucmodel")

    return run


@pytest.mark.parametrize("model", [VALIDATED, REFIT])
def test_exported_model_has_probabilities(session, folds, export, model):
    plain, made = export(model, None), export(model, "beta")
    assert plain.calibration is None
    assert made.calibration.kind == "beta"
    moved = export(model, "beta", Target("fpr", 0.05))
    assert moved.threshold != made.threshold
    assert moved.intercept == made.intercept
    table = session.table
    expected = made.probabilities(made.score(table))
    assert moved.probabilities(moved.score(table)) == pytest.approx(expected, abs=1e-12)


def test_typed_threshold_does_not_change_probabilities(session, folds, export):
    made = export(VALIDATED, "platt")
    moved = export(VALIDATED, "platt", Target.typed(folds, 0, 0.3))
    assert moved.threshold == 0.3
    assert moved.intercept == made.intercept
    table = session.table
    expected = made.probabilities(made.score(table))
    assert moved.probabilities(moved.score(table)) == pytest.approx(expected, abs=1e-9)


def test_leave_pair_out_disables_probabilities(session, qtbot):
    put(session, make_record(session.table, validation=Validation("leave-pair-out")))
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = ExportModelDialog(session, session.run(session.selected), parent)
    assert not dialog.findChild(QComboBox, "calibration_combo").isEnabled()


def test_table_leaves_room_for_the_diagram_on_a_low_page(view, qtbot):
    for height in (360, 900):
        view.resize(760, height)
        assert 100 <= view.table.maximumHeight() <= max(100, 0.3 * height)


def test_run_names_are_not_cut_in_a_small_window(view, session, qtbot):
    put(session, make_record(session.table), "SVM-pAUC, tuned by folds")
    shown(view, qtbot)
    view.resize(612, 560)  # the page in a window of 1000 pixels
    table = view.table
    qtbot.waitUntil(lambda: table.viewport().width() < 600)
    room = table.visualRect(table.sheet.index(0, 0)).width()
    assert QTableView.sizeHintForColumn(table, 0) <= room


def test_axes_suit_the_data_until_they_are_chosen(view, session, folds, qtbot):
    shown(view, qtbot)
    assert view.axes_combo.currentText() == "Linear"
    diagram = estimate_calibration(folds, "platt").diagram
    shares = np.array([0.001, 0.002, 0.004, 0.5])
    crowded = Reliability(*np.ones((2, 4), dtype=int), *[shares] * 6)
    one = dataclasses.replace(estimate_calibration(folds, "platt"), diagram=crowded)
    assert suitable_axis([one]) is ROOT
    assert suitable_axis([dataclasses.replace(one, diagram=diagram)]) is LINEAR
    view.diagram.show([(session.plan.looks[folds.id], one)], [], ROOT)
    np.testing.assert_allclose(points(view.diagram.lines[0]), np.sqrt([shares, shares]).T)
    choose(view.axes_combo, ROOT)
    view.axes_combo.activated.emit(1)
    shown(view, qtbot)
    assert view.axes_combo.currentText() == "Square root"
    roots = np.sqrt([diagram.mean, diagram.share]).T
    np.testing.assert_allclose(points(view.diagram.lines[0]), roots)
