"""The threshold of an exported model is the operating point in the picture."""

import dataclasses
import threading
import time

import numpy as np
import pytest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialogButtonBox,
    QLabel,
    QWidget,
)

from aucstudio.engine import roc
from aucstudio.engine.roc import cut_at
from aucstudio.gui.dialogs.export_model import REFIT, VALIDATED, ExportModelDialog
from aucstudio.notices import text
from aucstudio.notices.words import interval_words
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import FOLDS, LEAVE_PAIR_OUT, Validation
from aucstudio.project.results.summary import tpr_summary
from aucstudio.project.results.thresholds import Target
from aucstudio.project.runs.execute import refit
from aucstudio.project.store.export import FORMATS, NATIVE, ExportFormat
from aucstudio.project.store.model_file import load_model
from tests.gui.conftest import choose, make_record, put


@pytest.fixture
def open_dialog(table_session, qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)

    def open_dialog(kept=None):
        run = table_session.run(table_session.selected)
        return ExportModelDialog(table_session, run, parent, kept)

    return open_dialog


def save(dialog, answers, path):
    answers.save_path = str(path)
    button, until = (
        dialog.buttons.button(QDialogButtonBox.StandardButton.Save),
        time.monotonic() + 60,
    )
    while not button.isEnabled() and time.monotonic() < until:  # the format is checked first
        QApplication.processEvents()
    button.click()
    while not (path.exists() and button.isEnabled()) and time.monotonic() < until:
        QApplication.processEvents()
    return load_model(path)


def test_slow_export_format_does_not_block_the_window(
    table_session, open_dialog, answers, tmp_path, qtbot, monkeypatch
):
    go_on, path = threading.Event(), tmp_path / "slow.txt"

    def slowly(_model):
        assert go_on.wait(30)
        return b"written"

    slow = ExportFormat("slow", "Slow", ".txt", "Takes long", slowly, slowly)
    monkeypatch.setitem(FORMATS, "slow", slow)
    put(table_session, make_record(table_session.table))
    dialog = open_dialog()
    save_button = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    choose(dialog.format, "slow")
    assert not save_button.isEnabled()  # the check of the format is still running
    go_on.set()
    qtbot.waitUntil(save_button.isEnabled)
    go_on.clear()
    answers.save_path = str(path)
    save_button.click()
    assert not dialog.progress.isHidden()
    assert not path.exists()
    dialog.progress.cancel.click()
    assert save_button.isEnabled()
    go_on.set()
    assert save_button.isEnabled()
    save_button.click()
    qtbot.waitUntil(save_button.isEnabled)
    assert path.read_bytes() == b"written"


def test_dialog_stays_open_for_another_format(table_session, open_dialog, answers, tmp_path, qtbot):
    put(table_session, make_record(table_session.table))
    dialog = open_dialog()
    with qtbot.waitExposed(dialog):
        dialog.show()
    size = dialog.size()
    for key, ending in ((NATIVE.key, NATIVE.ending), ("json", ".json")):
        choose(dialog.format, key)
        path = tmp_path / f"model{ending}"
        answers.save_path = str(path)
        button = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
        qtbot.waitUntil(button.isEnabled)
        with qtbot.waitSignal(table_session.message) as said:
            button.click()
        assert str(path) in said.args[0]
        assert str(path) in dialog.words.text().replace("\u200b", "")
        assert dialog.isVisible()
        assert path.exists()
    for bar in (dialog.area.verticalScrollBar(), dialog.area.horizontalScrollBar()):
        assert bar.maximum() == 0
    dialog.progress.show()
    QApplication.processEvents()
    assert dialog.area.horizontalScrollBar().maximum() == 0
    assert dialog.height() >= size.height()


