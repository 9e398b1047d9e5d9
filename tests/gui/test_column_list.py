"""The list of columns: searched, sorted, and many roles changed at once."""

import dataclasses
import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QTableView

from aucstudio.gui.pages.data.column_list import Overview
from aucstudio.gui.pages.data.data_view import COLUMNS, DataView
from aucstudio.project.data.table import Column, Table
from aucstudio.project.data.text.dialect import Dialect

ROLE, DECIDED_BY = 4, 6


def wide_table(columns):
    rng = np.random.default_rng(0)
    made = [
        Column.of_cells(f"f{k}", rng.normal(size=20), k % 7, k % 20) for k in range(columns - 2)
    ]
    made.append(Column.of_cells("city", np.array(["Bern", "Basel"] * 10, dtype=object), 0, 2))
    made.append(Column.of_cells("y", np.array(["a", "b"] * 10, dtype=object), 0, 2))
    table = Table(path=Path("wide.csv"), format="csv", dialect=Dialect(), columns=tuple(made))
    return table.with_roles(label="y", positive="a")


@pytest.fixture
def listed(qtbot):
    """Create a column list of a table; chosen roles change the table at once."""

    def make(table):
        made = Overview()
        made.table, made.refused = table, []
        qtbot.addWidget(made)

        def put(roles, refused):
            made.refused.append(refused)
            made.table = made.table.with_roles(roles=roles)
            made.show_table(made.table, lambda: None)

        made.roles_chosen.connect(put)
        made.show_table(table, lambda: None)
        with qtbot.waitExposed(made):
            made.show()
        return made

    return make


def shown(listed, place=0):
    return [listed.model.index(row, place).data() for row in range(listed.model.rowCount())]


def search(listed, qtbot, words, count):
    listed.search.setText(words)
    qtbot.waitUntil(lambda: listed.model.rowCount() == count)
    return shown(listed)


def test_wide_table_is_listed_and_given_roles_quickly(listed):
    table = wide_table(20_000)
    began = time.process_time()
    made = listed(table)
    made.grab()
    assert time.process_time() - began < 0.6
    assert made.model.rowCount() == 20_000
    began = time.process_time()
    made.list.selectAll()
    made.role_actions["ignore"].trigger()
    assert time.process_time() - began < 2.0
    assert made.table.features == ()
    assert made.table.label == "y"


def test_search_finds_names_roles_and_kinds(listed, qtbot):
    made = listed(wide_table(30))
    assert search(made, qtbot, "f2", 9) == ["f2", *(f"f{k}" for k in range(20, 28))]
    assert search(made, qtbot, "text", 2) == ["city", "y"]
    assert search(made, qtbot, "label", 1) == ["y"]
    assert len(search(made, qtbot, "", 30)) == 30


@pytest.mark.parametrize("place", [0, 2, 3, 4, 5, 6, 7])
def test_third_click_on_a_header_restores_the_file_order(listed, place):
    made = listed(wide_table(30))
    header, before = made.list.horizontalHeader(), shown(made)
    header.setSortIndicator(place, Qt.SortOrder.AscendingOrder)
    up = shown(made, place)
    header.setSortIndicator(place, Qt.SortOrder.DescendingOrder)
    down = shown(made, place)
    if made.model.columns[place].is_figure:
        assert [int(text) for text in up] == sorted(int(text) for text in up)
    assert sorted(up) == sorted(down)
    assert (up[0] != down[0]) == (len(set(up)) > 1)
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    assert shown(made) == before


