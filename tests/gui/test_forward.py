"""Forward in time, chosen in the card of the validation."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

from aucstudio.gui.panels.validation_panel import ValidationPanel, time_columns
from aucstudio.project.data.splitting.validation import FOLDS, FORWARD, Validation
from aucstudio.project.data.table import read_table
from tests.gui.conftest import choose, train


@pytest.fixture
def panel(qtbot, session, tmp_path):
    rng = np.random.default_rng(3)
    lines = ["x,visit,note,outcome"]
    for i in range(90):
        positive = rng.random() < 0.4
        day = f"2024-{1 + i // 10:02d}-{1 + i % 10:02d}"
        note = "abc"[i % 3]
        lines.append(f"{rng.normal() + positive:.3f},{day},{note},{'yes' if positive else 'no'}")
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    session.study.table = read_table(path, label="outcome")
    made = ValidationPanel(session)
    qtbot.addWidget(made)
    made.show()
    return made


def title_of(panel, field):
    return next(label.text() for label in panel.findChildren(QLabel) if label.buddy() is field)


def turn_to(panel, scheme):
    choose(panel.scheme, scheme)
    panel.scheme.activated.emit(panel.scheme.currentIndex())


def test_the_form_asks_for_a_column_and_begins_with_dates(panel, session):
    assert not panel.time_box.isVisible()
    turn_to(panel, FORWARD)
    assert session.plan.validation == Validation(FORWARD, time="visit")
    assert [panel.time_box.itemText(k) for k in range(panel.time_box.count())] == ["visit", "x"]
    for field in (panel.time_box, panel.folds, panel.gap_box, panel.window_box):
        assert field.isVisible()
    assert not panel.seed.isVisible()
    assert title_of(panel, panel.folds) == "Steps"
    assert panel.gap_box.text() == "none"
    assert panel.window_box.text() == "all earlier rows"
    assert "never evaluated" in panel.ahead.text()
    panel.gap_box.setValue(7)
    panel.window_box.setValue(90.5)
    assert panel.gap_box.text() == "7 days"
    assert panel.window_box.text() == "90.5 days"
    assert session.plan.validation == Validation(FORWARD, time="visit", gap=7.0, window=90.5)
    choose(panel.time_box, "x")
    panel.time_box.activated.emit(1)
    assert session.plan.validation.time == "x"
    assert panel.gap_box.text() == "7"
    session.undo_stack.undo()
    assert panel.time_box.currentText() == "visit"
    turn_to(panel, FOLDS)
    assert title_of(panel, panel.folds) == "Folds"
    assert not panel.ahead.isVisible()


def test_a_run_goes_as_the_form_says(panel, session, qtbot):
    turn_to(panel, FORWARD)
    panel.folds.setValue(3)
    record = train(qtbot, session)
    assert record.status == "done"
    days = session.table.column("visit").values
    for split in record.splits:
        assert days[split.train_rows].max() < days[split.test_rows].min()


def test_a_column_that_is_gone_is_still_named(panel, session):
    turn_to(panel, FORWARD)
    kept = [column for column in session.table.columns if column.name != "visit"]
    session.study.table = dataclasses.replace(session.table, columns=tuple(kept))
    session.tell({"table"})
    assert panel.time_box.currentText() == "visit"
    assert time_columns(session.table) == ["x"]
    session.study.table = None
    session.tell({"table"})
    assert time_columns(None) == []
