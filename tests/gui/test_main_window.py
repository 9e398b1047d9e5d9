"""The window used as by a user: real widgets, real actions, real data."""

import dataclasses
import re
import threading

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QLabel,
    QPushButton,
    QTabBar,
    QWidget,
)

from aucstudio.engine import METHODS, roc
from aucstudio.gui.app import create_window
from aucstudio.gui.common import prompts
from aucstudio.gui.common.widgets import unbroken
from aucstudio.gui.desk.actions import PAGES
from aucstudio.gui.dialogs.export_figure import ExportFigureDialog
from aucstudio.gui.dialogs.export_model import ExportModelDialog
from aucstudio.gui.state import session_files
from aucstudio.notices import text
from aucstudio.project.data.table import read_table
from aucstudio.project.examples import make_sample, make_study
from aucstudio.project.runs.estimate import training_size
from aucstudio.project.runs.experiment_file import read_study
from aucstudio.project.runs.outlook import Outlook
from aucstudio.project.runs.record import DONE, STOPPED
from aucstudio.project.store.model_file import load_model
from aucstudio.project.work.job import Job
from tests.conftest import write_file
from tests.gui.conftest import PATIENCE, card_text, choose, make_record, on, pick, put
from tests.gui.fitting import unnamed_controls


def choose_method(window, key):
    pick(window.findChild(QComboBox, "method_combo"), key)


@pytest.fixture
def ran(window, table_file):
    """The window with a finished run on its table."""
    window.open_now(table_file)
    put(window.session, make_record(window.session.table), "AUC-RLS")
    return window


def test_object_names_for_automation_exist(window):
    assert window.objectName() == "main_window"
    for name in (
        "open_data",
        "open_project",
        "save_project",
        "run",
        "tune",
        "stop",
        "export_model",
        "export_figure",
        "export_figure_data",
        "export_report",
        "model_card",
        "export_script",
    ):
        assert window.findChild(QAction, f"action_{name}") is not None, name
    combo = window.findChild(QComboBox, "method_combo")
    assert {combo.itemData(k) for k in range(combo.count())} - {None} == set(METHODS)
    assert isinstance(window.findChild(QWidget, "runs_table"), QAbstractItemView)
    assert window.findChild(QTabBar, "view_tabs_bar").count() == len(PAGES) - 1


def test_every_action_and_control_has_a_name(window, table_file):
    window.open_now(table_file)
    for action in window.findChildren(QAction):
        if action.text() and action.menu() is None and action.parent() is window:
            assert action.objectName(), action.text()
    assert unnamed_controls(window) == []


def test_run_is_enabled_only_with_two_classes(window, table_file, tmp_path):
    run = window.findChild(QAction, "action_run")
    assert not run.isEnabled()
    window.open_now(table_file)
    assert run.isEnabled()
    three = tmp_path / "three.csv"
    three.write_text("x,kind\n" + "\n".join(f"{k},{'abc'[k % 3]}" for k in range(60)) + "\n")
    window.open_now(three)
    assert not run.isEnabled()
    assert "positive" in window.workplace.data_panel.problem.text()
    pick(window.findChild(QComboBox, "positive_combo"), "c")
    assert run.isEnabled()


def test_unreadable_file_is_reported_and_the_table_kept(window, table_file, tmp_path):
    window.open_now(table_file)
    empty = write_file(tmp_path / "empty.csv", "")
    assert window.open_now(empty) is None
    assert "empty.csv" in window.workplace.data_panel.problem.text()
    assert window.session.table.path == table_file


def stop_a_long_run(window, qtbot):
    """Start an AUC-SVM with a hard margin, and stop it once its picture has changed."""
    choose_method(window, "auc-svm")
    field = window.workplace.method_panel.form.editors["C"]
    field.clear()
    qtbot.keyClicks(field, "1e6")
    live = []
    session = window.session
    on(session, "live", lambda: live.append(session.live and session.live.picture is not None))
    window.actions_.run.trigger()
    qtbot.waitUntil(lambda: any(live))
    stop = window.findChild(QAction, "action_stop")
    assert stop.isEnabled()
    stop.trigger()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert not stop.isEnabled()


def look_at_every_view(window, qtbot):
    for view in window.views:
        window.deck.show_view(view)
        qtbot.waitUntil(lambda: not window.deck.active().busy())
        assert window.deck.active().sentence.text()


