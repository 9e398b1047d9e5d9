"""The first rows of a file below their column heads."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from aucstudio.gui.common.table import ColumnSpec, TableModel
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import named
from aucstudio.gui.dialogs.importing.column_heads import ColumnCards, kind_words
from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.data.table import Table

ROWS = 200
_LINE = 24
_LONGEST = 200


Index = QModelIndex | QPersistentModelIndex


class _Rows(TableModel):
    """Cells as they will be read; missing values are empty. An item is the number of a row."""

    def __init__(self, parent: QObject) -> None:
        super().__init__((), parent)
        self.table: Table | None = None

    def show_table(self, table: Table | None) -> None:
        """Show the first rows of a table."""
        self.beginResetModel()
        self.table = table
        self.columns = () if table is None else tuple(map(_column, table.columns))
        self.items = self.shown = list(range(0 if table is None else min(ROWS, table.rows)))
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole or self.table is None:
            return None
        if role == Qt.ItemDataRole.ForegroundRole:
            column = self.table.columns[index.column()]
            is_muted = column.role == "ignore" or not _cell(column, index.row())
            return QColor(current_theme().muted) if is_muted else None
        return super().data(index, role)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            return super().headerData(section, orientation, role)
        if self.table is None or role != Qt.ItemDataRole.DisplayRole:
            return None
        return str(self.table.file_rows[section])


def _column(column: Column) -> ColumnSpec:
    tip = column.reason or f"{column.name}: {kind_words(column)}"
    return ColumnSpec(column.name, partial(_cell, column), tip, is_figure=column.kind == "number")


def _cell(column: Column, row: int) -> str:
    cell = column.values[row]
    if column.kind == "number":
        return "" if math.isnan(cell) else spell_cell(column, cell)
    return "" if cell is None else str(cell)[:_LONGEST]


class ImportSheet(QTableView):
    """The first rows under the cards of their columns.

    Signals
    -------
    role_chosen(str, object)
        A column and its role; None to detect it.
    parts_chosen(str, tuple)
        A column of dates, and the parts used in training.
    """

    role_chosen = Signal(str, object)
    parts_chosen = Signal(str, tuple)

    def __init__(self) -> None:
        super().__init__()
        named(self, "import_table", "First rows as they will be read")
        self.rows = _Rows(self)
        self.setModel(self.rows)
        self.cards = ColumnCards(self)
        self.setHorizontalHeader(self.cards)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerWidget(QWidget())  # the style's own has a frame
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().setDefaultSectionSize(scaled(_LINE))
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setHighlightSections(False)
        self.horizontalScrollBar().valueChanged.connect(lambda _value: self.cards.place())
        self.cards.role_chosen.connect(self.role_chosen)
        self.cards.parts_chosen.connect(self.parts_chosen)

    def show_table(self, table: Table | None) -> None:
        """Show other rows."""
        across = self.horizontalScrollBar().value()
        self.rows.show_table(table)
        self.cards.show_table(table)
        self.horizontalScrollBar().setValue(across)
        self.cards.place()