def test_refit_shows_its_progress_and_is_cancelled(table_session, open_dialog, answers, qtbot):
    """A method with many epochs is refit: each is reported, and Cancel ends the refit."""
    record = make_record(table_session.table, "noam", {"n_epochs": 1})
    long = {**record.experiment.params, "n_epochs": 100_000}
    experiment = dataclasses.replace(record.experiment, params=long)
    put(table_session, dataclasses.replace(record, experiment=experiment))
    dialog = open_dialog()
    dialog.choice.kinds.button(REFIT).click()
    save_button = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    qtbot.waitUntil(save_button.isEnabled)
    save_button.click()
    assert not dialog.progress.isHidden()
    qtbot.waitUntil(lambda: dialog.progress.bar.value() > 0, timeout=20_000)
    shown = dialog.progress.doing.text()
    qtbot.waitUntil(lambda: dialog.progress.doing.text() != shown, timeout=20_000)
    dialog.progress.cancel.click()
    assert save_button.isEnabled()
    assert dialog.progress.isHidden()
    qtbot.waitUntil(lambda: not refits_running(), timeout=20_000)


def test_refit_model_is_kept_until_the_table_is_read_differently(
    table_session, open_dialog, monkeypatch
):
    fits = []

    def counted(experiment, table, listen):
        fits.append(table)
        return refit(experiment, table, listen)

    monkeypatch.setattr("aucstudio.gui.dialogs.export_model.refit", counted)
    put(table_session, make_record(table_session.table))

    def made():
        dialog = open_dialog()
        dialog.choice.kinds.button(REFIT).setChecked(True)
        return dialog.choice.making()(lambda _progress: False)

    first, second = made(), made()
    assert len(fits) == 1
    assert second.scorer is first.scorer
    run = table_session.selected
    kept = table_session.study.home.refits[run]
    other = dataclasses.replace(kept, schema=dataclasses.replace(kept.schema, chosen=("decimal",)))
    table_session.study.home.refits[run] = other
    assert made().scorer is not first.scorer
    assert len(fits) == 2


def test_one_button_cancels_the_refit(table_session, open_dialog):
    put(table_session, make_record(table_session.table))
    buttons = open_dialog().findChildren(QAbstractButton)
    assert [b.objectName() for b in buttons if "ancel" in b.text().replace("&", "")] == [
        "export_cancel"
    ]


def refits_running():
    return [one for one in threading.enumerate() if one.name == "aucstudio-job"]


def test_tab_order_follows_the_questions(table_session, open_dialog, qtbot):
    put(table_session, make_record(table_session.table))
    dialog = open_dialog()
    with qtbot.waitExposed(dialog):
        dialog.show()
    first = dialog.choice.kinds.checkedButton()
    assert dialog.focusWidget() is first
    met = []
    while first not in met[:1] or dialog.focusWidget() is not first:
        met.append(dialog.focusWidget())
        dialog.focusNextChild()
    assert met.index(dialog.format) < met.index(dialog.calibration)
    assert met.index(dialog.calibration) < met.index(dialog.choice.chooser.rule)
    assert met[-1] is dialog.buttons.button(QDialogButtonBox.StandardButton.Close)


@pytest.mark.parametrize("vertex", [0, 1, 7, -2, -1])
@pytest.mark.parametrize("split", [0, 2])
def test_saved_model_predicts_as_at_the_operating_point(
    table_session, open_dialog, answers, table_file, tmp_path, vertex, split
):
    record = put(table_session, make_record(table_session.table, validation=Validation(repeats=3)))
    result = record.splits[split]
    curve = roc.roc_curve(result.test_positive, result.test_scores)
    vertex %= len(curve.tp)
    table_session.set_threshold(split=split, threshold=cut_at(curve, vertex))
    dialog = open_dialog()
    assert dialog.choice.chooser.rule.currentText() == "set by hand"
    assert f"split {split + 1} of 3" in dialog.choice.kinds.button(0).text()
    dialog.choice.kinds.button(VALIDATED).click()
    saved = save(dialog, answers, tmp_path / "m.aucmodel")
    scores = saved.score(read_table(table_file, need_label=False))[result.test_rows]
    called = scores > saved.threshold
    assert called[result.test_positive].sum() == curve.tp[vertex]
    assert called[~result.test_positive].sum() == curve.fp[vertex]
    rates = dialog.choice.chooser.card.rates
    assert float(rates["tpr"].text()) == pytest.approx(curve.tpr[vertex], abs=5e-4)
    assert float(rates["fpr"].text()) == pytest.approx(curve.fpr[vertex], abs=5e-4)
    np.testing.assert_allclose(scores, result.test_scores, rtol=1e-9)
    assert "set by the user" in saved.threshold_rule


