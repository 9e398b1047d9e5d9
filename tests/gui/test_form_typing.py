"""Typing into the form of the method, where the panel echoes every edit."""

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit

from aucstudio.gui.common.form import edge_box, number_box
from aucstudio.gui.state.plan import RANGE, Plan
from tests.gui.conftest import choose


@pytest.fixture
def opened(window, table_file):
    window.open_now(table_file)
    return window


def field_of(panel, method, name, qtbot):
    """Choose a method and clear one of its fields."""
    choose(panel.combo, method)
    field = panel.findChild(QLineEdit, f"param_{name}")
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    return field


def run_and_wait(session, qtbot):
    session.runs.start([session.runs.planned()])
    qtbot.waitUntil(lambda: not session.busy)


def test_range_is_applied_while_it_is_typed(method_panel, session, qtbot):
    field = field_of(method_panel, "svm-pauc", RANGE, qtbot)
    for k, letter in enumerate("0, 0.25", start=1):
        qtbot.keyClicks(field, letter)
        assert field.text() == "0, 0.25"[:k]
        assert field.cursorPosition() == k
    assert session.plan.settings("svm-pauc")[RANGE] == (0.0, 0.25)


def test_power_is_applied_and_shown_as_typed(method_panel, session, qtbot):
    field = field_of(method_panel, "auc-svm", "C", qtbot)
    qtbot.keyClicks(field, "1e10")
    assert field.text() == "1e10"
    assert session.plan.params["auc-svm"]["C"] == 1e10
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    assert field.text() == "1e10"


def test_typing_in_the_middle_keeps_the_cursor(method_panel, session, qtbot):
    field = field_of(method_panel, "auc-svm", "C", qtbot)
    qtbot.keyClicks(field, "1250")
    for _ in range(2):
        qtbot.keyClick(field, Qt.Key.Key_Left)
    qtbot.keyClick(field, Qt.Key.Key_Backspace)
    assert (field.text(), field.cursorPosition()) == ("150", 1)
    qtbot.keyClicks(field, "7.")
    assert (field.text(), field.cursorPosition()) == ("17.50", 3)
    assert session.plan.params["auc-svm"]["C"] == 17.5


def test_unfinished_text_is_kept_and_blocks_run(opened, qtbot):
    field = field_of(opened.workplace.method_panel, "auc-svm", "C", qtbot)
    qtbot.keyClicks(field, "5e")
    opened.workplace.validation_panel.fields["repeats"].setValue(3)
    assert field.text() == "5e"
    assert opened.session.plan.params["auc-svm"]["C"] == 5.0
    opened.actions_.run.trigger()
    assert not opened.session.busy
    assert not opened.session.queue
    hint = opened.findChild(QLabel, "hint_C")
    assert hint.isVisibleTo(opened)
    assert "greater than 0" in hint.text()
    qtbot.mouseClick(opened.workplace.method_panel.reset, Qt.MouseButton.LeftButton)
    assert field.text() == "10"


def test_undo_and_settings_of_a_run_update_the_field(method_panel, session, qtbot):
    field = field_of(method_panel, "auc-svm", "C", qtbot)
    qtbot.keyClicks(field, "25")
    run_and_wait(session, qtbot)
    (run,) = session.shown_runs()
    field.selectAll()
    qtbot.keyClicks(field, "4")
    assert session.plan.params["auc-svm"]["C"] == 4.0
    session.reuse_settings(run.record.id)
    assert field.text() == "25"
    session.undo_stack.undo()
    assert field.text() == "4"


def test_each_setting_is_its_own_undo_step(method_panel, session, qtbot):
    field = field_of(method_panel, "sauc-svm", "C", qtbot)
    qtbot.keyClicks(field, "25")
    other = method_panel.findChild(QLineEdit, "param_structure")
    other.selectAll()
    qtbot.keyClicks(other, "30")
    stack = session.undo_stack
    stack.undo()
    assert session.plan.params["sauc-svm"] == {"C": 25.0}
    assert (field.text(), other.text()) == ("25", "1")
    stack.undo()
    assert field.text() == "10"


def test_linked_range_setting_follows_the_fpr_range(method_panel, session, qtbot):
    choose(method_panel.combo, "svm-pauc")
    link = method_panel.findChild(QCheckBox, "link_fpr_range")
    field = method_panel.findChild(QLineEdit, f"param_{RANGE}")
    assert link.isVisibleTo(method_panel.form)
    assert link.isChecked()
    session.set_band(0.0, 0.3)
    assert field.text() == "0 … 0.3"
    run_and_wait(session, qtbot)
    assert session.shown_runs()[-1].record.params[RANGE] == (0.0, 0.3)
    link.click()
    session.set_band(0.1, 0.5)
    assert field.text() == "0 … 0.3"
    assert "0.1 … 0.5" in method_panel.findChild(QLabel, f"hint_{RANGE}").text()
    run_and_wait(session, qtbot)
    assert session.shown_runs()[-1].record.params[RANGE] == (0.0, 0.3)
    link.click()
    assert field.text() == "0.1 … 0.5"