def test_workflow_from_a_csv_to_an_exported_model(
    window, qtbot, tmp_path, answers, run_to_end, monkeypatch
):
    """Open, train, stop one run, compare, save, reopen with equal numbers, export and score."""
    data = make_sample("payments", tmp_path)[0]
    window.open_now(data)
    for method in ("auc-rls", "svm-pauc", "logistic"):
        choose_method(window, method)
        run_to_end(window)
    # A fit that stops late is not abandoned here, because the delay depends on the machine.
    monkeypatch.setattr(Job.__init__, "__defaults__", (None, PATIENCE / 1000))
    stop_a_long_run(window, qtbot)
    records = [run.record for run in window.session.shown_runs()]
    assert [r.status for r in records] == [DONE, DONE, DONE, STOPPED]
    assert len(records[-1].splits) == 1
    look_at_every_view(window, qtbot)

    answers.save_path = str(tmp_path / "study.aucproj")
    window.findChild(QAction, "action_save_project").trigger()
    qtbot.waitUntil(lambda: "study" in window.windowTitle())
    again = create_window(tmp_path / "study.aucproj")
    assert not answers.errors
    reopened = [run.record for run in again.session.shown_runs()]
    for old, new in zip(records, reopened, strict=True):
        assert old.header() == new.header()
        a, b = old.splits[0], new.splits[0]
        np.testing.assert_array_equal(a.test_scores, b.test_scores)
        assert roc.auc(a.test_positive, a.test_scores) == roc.auc(b.test_positive, b.test_scores)
    again.leave()
    again.deleteLater()

    answers.save_path = str(tmp_path / "taken.aucmodel")
    window.session.select(records[0].id)
    dialog = ExportModelDialog(window.session, window.session.run(records[0].id), window)
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()
    qtbot.waitUntil((tmp_path / "taken.aucmodel").exists)
    scores = load_model(tmp_path / "taken.aucmodel").score(read_table(data, need_label=False))
    split = records[0].splits[0]
    np.testing.assert_array_equal(scores[split.test_rows], split.test_scores)


def test_model_can_be_refit_on_all_rows(ran, qtbot, tmp_path, answers):
    answers.save_path = str(tmp_path / "all.aucmodel")
    shown = ran.session.shown_runs()[0]
    dialog = ExportModelDialog(ran.session, shown, ran)
    dialog.choice.kinds.button(1).setChecked(True)
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()
    qtbot.waitUntil(lambda: (tmp_path / "all.aucmodel").exists())
    assert "all 160 labelled rows" in load_model(tmp_path / "all.aucmodel").trained_on


def test_threshold_is_chosen_in_the_export_dialog(ran, qtbot, answers, tmp_path):
    (shown,) = ran.session.shown_runs()
    dialog = ExportModelDialog(ran.session, shown, ran)
    chooser = dialog.choice.chooser
    choose(chooser.rule, "own")
    assert chooser.fields["bound"].isHidden()
    before = chooser.card.rates["fpr"].text()
    choose(chooser.rule, "fpr")
    chooser.fields["bound"].setText("0.05")
    chooser.fields["bound"].editingFinished.emit()
    assert not chooser.fields["bound"].isHidden()
    assert chooser.card.rates["fpr"].text() != before
    split = shown.record.splits[0]
    answers.save_path = str(tmp_path / "model.aucmodel")
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()
    qtbot.waitUntil((tmp_path / "model.aucmodel").exists)
    saved = load_model(tmp_path / "model.aucmodel")
    called = split.test_scores > saved.threshold
    assert saved.intercept == split.model.intercept
    fpr = called[~split.test_positive].mean()
    assert fpr <= 0.05
    assert float(chooser.card.rates["fpr"].text()) == pytest.approx(fpr, abs=5e-4)
    assert "held-out rows" in chooser.remarks.text()
    dialog.deleteLater()


def test_model_is_exported_to_json_and_script(ran, qtbot, answers, tmp_path):
    (shown,) = ran.session.shown_runs()
    for key, content in (("script", b"def score("), ("json", b'"intercept"')):
        dialog = ExportModelDialog(ran.session, shown, ran)
        combo = dialog.findChild(QComboBox, "format_combo")
        assert combo.currentText() == "AUC Studio model"
        before = dialog.about.text()
        combo.setCurrentIndex(combo.findData(key))
        assert dialog.about.text() != before
        saved = tmp_path / f"model{dialog.chosen_format().ending}"
        answers.save_path = str(saved)
        save = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
        qtbot.waitUntil(save.isEnabled)
        save.click()
        qtbot.waitUntil(saved.exists)
        assert content in saved.read_bytes()
        dialog.deleteLater()
    assert sorted(path.name for path in tmp_path.glob("model*")) == ["model.json", "model.py"]