def test_threshold_equal_to_a_score_is_kept(
    table_session, open_dialog, answers, table_file, tmp_path
):
    result = put(table_session, make_record(table_session.table)).splits[0]
    table_session.set_threshold(threshold=float(np.sort(result.test_scores)[30]))
    saved = save(open_dialog(), answers, tmp_path / "m.aucmodel")
    scores = saved.score(read_table(table_file, need_label=False))[result.test_rows]
    called = scores > saved.threshold
    np.testing.assert_array_equal(called, result.test_scores > table_session.focus.threshold)


def test_choice_of_model_and_threshold_is_kept_for_the_run(table_session, open_dialog):
    kept = {}
    put(table_session, make_record(table_session.table))
    dialog = open_dialog(kept)
    dialog.choice.kinds.button(REFIT).click()
    choose(dialog.choice.chooser.rule, "tpr")
    target = dialog.choice.target
    dialog.reject()
    again = open_dialog(kept)
    assert again.choice.kinds.checkedId() == REFIT
    assert again.choice.target == target
    again.reject()
    table_session.set_threshold(threshold=0.25)  # chosen later than the one of the dialog
    again = open_dialog(kept)
    assert again.choice.kinds.checkedId() == REFIT
    assert again.choice.target == table_session.focus.target
    again.reject()
    put(table_session, make_record(table_session.table, validation=Validation(seed=1)))
    assert open_dialog(kept).choice.kinds.checkedId() == VALIDATED


@pytest.mark.parametrize("end", [0.05, 0.1, 0.3])
def test_dialog_begins_with_the_end_of_the_fpr_range(table_session, open_dialog, end):
    result = put(table_session, make_record(table_session.table)).splits[0]
    table_session.set_band(0.0, end)
    dialog = open_dialog()
    chooser = dialog.choice.chooser
    assert chooser.rule.currentData() == "fpr"
    assert float(chooser.fields["bound"].text()) == end
    called = result.test_scores > dialog.choice.validated().threshold
    alarms = called[~result.test_positive]
    assert alarms.mean() <= end < alarms.mean() + 1 / alarms.size
    assert float(chooser.card.rates["fpr"].text()) == pytest.approx(alarms.mean(), abs=5e-4)


def test_chosen_threshold_comes_before_the_end_of_the_fpr_range(table_session, open_dialog):
    put(table_session, make_record(table_session.table))
    table_session.set_band(0.0, 0.05)
    table_session.use_everywhere(Target("tpr", 0.9))
    assert open_dialog().choice.target == Target("tpr", 0.9)


def test_run_of_several_splits_is_refit_by_default(table_session, open_dialog):
    put(table_session, make_record(table_session.table, validation=Validation(repeats=3)))
    assert open_dialog().choice.kinds.checkedId() == REFIT


def test_figures_of_a_refit_are_means_over_splits_with_the_interval_of_the_run(
    table_session, open_dialog
):
    record = put(
        table_session, make_record(table_session.table, validation=Validation(FOLDS, folds=3))
    )
    table_session.set_threshold(target=Target("fpr", 0.2))
    card = open_dialog().choice.chooser.card
    found = tpr_summary(record, 0.2)
    assert card.rates["tpr"].text() == f"{found.value:.3f}"
    assert card.notes["tpr"].text() == interval_words(found.low, found.high)
    rows = sum(np.count_nonzero(split.test_positive) for split in record.splits)
    counts = [int(card.cells[key].text().split()[1]) for key in ("tp", "fn")]
    assert sum(counts) == rows
    assert not card.notes["fpr"].text()


def test_figures_of_one_split_stay_those_of_its_own_rows(table_session, open_dialog):
    record = put(
        table_session, make_record(table_session.table, validation=Validation(FOLDS, folds=3))
    )
    dialog = open_dialog()
    dialog.choice.kinds.button(VALIDATED).click()
    card, (split, *_) = dialog.choice.chooser.card, record.splits
    counts = [int(card.cells[key].text().split()[1]) for key in ("tp", "fn")]
    assert sum(counts) == np.count_nonzero(split.test_positive)


def test_default_threshold_is_the_model_s_own(table_session, open_dialog):
    record = put(table_session, make_record(table_session.table))
    table_session.set_band(0.0, 1.0)
    dialog = open_dialog()
    assert dialog.choice.chooser.rule.currentData() == "own"
    assert dialog.choice.threshold_rule() is None
    assert dialog.choice.validated() is record.splits[0].model


