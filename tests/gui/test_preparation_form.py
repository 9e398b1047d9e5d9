"""The line and the form of preprocessing, in the window."""

from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton

from aucstudio.gui.state.plan import Plan
from aucstudio.notices import text
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.settings_shown import differing_settings
from tests.conftest import write_file
from tests.gui.conftest import pick


def test_preprocessing_is_shown_changed_and_undone(window, table_file, qtbot):
    window.open_now(table_file)
    session, form = window.session, window.workplace.method_panel.preparation
    line = window.findChild(QLabel, "preparation_line")
    assert line.text() == "Preprocessing: median for missing values, standardised"
    combo = window.findChild(QComboBox, "scale_combo")
    assert not combo.isVisibleTo(form)
    window.findChild(QPushButton, "preparation_button").click()
    assert combo.isVisibleTo(form)
    pick(combo, "robust")
    pick(window.findChild(QComboBox, "impute_combo"), "mean")
    window.findChild(QCheckBox, "indicators_check").click()
    rare = window.findChild(QLineEdit, "rare_field")
    rare.clear()
    qtbot.keyClicks(rare, "0.05")
    chosen = PreparationChoice("mean", "robust", True, 0.05)
    assert session.plan.preparation == chosen
    assert session.runs.planned().preparation == chosen
    assert Plan.from_json(session.plan.as_json()).preparation == chosen
    assert line.text() == f"Preprocessing: {chosen.describe()}"
    qtbot.keyClicks(rare, "x")
    assert window.findChild(QLabel, "preparation_problem").isVisibleTo(form)
    assert session.plan.preparation == chosen
    while session.undo_stack.canUndo():
        session.undo_stack.undo()
    assert session.plan.preparation == USUAL
    assert combo.currentData() == "standard"
    fields = [combo, rare, *form.findChildren(QCheckBox), *form.findChildren(QPushButton)]
    assert all(w.objectName() and w.accessibleName() for w in fields)


def test_levels_that_are_left_out_are_named_until_all_are_used(window, tmp_path):
    lines = [f"B{k % 150:03},{k % 7 + k % 150 / 200},{k % 3 % 2}" for k in range(900)]
    window.open_now(write_file(tmp_path / "bank.csv", "\n".join(["branch,x,y", *lines]) + "\n"))
    line = window.findChild(QLabel, "preparation_line")
    words = text("levels_unused", name="branch", count=150, kept=100, more=None)
    assert words in line.text()
    pick(window.findChild(QComboBox, "many_levels_combo"), "frequency")
    assert "branch" not in line.text()


def test_imputation_is_disabled_if_the_method_keeps_missing_values(window, table_file):
    window.open_now(table_file)
    pick(window.workplace.method_panel.combo, "gradient-boosting")
    line = window.findChild(QLabel, "preparation_line")
    assert line.text() == "Preprocessing: missing values kept, standardised"
    assert not window.findChild(QComboBox, "impute_combo").isEnabled()


def test_settings_of_a_run_include_its_preprocessing(table_once):
    choice = PreparationChoice(scale="min-max")
    planned = plan_experiment(
        DataReference.to_table(table_once), "auc-rls", {}, Validation(), preparation=choice
    )
    record = execute(planned, table_once)
    assert Plan().set_as(record).preparation == choice
    assert "scaled from 0 to 1" in differing_settings(record)
