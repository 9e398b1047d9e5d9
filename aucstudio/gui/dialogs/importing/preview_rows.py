"""The first rows of a file below their column heads."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from aucstudio.gui.common.plain_text import tip_text
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import named
from aucstudio.gui.dialogs.importing.column_heads import ColumnCards, kind_words
from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.data.table import Table

ROWS = 200
_LINE = 24
_LONGEST = 200


Index = QModelIndex | QPersistentModelIndex


class _Rows(QAbstractTableModel):
    """Cells as they will be read; what is missing is empty."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.table: Table | None = None

    def show_table(self, table: Table | None) -> None:
        self.beginResetModel()
        self.table = table
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if self.table is None or parent.isValid() else min(ROWS, self.table.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if self.table is None or parent.isValid() else len(self.table.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        assert self.table is not None
        column = self.table.columns[index.column()]
        cell = column.values[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _cell(column, cell)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = column.kind == "number"
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole and (
            column.role == "ignore" or not _cell(column, cell)
        ):
            return QColor(current_theme().muted)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if self.table is None:
            return None
        if orientation == Qt.Orientation.Vertical:
            return (
                str(self.table.file_rows[section]) if role == Qt.ItemDataRole.DisplayRole else None
            )
        column = self.table.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(column.reason or f"{column.name}: {kind_words(column)}")
        return None


def _cell(column: Column, cell: Any) -> str:
    if column.kind == "number":
        return "" if math.isnan(cell) else spell_cell(column, cell)
    return "" if cell is None else str(cell)[:_LONGEST]


class ImportSheet(QTableView):
    """The first rows under the cards of their columns.

    Signals
    -------
    role_chosen(str, object)
        A column, and the role it is given; None to have it guessed again.
    parts_chosen(str, tuple)
        A column of dates, and what is to be learnt of it.
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