def save_figure(window):
    """Press Save picture, and Save in its dialog; return the dialog."""
    window.findChild(QAction, "action_export_figure").trigger()
    dialog = window.findChild(ExportFigureDialog)
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()
    return dialog


def test_figure_is_saved_in_each_format_or_the_failure_reported(ran, tmp_path, answers):
    contents = {}
    for ending in ("png", "svg", "pdf"):
        answers.save_path = str(tmp_path / f"roc.{ending}")
        save_figure(ran).deleteLater()
        contents[ending] = (tmp_path / f"roc.{ending}").read_bytes()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    image = QImage(str(tmp_path / "roc.png"))
    assert image.width() == 1004  # 85 mm at 300 dots per inch
    assert len({image.pixel(x, image.height() // 3) for x in range(image.width())}) > 5
    assert b"<text" in contents["svg"]
    assert b"<path" in contents["svg"] or b"<polyline" in contents["svg"]
    assert b"<image" not in contents["svg"]
    assert contents["pdf"].startswith(b"%PDF")
    assert not answers.errors
    answers.save_path = str(tmp_path / "no such folder" / "roc.png")
    dialog = save_figure(ran)
    assert "cannot write" in dialog.words.text()
    dialog.reject()


def test_report_card_and_command_of_a_run_are_saved(
    window, answers, run_to_end, table_file, tmp_path, qtbot, monkeypatch
):
    window.open_now(table_file)
    choose_method(window, "auc-svm")
    run_to_end(window)
    answers.save_path = str(tmp_path / "report.html")
    messages = []
    window.session.message.connect(messages.append)
    window.deck.show_view(window.deck.view("calibration_view"))
    calibration = window.deck.view("calibration_view")
    qtbot.waitUntil(lambda: bool(calibration.table.sheet.rows), timeout=PATIENCE)
    compare = window.deck.view("compare_view")
    window.deck.show_view(compare)
    compare.show_switch.choose("groups")
    qtbot.waitUntil(lambda: compare.groups.found is not None, timeout=PATIENCE)
    window.findChild(QAction, "action_export_report").trigger()
    qtbot.waitUntil(lambda: f"Saved {answers.save_path}" in messages)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "AUC-SVM" in page
    assert "Calibration</h2>" in page
    assert f" by {compare.groups.found.column}</h2>" in page
    assert "data:image/svg+xml" in page
    answers.save_path = str(tmp_path / "card.md")
    monkeypatch.setattr(prompts, "ask_item", lambda *_: "town")
    window.findChild(QAction, "action_model_card").trigger()
    qtbot.waitUntil(lambda: f"Saved {answers.save_path}" in messages)
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "## Performance on held-out rows" in card
    assert "## Results by town" in card
    answers.save_path = str(tmp_path / "run.sh")
    window.findChild(QAction, "action_export_script").trigger()
    qtbot.waitUntil(lambda: f"Saved {answers.save_path}" in messages)
    text = (tmp_path / "run.sh").read_text(encoding="utf-8")
    assert str(table_file) in text
    assert 'method = "auc-svm"' in text
    assert "aucstudio run" in text
    answers.save_path = str(tmp_path / "run.toml")
    window.findChild(QAction, "action_export_script").trigger()
    qtbot.waitUntil(lambda: f"Saved {answers.save_path}" in messages)
    (experiment,) = read_study(tmp_path / "run.toml").experiments
    assert experiment.id == window.session.shown_runs()[0].record.experiment.id


def test_setting_out_of_range_is_reported_beside_its_field(window, qtbot, table_file):
    window.open_now(table_file)
    choose_method(window, "svm-pauc")
    field = window.workplace.method_panel.form.editors["fpr_range"]
    field.clear()
    qtbot.keyClicks(field, "0.5,0.2")
    hint = window.workplace.method_panel.form.findChild(QWidget, "hint_fpr_range")
    assert hint.isVisibleTo(window.workplace.method_panel)
    assert "the smaller number first" in hint.text()


def test_tune_button_reports_the_chosen_settings(window, qtbot, table_file):
    window.open_now(table_file)
    choose_method(window, "auc-svm")
    window.workplace.method_panel.tune.click()
    qtbot.waitUntil(lambda: not window.session.busy)
    (shown,) = window.session.shown_runs()
    assert shown.look.name == "AUC-SVM, tuned"
    (found,) = shown.record.searches
    assert found.metric == "pauc"
    details = card_text(window.workplace.runs_panel.details)
    assert "tuned by pAUC of the range in 5 folds" in details
    assert f"best of {len(found.candidates)}" in details
    window.session.reuse_settings(shown.record.id)
    assert window.session.plan.params["auc-svm"]["C"] == found.chosen["C"]


def test_repeated_run_offers_the_existing_one(window, table_file, run_to_end, qtbot):
    """A run with the settings of an earlier one shows a notice, and Run adds no second one."""
    window.open_now(table_file)
    run_to_end(window)
    choose_method(window, "rls")
    run_to_end(window)
    choose_method(window, "auc-rls")
    window.actions_.run.trigger()
    assert not window.session.busy
    first, _second = window.session.shown_runs()
    assert window.session.selected == first.record.id
    notice = window.workplace.runs_panel.notice
    assert notice.isVisible()
    assert "AUC-RLS was made with the same settings on the same rows" in notice.words.text()
    qtbot.mouseClick(notice.again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(window.session.records) == 3)
    assert not notice.isVisible()
    window.actions_.run.trigger()
    assert notice.isVisible()
    window.session.set_look(first.record.id, "Remove run", removed=True)
    choose_method(window, "logistic")
    assert not notice.isVisible()


def test_leave_pair_out_is_limited_to_closed_form_methods(window, qtbot, table_file, run_to_end):
    window.open_now(table_file)
    scheme, metric = (
        window.workplace.validation_panel.fields["scheme"],
        window.workplace.method_panel.tune_by,
    )
    choose_method(window, "auc-svm")
    for combo in (scheme, metric):
        assert not combo.model().item(combo.findData("leave-pair-out")).isEnabled()
    choose_method(window, "auc-rls")
    pick(scheme, "leave-pair-out")
    assert not window.workplace.validation_panel.fields["seed"].isVisibleTo(window)
    run_to_end(window)
    (shown,) = window.session.shown_runs()
    X = shown.record.splits[0]
    assert len(X.train_rows) == len(X.test_rows) == 160
    choose_method(window, "auc-svm")
    window.resize(1200, 480)
    window.show()
    window.actions_.run.trigger()
    problem = window.workplace.validation_panel.problem
    assert "leave-pair-out would train AUC-SVM once for every pair" in problem.text()
    # It is scrolled to.
    qtbot.waitUntil(lambda: not problem.visibleRegion().isEmpty())
    choose_method(window, "auc-rls")
    pick(metric, "leave-pair-out")
    pick(scheme, "holdout")
    window.actions_.tune.trigger()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.session.shown_runs()[-1].record.searches[0].metric == "leave-pair-out"


def test_run_that_exceeds_memory_is_rejected_before_the_start(window, table_file, monkeypatch):
    monkeypatch.setattr("aucstudio.engine.cost.largest_memory", lambda _: 1e6)
    window.open_now(table_file)
    choose_method(window, "auc-svm")
    window.session.edit(
        dataclasses.replace(window.session.plan, params={"auc-svm": {"kernel": "rbf"}}), "kernel"
    )
    window.actions_.run.trigger()
    assert not window.session.busy
    assert window.session.records == {}
    hint = window.findChild(QLabel, "hint_n_neighbors")
    assert "pairs under a kernel would take about" in hint.text()


def test_experiment_file_opens_its_table_and_runs(window, qtbot, tmp_path):
    window.open_path(make_study("two-scorers", tmp_path))
    qtbot.waitUntil(lambda: len(window.session.records) == 2 and not window.session.busy)
    assert window.session.table.path.name == "two-scorers.csv"
    assert window.session.plan.band == (0.1, 0.2)


@pytest.mark.slow
def test_closing_during_a_run_does_not_hang(qtbot, tmp_path):
    window = create_window(make_sample("payments", tmp_path)[0])
    choose_method(window, "auc-svm")
    window.workplace.method_panel.form.editors["C"].setValue(1e6)
    window.workplace.method_panel.form.editors["C"].valueChanged.emit()
    window.actions_.run.trigger()
    qtbot.waitUntil(lambda: window.session.live is not None)
    window.close()  # the question is answered with "stop"
    qtbot.waitUntil(lambda: not window.session.busy)
    window.deleteLater()


def test_the_window_fits_a_small_screen(ran):
    least = ran.minimumSizeHint()
    assert least.width() <= 1280
    assert least.height() <= 680
    names = ran.workplace.runs_panel.view
    ran.resize(1280, 680)
    QApplication.processEvents()
    assert names.columnWidth(0) > 100
    compare, _left = ran.deck.visit("compare_view")
    compare.show_switch.choose("tables")
    QApplication.processEvents()
    assert compare.tables.runs_table.columnWidth(0) > 100


def test_method_card_estimates_time_and_memory(window, table_file):
    cost = window.findChild(QWidget, "method_cost")
    assert not cost.text()
    window.open_now(table_file)
    taken = r"rows, [\d,]+ pairs: a\sfew\sseconds and about\s\d+\sMB of memory$"
    assert re.search(taken, cost.text())
    choose_method(window, "kernel-rank-svm")
    size = training_size(
        window.session.plan.validation, window.session.table, window.session.table.positive
    )
    taken = METHODS["kernel-rank-svm"]().estimate(*size)
    time = Outlook(1, taken, rows=window.session.table.rows).words
    expected = text("outlook_run", time=time, bytes=taken.bytes)
    assert cost.text().endswith(f"{size[0] * size[1]:,} pairs: {unbroken(expected)}")


def test_menu_bar_shows_only_files_that_take_time(window, table_file, qtbot, monkeypatch):
    read, end, strip = session_files.read_file, threading.Event(), window.strip

    def wait(*parts):
        end.wait()
        return read(*parts)

    monkeypatch.setattr(session_files, "read_file", wait)
    window.open_path(table_file)
    try:
        assert window.session.files.opener.busy
        assert not strip.bar.isVisible()
        qtbot.waitUntil(strip.bar.isVisible)
    finally:
        end.set()
    qtbot.waitUntil(lambda: not window.session.files.opener.busy)
    assert not strip.bar.isVisible()


def test_strip_names_the_method_or_states_why_nothing_can_run(window, table_file):
    button, words = window.findChild(QPushButton, "strip_run"), window.strip.words
    assert window.workplace.method_panel  # made while the start page is shown
    assert button.text() == "Run"
    assert not button.isEnabled()
    assert words.text() == button.toolTip() == "Open a table first."
    window.open_now(table_file)
    assert button.isEnabled()
    assert words.text() == ""
    assert button.text() == "Run AUC-RLS"
    combo = window.findChild(QComboBox, "method_combo")
    combo.setCurrentIndex(combo.findData("logistic"))
    assert button.text() == button.accessibleName() == "Run Logistic regression"


def test_enter_runs_the_method_after_opening_a_table(window, qtbot, table_file):
    window.open_now(table_file)
    button = window.findChild(QPushButton, "strip_run")
    qtbot.waitUntil(button.isEnabled)
    button.setFocus()
    with qtbot.waitSignal(window.actions_.run.triggered):
        qtbot.keyClick(button, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(window.session.records))


def test_undo_and_redo_name_their_step(window, table_file):
    session, reported = window.session, []
    session.files.open_now(table_file, "table")
    session.set_roles("Ignore x0", roles={"x0": "ignore"})
    session.message.connect(reported.append)
    for name in ("undo", "redo"):
        window.findChild(QAction, f"action_{name}").trigger()
    assert reported == ["Undone: Ignore x0", "Redone: Ignore x0"]


def test_undo_explains_why_it_is_disabled(window, table_file):
    window.open_now(table_file)
    undo = window.findChild(QAction, "action_undo")
    assert not undo.isEnabled()
    assert undo.toolTip() == text("nothing_to_undo")
    window.session.set_roles(roles={"town": "ignore"})
    assert undo.toolTip().startswith("Undo")


def test_opened_study_does_not_focus_run(window, table_file, qtbot):
    window.resize(1400, 800)  # with the set-up beside the pages
    window.welcome.setFocus()
    window.open_now(table_file)
    field = window.findChild(QComboBox, "label_combo")
    qtbot.waitUntil(lambda: window.focusWidget() is field)


def test_focus_of_stop_goes_to_the_page_not_to_run(window, table_file, qtbot):
    window.resize(1400, 800)
    window.open_now(table_file)
    qtbot.waitUntil(lambda: window.focusWidget() is window.findChild(QComboBox, "label_combo"))
    stop = window.findChild(QPushButton, "strip_stop")
    window.actions_.stop.setEnabled(True)
    stop.setFocus()
    assert window.focusWidget() is stop
    window.actions_.stop.setEnabled(False)
    assert window.deck.active().isAncestorOf(window.focusWidget())
