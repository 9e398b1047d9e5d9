"""The shared table widget: sorted, filtered and copied by keys and clicks."""

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from aucstudio.gui.app import make_application
from aucstudio.gui.common.table import ColumnSpec, Row, SheetModel, TableModel, TableView
from tests.gui.conftest import expose

AREAS = {"AUC-RLS": 0.81, "SVM": None, "logistic": 0.9}
COLUMNS = (
    ColumnSpec("Run", str, order=str.casefold),
    ColumnSpec("AUC", lambda run: str(AREAS[run] or "–"), "Held out", AREAS.get, is_figure=True),
)


@pytest.fixture
def table(qtbot):
    make_application("light")
    model = TableModel(COLUMNS, None)
    model.show_items(list(AREAS))
    made = TableView("sample_table", "Runs", model, 26, 0)
    made.setSortingEnabled(True)
    made.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    return expose(qtbot, made)


def runs(table):
    model = table.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def click_head(table, column):
    header = table.horizontalHeader()
    place = header.sectionViewportPosition(column) + header.sectionSize(column) // 2
    at = header.viewport().rect().center()
    at.setX(place)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_click_on_a_header_sorts_with_missing_values_last(table):
    assert runs(table) == list(AREAS)
    click_head(table, 1)  # numbers are sorted descending first
    assert runs(table) == ["logistic", "AUC-RLS", "SVM"]
    click_head(table, 1)
    assert runs(table) == ["AUC-RLS", "logistic", "SVM"]


def test_sorting_keeps_the_selected_row(table):
    table.selectRow(2)
    click_head(table, 1)
    (chosen,) = table.selectionModel().selectedRows()
    assert chosen.data() == "logistic"


def test_columns_are_measured_again_only_when_their_texts_change(table):
    model, header, read = table.model(), table.horizontalHeader(), []
    area = dataclasses.replace(COLUMNS[1], text=lambda run: read.append(run) or str(AREAS[run]))
    model.columns = (COLUMNS[0], area)
    model.touch()
    header.resizeSections()
    assert read
    before, read[:] = header.sectionSize(1), []
    header.resizeSections()
    assert (header.sectionSize(1), read) == (before, [])
    model.columns = (COLUMNS[0], dataclasses.replace(area, text="a longer text: {}".format))
    model.touch()
    header.resizeSections()
    assert header.sectionSize(1) > before


def test_filter_applies_to_rows_shown_later(table):
    table.model().filter(lambda run: AREAS[run] is not None)
    assert runs(table) == ["AUC-RLS", "logistic"]
    table.model().show_items(["SVM", "logistic"])
    assert runs(table) == ["logistic"]


@pytest.mark.parametrize(
    ("selected", "text"),
    [((), "Run\tAUC\nAUC-RLS\t0.81\nSVM\t–\nlogistic\t0.9"), ((2,), "Run\tAUC\nlogistic\t0.9")],
)
def test_rows_are_copied_with_their_headers(table, selected, text):
    for row in selected:
        table.selectRow(row)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == text


def test_numbers_and_their_headers_are_right_aligned(table):
    role, model = Qt.ItemDataRole.TextAlignmentRole, table.model()
    for column, side in enumerate((Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)):
        assert model.headerData(column, Qt.Orientation.Horizontal, role) & side
        assert model.index(0, column).data(role) & side


def test_sheet_can_change_headers_and_have_a_bold_row(qtbot):
    model = SheetModel(("A", "B"), {1: "The second"}, (0,), None)
    model.show_rows([Row(("x", "1"), strong=True), Row(("y", "–"))], ("A", "C"))
    table = TableView("sheet", "Sheet", model, 26, 0)
    qtbot.addWidget(table)
    horizontal = Qt.Orientation.Horizontal
    assert [model.headerData(k, horizontal) for k in range(2)] == ["A", "C"]
    assert model.headerData(1, horizontal, Qt.ItemDataRole.ToolTipRole) == "The second"
    assert model.index(0, 0).data(Qt.ItemDataRole.FontRole).bold()
    assert model.index(1, 1).data(Qt.ItemDataRole.ForegroundRole) is not None