def test_refit_model_keeps_the_false_positive_rate(
    table_session, open_dialog, answers, table_file, tmp_path, qtbot
):
    result = put(table_session, make_record(table_session.table)).splits[0]
    table_session.set_threshold(threshold=0.4)
    dialog = open_dialog()
    field = dialog.choice.chooser.fields["threshold"]
    assert field.text() == "0.4"
    before = dialog.about_model.text()
    dialog.choice.kinds.button(1).setChecked(True)
    assert dialog.about_model.text() not in ("", before)
    assert not field.text()  # chosen after the refit
    assert field.placeholderText()
    assert not field.isEnabled()
    remarks = dialog.findChild(QLabel, "model_threshold_remarks").text()
    assert text("threshold_of_rank", several=False) in remarks
    answers.save_path = str(tmp_path / "all.aucmodel")
    dialog.buttons.button(QDialogButtonBox.StandardButton.Save).click()
    qtbot.waitUntil(lambda: (tmp_path / "all.aucmodel").exists())
    table = read_table(table_file)
    model = load_model(tmp_path / "all.aucmodel")
    requested = (result.test_scores[~result.test_positive] > 0.4).mean()
    curve = roc.roc_curve(result.test_positive, result.test_scores)
    place = roc.ThresholdRule("fpr", fpr=float(requested)).place(curve)
    called = model.score(table)[result.train_rows] > model.threshold
    # Nearly as many of the training rows lie above it as above the validated model's.
    assert abs(int(called.sum()) - int((result.train_scores > place).sum())) <= 1


def test_leave_pair_out_threshold_is_set_by_its_fpr(table_session, open_dialog):
    record = make_record(table_session.table, "auc-rls", validation=Validation(LEAVE_PAIR_OUT))
    result = put(table_session, record).splits[0]
    curve = roc.roc_curve(result.test_positive, result.test_scores)
    table_session.set_threshold(threshold=cut_at(curve, 9))
    dialog = open_dialog()
    own = dialog.choice.validated().threshold
    alarms = (result.train_scores[~result.train_positive] > own).mean()
    assert alarms <= curve.fpr[9] + 1e-12


def test_opening_the_dialog_does_not_block_the_window(
    window, run_to_end, answers, table_file, tmp_path, qtbot
):
    window.open_now(table_file)
    run_to_end(window)
    window.actions_.export_model.trigger()
    (dialog,) = window.findChildren(ExportModelDialog)
    qtbot.waitUntil(dialog.isVisible)
    window.session.weigh(miss=7.0)
    choose(dialog.choice.chooser.rule, "cost")
    assert dialog.choice.chooser.fields["miss"].text() == "7"
    model = save(dialog, answers, tmp_path / "other.aucmodel")
    assert "the expected cost is least" in model.threshold_rule
    dialog.buttons.button(QDialogButtonBox.StandardButton.Close).click()
    qtbot.waitUntil(lambda: not window.findChildren(ExportModelDialog))


def test_unsupported_export_format_is_reported_before_saving(table_session, open_dialog, qtbot):
    put(table_session, make_record(table_session.table, params={"kernel": "rbf"}))
    dialog = open_dialog()
    save_button = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    qtbot.waitUntil(save_button.isEnabled)
    dialog.format.setCurrentIndex(dialog.format.findData("sql"))
    qtbot.waitUntil(lambda: "kernel" in dialog.about.text())
    assert not save_button.isEnabled()
    dialog.format.setCurrentIndex(dialog.format.findData("script"))
    qtbot.waitUntil(save_button.isEnabled)


def test_dialog_begins_with_the_range_of_the_training_where_the_whole_curve_is_shown(
    table_session, open_dialog
):
    band = (0.0, 0.2)
    put(table_session, make_record(table_session.table, "svm-pauc", {"fpr_range": band}))
    table_session.set_band(0.0, 1.0)
    dialog = open_dialog()
    assert dialog.choice.target == Target("fpr", band[1])
    words = text("threshold_of_range_end", range=band, trained=True)
    assert words in dialog.choice.chooser.remarks.text()