def test_selected_columns_get_a_role_by_key(listed, qtbot):
    made = listed(wide_table(30))
    made.list.horizontalHeader().setSortIndicator(3, Qt.SortOrder.DescendingOrder)
    made.list.setFocus()
    made.list.setCurrentIndex(made.model.index(0, 0))
    for _ in range(3):
        qtbot.keyClick(made.list, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    chosen = shown(made)[:4]
    assert "4 selected" in made.message.text()
    for role, words in (("ignore", "Ignore"), ("number", "Number")):
        made.role_actions[role].trigger()
        assert [made.table.column(name).role for name in chosen] == [role] * 4
        assert shown(made, ROLE)[:5] == [words] * 4 + ["Number"]
        assert shown(made, DECIDED_BY)[:5] == ["you"] * 4 + ["detection"]
    assert made.refused == ["", ""]


def test_columns_that_cannot_have_a_role_are_reported(listed, qtbot):
    made = listed(wide_table(30))
    made.list.selectAll()
    made.role_actions["number"].trigger()
    assert made.refused == ["2 columns hold text, or are the label, and cannot be a number"]
    search(made, qtbot, "city", 1)
    made.list.selectAll()
    made.role_button.menu().aboutToShow.emit()
    assert not made.role_actions["number"].isEnabled()
    made.role_actions["group"].trigger()
    assert made.table.column("city").role == "group"


def test_narrow_list_hides_columns_but_cuts_no_names(listed, qtbot):
    table = wide_table(8)
    name = "minutes_since_last"
    columns = (dataclasses.replace(table.columns[0], name=name), *table.columns[1:])
    made = listed(dataclasses.replace(table, columns=columns))
    heads = [column.head for column in made.model.columns]

    def seen(width):
        made.resize(width, 400)
        QApplication.processEvents()
        assert made.list.horizontalScrollBar().maximum() == 0
        assert QTableView.sizeHintForColumn(made.list, 0) <= made.list.columnWidth(0)
        return [head for k, head in enumerate(heads) if not made.list.isColumnHidden(k)]

    assert seen(900) == heads
    assert seen(350) == ["Column", "AUC alone", "Missing", "Role"]
    made.list.copy_rows()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert copied[0].split("\t") == heads
    assert copied[1].startswith(name)
    assert not made.list.hidden_button.isHidden()
    assert "Distinct" in made.list.hidden_button.toolTip()
    qtbot.mouseClick(made.list.hidden_button, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert not any(map(made.list.isColumnHidden, range(len(heads))))
    assert made.list.horizontalScrollBar().maximum() > 0
    qtbot.mouseClick(made.list.hidden_button, Qt.MouseButton.LeftButton)
    assert seen(900) == heads
    assert made.list.hidden_button.isHidden()


def test_card_opens_the_column_list_and_roles_can_be_undone(window, table_file, qtbot):
    window.open_now(table_file)
    window.workplace.data_panel.columns_button.click()
    page = window.deck.active()
    assert isinstance(page, DataView)
    qtbot.waitUntil(lambda: page.shows == COLUMNS and page.overview.model.rowCount() == 6)
    page.overview.list.selectAll()
    page.overview.role_actions["ignore"].trigger()
    session = window.session
    assert {column.role for column in session.table.columns} == {"ignore", "label"}
    session.undo_stack.undo()
    assert "number" in {column.role for column in session.table.columns}


def test_card_is_of_a_listed_column_during_a_search(listed, qtbot):
    made, pointed = listed(wide_table(30)), []
    made.pointed.connect(pointed.append)
    made.mark("f7")
    search(made, qtbot, "city", 1)
    assert pointed == ["city"]
    search(made, qtbot, "", 30)
    assert pointed == ["city"]


def test_keys_select_the_column_that_they_go_to(listed, qtbot):
    made = listed(wide_table(30))
    made.list.setFocus()
    made.list.setCurrentIndex(made.model.index(3, 0))
    control = Qt.KeyboardModifier.ControlModifier
    for key, how, row in (
        (Qt.Key.Key_Home, control, 0),
        (Qt.Key.Key_End, control, 29),
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier, 0),
        (Qt.Key.Key_Down, control, 1),
        (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier, 29),
    ):
        qtbot.keyClick(made.list, key, how)
        assert (made.list.currentIndex().row(), made.list.selected_rows()) == (row, [row])


def test_counts_of_a_long_table_are_not_cut(listed):
    table = wide_table(6)
    columns = tuple(Column.of_cells(f"f{k}", np.arange(2e5), 0, 200_000) for k in range(5))
    made = listed(dataclasses.replace(table, columns=(*columns, table.columns[-1])))
    made.resize(900, 400)
    for place in (2, 3):
        assert made.list.sizeHintForColumn(place) <= made.list.columnWidth(place)
