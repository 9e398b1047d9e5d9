"""The data card warns before a run if a class has few rows."""

import dataclasses

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QPushButton

from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.project.data.validation import Validation


@pytest.fixture
def card(session, tmp_path, qtbot):
    held = []

    def show(positives, validation=None):
        path = tmp_path / f"few{positives}.csv"
        lines = [f"{k % 13},{'yes' if k < positives else 'no'}" for k in range(200)]
        path.write_text("\n".join(["x,outcome", *lines]) + "\n")
        session.files.open_now(path, "table")
        plan = dataclasses.replace(session.plan, validation=validation or Validation())
        session.edit(plan, "Change validation")
        panel = DataPanel(session)
        qtbot.addWidget(panel)
        held.append(panel)
        return panel.caution

    return show


@pytest.mark.parametrize("scheme", ["holdout", "folds", "leave-pair-out"])
def test_single_positive_is_an_error_before_the_run(card, scheme):
    caution = card(1, Validation(scheme))
    assert caution.property("role") == "error"
    assert "has 1 row, and no split can hold one in training and one in test" in caution.text()
    assert "fold" not in caution.text()


def test_single_positive_is_allowed_with_a_test_file(card):
    caution = card(1, Validation("file", test_file="later.csv"))
    assert caution.text() == "Only 1 positive to train on."


def test_caution_suggests_a_possible_number_of_folds(card, session):
    caution = card(3, Validation("folds", folds=5))
    assert "choose fewer folds, 3 at most" in caution.text()
    session.edit(
        dataclasses.replace(session.plan, validation=Validation("folds", folds=3)), "Fewer"
    )
    assert caution.text().startswith("The smaller class") is False


@pytest.mark.parametrize(
    ("positives", "validation", "words"),
    [
        (20, Validation(), "Only 20 positives, about 5 of them in the test part"),
        (8, Validation("folds"), "Only 8 positives: intervals will be wide"),
        (60, Validation(), ""),
        (20, Validation("folds"), ""),
    ],
)
def test_few_positives_show_a_caution(card, positives, validation, words):
    caution = card(positives, validation)
    assert caution.text().startswith(words)
    assert bool(caution.text()) == bool(words)
    assert caution.property("role") != "error"


def few_positives(folder, positives=3):
    path = folder / "few.csv"
    lines = [f"{k % 13},{'yes' if k < positives else 'no'}" for k in range(200)]
    path.write_text("\n".join(["x,outcome", *lines]) + "\n")
    return path


def set_folds(window, folds):
    validation = Validation("folds", folds=folds)
    window.session.edit(dataclasses.replace(window.session.plan, validation=validation), "Folds")
    QApplication.processEvents()


def test_caution_does_not_move_the_controls_below(window, tmp_path):
    window.open_now(few_positives(tmp_path, 30))
    set_folds(window, 5)
    assert not window.workplace.data_panel.caution.text()
    best = window.workplace.method_panel.best
    before = best.mapTo(window, QPoint(0, 0))
    set_folds(window, 10)
    set_folds(window, 40)
    assert window.workplace.data_panel.caution.text()
    assert best.mapTo(window, QPoint(0, 0)) == before


def test_one_line_at_most_is_kept_free_for_a_caution(window, table_file):
    window.open_now(table_file)
    QApplication.processEvents()
    panel = window.workplace.data_panel
    assert not panel.caution.isVisible()
    room = panel.findings.parentWidget()
    assert panel.height() - room.geometry().bottom() <= 3 * panel.fontMetrics().lineSpacing()


def test_run_is_disabled_if_it_cannot_succeed(window, tmp_path):
    window.open_now(few_positives(tmp_path))
    set_folds(window, 3)
    run, button = window.actions_.run, window.strip.findChild(QPushButton, "strip_run")
    assert run.isEnabled()
    assert button.isEnabled()
    set_folds(window, 10)
    assert not run.isEnabled()
    assert not window.actions_.tune.isEnabled()
    assert "needs at least 10" in button.toolTip()
    assert window.actions_.find_best.isEnabled()  # which holds out rows in its own way
    window.session.undo_stack.undo()
    assert run.isEnabled()
    assert "needs at least" not in button.toolTip()
