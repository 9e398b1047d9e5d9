"""The list of columns: any number of them, searched, sorted and given roles many at once."""

import dataclasses
import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QLabel

from aucstudio.gui.dialogs.columns import HEADS, ColumnsDialog
from aucstudio.gui.panels.data_panel import DataPanel
from aucstudio.project.data.finding import FORMAT, Finding
from aucstudio.project.data.table import Column, Table
from aucstudio.project.data.text.dialect import Dialect


def wide_table(columns):
    rng = np.random.default_rng(0)
    made = [
        Column.of_cells(f"f{k}", rng.normal(size=20), k % 7, k % 20) for k in range(columns - 2)
    ]
    made.append(Column.of_cells("city", np.array(["Bern", "Basel"] * 10, dtype=object), 0, 2))
    made.append(Column.of_cells("y", np.array(["a", "b"] * 10, dtype=object), 0, 2))
    table = Table(
        path=Path("wide.csv"), format="csv", dialect=Dialect(), sha256="0" * 64, columns=tuple(made)
    )
    return table.with_roles(label="y", positive="a")


@pytest.fixture
def dialog(qtbot):
    def make(table):
        made = ColumnsDialog(table)
        qtbot.addWidget(made)
        with qtbot.waitExposed(made):
            made.show()
        return made

    return make


def shown(dialog, place=0):
    model = dialog.grid.model()
    return [model.index(row, place).data() for row in range(model.rowCount())]


@pytest.mark.parametrize("columns", [5_000, 20_000])
def test_a_wide_table_is_shown_at_once(dialog, columns):
    table = wide_table(columns)
    began = time.process_time()
    made = dialog(table)
    made.grab()
    assert time.process_time() - began < 0.5
    assert made.grid.model().rowCount() == columns


def test_a_wide_table_is_given_roles_at_once(dialog):
    table = wide_table(5_000)
    made = dialog(table)
    began = time.process_time()
    made.grid.selectAll()
    made.buttons["ignore"].click()
    changed = table.with_roles(roles=made.roles())
    assert time.process_time() - began < 1.0
    assert changed.features == ()
    assert changed.label == "y"


def test_the_search_finds_names_roles_and_kinds(dialog):
    made = dialog(wide_table(30))
    made.search.setText("f2")
    assert shown(made) == ["f2", *(f"f{k}" for k in range(20, 28))]
    made.search.setText("text")
    assert shown(made) == ["city", "y"]
    made.search.setText("label")
    assert shown(made) == ["y"]
    made.search.clear()
    assert len(shown(made)) == 30


@pytest.mark.parametrize("place", range(len(HEADS)))
def test_any_column_sorts_both_ways_and_the_file_order_comes_back(dialog, place):
    made = dialog(wide_table(30))
    before = shown(made)
    made.grid.horizontalHeader().setSortIndicator(place, Qt.SortOrder.AscendingOrder)
    up = shown(made, place)
    made.grid.horizontalHeader().setSortIndicator(place, Qt.SortOrder.DescendingOrder)
    down = shown(made, place)
    if HEADS[place] in ("Distinct", "Missing"):
        assert [int(text) for text in up] == sorted(int(text) for text in up)
    assert up == down[::-1] or sorted(up) == sorted(down)
    assert (up[0] != down[0]) == (len(set(up)) > 1)
    made.grid.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    assert shown(made) == before


def test_several_columns_get_a_role_by_keys_alone(dialog, qtbot):
    made = dialog(wide_table(30))
    made.grid.setFocus()
    made.grid.setCurrentIndex(made.grid.model().index(0, 0))
    for _ in range(3):
        qtbot.keyClick(made.grid, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(made.buttons["ignore"], Qt.Key.Key_Space)
    assert made.roles() == {f"f{k}": "ignore" for k in range(4)}
    assert shown(made, HEADS.index("Role"))[:5] == ["Ignore"] * 4 + ["Number"]
    assert shown(made, 3)[:5] == ["changed here"] * 4 + ["detection"]
    assert "4 to be changed" in made.status.text()
    made.buttons["number"].click()
    assert made.roles() == {}


def test_what_cannot_have_a_role_keeps_its_own_and_it_is_said(dialog):
    made = dialog(wide_table(30))
    made.grid.selectAll()
    made.buttons["number"].click()
    assert made.roles() == {}
    assert made.status.text() == "2 columns hold text, or are the label, and cannot be a number"
    made.search.setText("city")
    made.grid.selectAll()
    assert not made.buttons["number"].isEnabled()
    made.buttons["group"].click()
    assert made.roles() == {"city": "group"}


def test_a_selection_outlives_sorting(dialog):
    made = dialog(wide_table(30))
    made.grid.selectRow(3)
    made.grid.horizontalHeader().setSortIndicator(0, Qt.SortOrder.DescendingOrder)
    made.buttons["ignore"].click()
    assert made.roles() == {"f3": "ignore"}


@pytest.fixture
def panel(session, qtbot):
    """The card of a wide table; held until the list has gone that is its child."""
    session.put_table(wide_table(30))
    made = DataPanel(session)
    qtbot.addWidget(made)
    yield made
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_the_card_opens_the_list_without_waiting_for_it(panel, session):
    panel.columns_button.click()
    made = panel.findChild(ColumnsDialog)
    made.grid.selectRow(0)
    made.buttons["ignore"].click()
    made.accept()
    assert session.table.column("f0").role == "ignore"
    panel.columns_button.click()
    late = panel.findChildren(ColumnsDialog)[-1]
    late.grid.selectRow(1)
    late.buttons["ignore"].click()
    session.put_table(wide_table(20))
    late.accept()
    assert session.table.column("f1").role == "number"
    assert "has changed since the dialog opened" in panel.problem.text()


def test_every_note_on_the_import_is_listed(dialog):
    notes = tuple(f"note number {k}" for k in range(12))
    made = dialog(
        dataclasses.replace(wide_table(5), remarks=tuple(Finding(FORMAT, note) for note in notes))
    )
    listed = made.findChild(QLabel, "columns_notes").text().lower().splitlines()
    assert [line.rstrip(".") for line in listed] == list(notes)
