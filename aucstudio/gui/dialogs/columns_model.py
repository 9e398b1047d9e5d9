"""The columns of a table as rows of a list: searched, sorted, and given roles, many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from aucstudio.gui.common.plain import tip_text
from aucstudio.project.data.columns import NUMERIC_ROLES, spell_cell
from aucstudio.project.data.table import Column, Table

Index = QModelIndex | QPersistentModelIndex

HEADS = ("Column", "Role", "Kind", "Decided by", "Distinct", "Missing", "First values")
ROLES = {
    "number": "Number",
    "category": "Category",
    "id": "Identifier",
    "group": "Group",
    "weight": "Weight",
    "frequency": "Frequency",
    "ignore": "Ignore",
    "label": "Label",
}
ROLE = 1
NUMBERS = (4, 5)  # columns of figures
_EXAMPLES = 3
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ColumnsModel(QAbstractTableModel):
    """One row a column of the table; nothing is made of a row before it is seen."""

    def __init__(self, table: Table, parent: QObject) -> None:
        super().__init__(parent)
        self._columns = table.columns
        self._roles = [column.role for column in table.columns]
        self._shown = list(range(len(table.columns)))
        self._search, self._sorted = "", (-1, False)

    def chosen(self) -> dict[str, str]:
        """Give the roles that were changed, by column."""
        return {
            column.name: role
            for column, role in zip(self._columns, self._roles, strict=True)
            if role != column.role
        }

    def columns_at(self, rows: Iterable[int]) -> list[int]:
        """Give which columns of the table stand in rows of the list."""
        return [self._shown[row] for row in rows]

    def rows_of(self, columns: Iterable[int]) -> list[int]:
        """Give the rows of the list in which columns of the table stand, if they do."""
        wanted = set(columns)
        return [row for row, column in enumerate(self._shown) if column in wanted]

    def can_be(self, column: int, role: str) -> bool:
        """Tell whether a column of the table can be given a role here."""
        if self._roles[column] == "label":
            return False
        return role not in NUMERIC_ROLES or self._columns[column].kind == "number"

    def give(self, columns: Iterable[int], role: str) -> int:
        """Give columns of the table a role; return how many cannot have it."""
        refused = 0
        for column in columns:
            if self.can_be(column, role):
                self._roles[column] = role
            else:
                refused += 1
        if self._shown:
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(self._shown) - 1, len(HEADS) - 1)
            )
        return refused

    def search(self, text: str) -> None:
        """Show the columns whose name, role, kind or reason holds the text."""
        self._search = text.strip().casefold()
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by one of the list's columns; by -1 as they stand in the file."""
        self._sorted = (column, order == Qt.SortOrder.DescendingOrder)
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        place, backwards = self._sorted
        found = [k for k in range(len(self._columns)) if self._is_found(k)]
        if place >= 0:
            found.sort(key=_ORDERS[place](self), reverse=backwards)
        self._shown = found
        self.endResetModel()

    def _is_found(self, k: int) -> bool:
        if not self._search:
            return True
        column = self._columns[k]
        return any(
            self._search in text.casefold()
            for text in (column.name, ROLES[self._roles[k]], column.kind, column.why)
        )

    # ------------------------------------------------------------- what Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        return _side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        k = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(k, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            column = self._columns[k]
            return tip_text(column.why or column.name)
        return _side(index.column()) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _text(self, k: int, place: int) -> str:
        column = self._columns[k]
        if place == 0:
            return column.name
        if place == ROLE:
            return ROLES[self._roles[k]]
        if place == 2:
            return "Date" if column.is_date else column.kind.capitalize()
        if place == 3:
            return self._decided(k)
        if place in NUMBERS:
            return f"{column.distinct if place == NUMBERS[0] else column.missing:,}"
        return _examples(column)

    def _decided(self, k: int) -> str:
        column = self._columns[k]
        if self._roles[k] != column.role:
            return "you, now"
        return "a guess" if column.guessed else "you"


_ORDERS: dict[int, Callable[[ColumnsModel], Callable[[int], Any]]] = {
    0: lambda model: lambda k: model._columns[k].name.casefold(),
    1: lambda model: lambda k: ROLES[model._roles[k]],
    2: lambda model: lambda k: model._columns[k].kind,
    3: lambda model: model._decided,
    4: lambda model: lambda k: model._columns[k].distinct,
    5: lambda model: lambda k: model._columns[k].missing,
    6: lambda model: lambda k: _examples(model._columns[k]),
}


def _side(place: int) -> Qt.AlignmentFlag:
    return _RIGHT if place in NUMBERS else _LEFT


def _examples(column: Column) -> str:
    shown = []
    for value in column.values[:_EXAMPLES]:
        if column.is_date:
            shown.append("" if value != value else spell_cell(column, value))
        elif column.kind == "number":
            shown.append("" if value != value else f"{value:.6g}")
        else:
            shown.append("" if value is None else str(value))
    return ", ".join(text or "·" for text in shown)
