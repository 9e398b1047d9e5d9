"""Forward-in-time validation, chosen in the validation card."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

from aucstudio.gui.panels.validation_panel import ValidationPanel, time_columns
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import FOLDS, FORWARD, Validation
from tests.conftest import write_file
from tests.gui.conftest import pick, train


@pytest.fixture
def panel(qtbot, session, tmp_path):
    rng = np.random.default_rng(3)
    lines = ["x,visit,note,outcome"]
    for i in range(90):
        positive = rng.random() < 0.4
        day = f"2024-{1 + i // 10:02d}-{1 + i % 10:02d}"
        note = "abc"[i % 3]
        lines.append(f"{rng.normal() + positive:.3f},{day},{note},{'yes' if positive else 'no'}")
    path = write_file(tmp_path / "visits.csv", "\n".join(lines) + "\n")
    session.study.table = read_table(path, label="outcome")
    made = ValidationPanel(session)
    qtbot.addWidget(made)
    made.show()
    return made


def title_of(panel, field):
    return next(label.text() for label in panel.findChildren(QLabel) if label.buddy() is field)


def test_form_defaults_to_a_date_column(panel, session):
    assert not panel.fields["time"].isVisible()
    pick(panel.fields["scheme"], FORWARD)
    assert session.plan.validation == Validation(FORWARD, time="visit")
    assert [panel.fields["time"].itemText(k) for k in range(panel.fields["time"].count())] == [
        "visit",
        "x",
    ]
    for field in (
        panel.fields["time"],
        panel.fields["folds"],
        panel.fields["gap"],
        panel.fields["window"],
    ):
        assert field.isVisible()
    assert not panel.fields["seed"].isVisible()
    assert title_of(panel, panel.fields["folds"]) == "Steps"
    assert panel.fields["gap"].text() == "none"
    assert panel.fields["window"].text() == "all earlier rows"
    assert "never evaluated" in panel.ahead.text()
    panel.fields["gap"].setValue(7)
    panel.fields["window"].setValue(90.5)
    assert panel.fields["gap"].text() == "7 days"
    assert panel.fields["window"].text() == "90.5 days"
    assert session.plan.validation == Validation(FORWARD, time="visit", gap=7.0, window=90.5)
    pick(panel.fields["time"], "x")
    assert session.plan.validation.time == "x"
    assert panel.fields["gap"].text() == "7"
    session.undo_stack.undo()
    assert panel.fields["time"].currentText() == "visit"
    pick(panel.fields["scheme"], FOLDS)
    assert title_of(panel, panel.fields["folds"]) == "Folds"
    assert not panel.ahead.isVisible()


def test_run_uses_forward_validation(panel, session, qtbot):
    pick(panel.fields["scheme"], FORWARD)
    panel.fields["folds"].setValue(3)
    record = train(qtbot, session)
    assert record.status == "done"
    days = session.table.column("visit").values
    for split in record.splits:
        assert days[split.train_rows].max() < days[split.test_rows].min()


def test_missing_time_column_is_still_named(panel, session):
    pick(panel.fields["scheme"], FORWARD)
    kept = [column for column in session.table.columns if column.name != "visit"]
    session.study.table = dataclasses.replace(session.table, columns=tuple(kept))
    session.notify({"table"})
    assert panel.fields["time"].currentText() == "visit"
    assert time_columns(session.table) == ["x"]
    session.study.table = None
    session.notify({"table"})
    assert time_columns(None) == []