def test_typing_another_range_unlinks_it(method_panel, session, qtbot):
    field = field_of(method_panel, "svm-pauc", RANGE, qtbot)
    qtbot.keyClicks(field, "0, 0.05")
    link = method_panel.findChild(QCheckBox, "link_fpr_range")
    assert not link.isChecked()
    assert session.plan.band == (0.0, 0.1)
    assert "0 … 0.1" in method_panel.findChild(QLabel, f"hint_{RANGE}").text()
    session.undo_stack.undo()
    assert link.isChecked()
    assert field.text() == "0 … 0.1"


def test_range_of_the_card_and_the_roc_page_are_in_sync(opened, qtbot):
    field = opened.workplace.validation_panel.band
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "0.1, 0.4")
    assert field.text() == "0.1, 0.4"
    assert opened.session.plan.band == (0.1, 0.4)
    choices = opened.deck.view("roc_view").choices
    qtbot.waitUntil(lambda: choices.band_low.value() == 0.1)
    choices.band_high.setValue(0.6)
    assert field.text() == "0.1 … 0.6"
    field.selectAll()
    qtbot.keyClicks(field, "0.4, 0.4")
    assert opened.session.plan.band == (0.0, 0.4)  # as far as it was a range: "0.4"
    assert not opened.actions_.run.isEnabled()
    assert opened.actions_.run.statusTip()
    assert opened.workplace.validation_panel.band_problem.isVisibleTo(
        opened.workplace.validation_panel
    )
    qtbot.keySequence(field, QKeySequence("Ctrl+A"))
    qtbot.keyClicks(field, "0, 0.2")
    assert not opened.workplace.validation_panel.band_problem.isVisibleTo(
        opened.workplace.validation_panel
    )
    assert opened.actions_.run.isEnabled()


# ----------------------------------------------------------------- plans


def test_plan_keeps_its_links():
    plan = Plan(method="svm-pauc", band=(0.0, 0.3))
    assert Plan.from_json(plan.as_json()).is_linked("svm-pauc")
    own = plan.with_link("svm-pauc", False)
    assert not Plan.from_json(own.as_json()).is_linked("svm-pauc")
    assert own.settings("svm-pauc") == {RANGE: (0.0, 0.3)}


def test_methods_without_a_range_have_no_link():
    plan = dataclasses.replace(Plan(), band=(0.0, 0.3))
    assert not plan.is_linked("auc-rls")
    assert plan.settings("auc-rls") == {}


def test_range_takes_a_decimal_comma_and_says_how_to_write_it(opened, qtbot):
    panel, run = opened.workplace.validation_panel, opened.actions_.run
    panel.band.setFocus()
    for typed in ("0 - 0,05", "0,05", "0-5 %"):
        panel.band.selectAll()
        qtbot.keyClicks(panel.band, typed)
        assert opened.session.plan.band == (0.0, 0.05)
        assert run.isEnabled()
    qtbot.keyClick(panel.band, Qt.Key.Key_Return)
    assert panel.band.text() == "0 … 0.05"  # as in every other place
    panel.band.selectAll()
    qtbot.keyClicks(panel.band, "0 to")
    assert "5 %, 0.05 or 0 … 0.05" in panel.band_problem.text()
    # The same words are beside Run, where about 60 letters fit at large text.
    assert len(run.statusTip()) < 60


@pytest.mark.parametrize(("typed", "value"), [("2,5", 2.5), ("0,05", 0.05), ("3.25", 3.25)])
def test_comma_typed_into_a_number_is_the_decimal_point(typed, value, qtbot):
    for field in (number_box("minutes", 0.0, 999.0, decimals=2), edge_box("high", 0.0, 9.0)):
        qtbot.addWidget(field)
        field.selectAll()
        qtbot.keyClicks(field, typed)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert field.value() == value


def test_setting_takes_a_decimal_comma(method_panel, session, qtbot):
    field = field_of(method_panel, "auc-rls", "regularization", qtbot)
    qtbot.keyClicks(field, "0,5")
    assert session.plan.settings("auc-rls")["regularization"] == 0.5
