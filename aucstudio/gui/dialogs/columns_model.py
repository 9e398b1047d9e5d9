"""The columns of a table as rows of a list: searched, sorted, and given roles, many at once."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject

from aucstudio.gui.common.table import Column, TableModel
from aucstudio.project.data.columns import NUMERIC_ROLES, spell_cell
from aucstudio.project.data.table import Column as TableColumn
from aucstudio.project.data.table import Table

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


class ColumnsModel(TableModel):
    """One row a column of the table; nothing is made of a row before it is seen."""

    def __init__(self, table: Table, parent: QObject | None) -> None:
        self._columns = table.columns
        self._roles = [column.role for column in table.columns]
        super().__init__(self._declared(), parent)
        self.show_items(range(len(table.columns)))

    def _declared(self) -> list[Column]:
        """Declare the columns of the list; its items are places in the table."""
        known = self._columns.__getitem__
        texts = (
            lambda k: known(k).name,
            lambda k: ROLES[self._roles[k]],
            lambda k: "Date" if known(k).is_date else known(k).kind.capitalize(),
            self._decided,
            lambda k: f"{known(k).distinct:,}",
            lambda k: f"{known(k).missing:,}",
            lambda k: _examples(known(k)),
        )
        orders = {
            0: lambda k: known(k).name.casefold(),
            4: lambda k: known(k).distinct,
            5: lambda k: known(k).missing,
        }
        return [
            Column(
                head,
                text,
                order=orders.get(place),
                about=lambda k: known(k).why or known(k).name,
                is_figure=place in NUMBERS,
            )
            for place, (head, text) in enumerate(zip(HEADS, texts, strict=True))
        ]

    def chosen(self) -> dict[str, str]:
        """Give the roles that were changed, by column."""
        return {
            column.name: role
            for column, role in zip(self._columns, self._roles, strict=True)
            if role != column.role
        }

    def columns_at(self, rows: Iterable[int]) -> list[int]:
        """Give which columns of the table stand in rows of the list."""
        return [self.shown[row] for row in rows]

    def rows_of(self, columns: Iterable[int]) -> list[int]:
        """Give the rows of the list in which columns of the table stand, if they do."""
        wanted = set(columns)
        return [row for row, column in enumerate(self.shown) if column in wanted]

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
        self.touch()
        return refused

    def search(self, text: str) -> None:
        """Show the columns whose name, role, kind or reason holds the text."""
        needle = text.strip().casefold()
        self.filter(lambda k: not needle or any(needle in words for words in self._words(k)))

    def _words(self, k: int) -> list[str]:
        column = self._columns[k]
        words = column.name, ROLES[self._roles[k]], column.kind, column.why
        return [word.casefold() for word in words]

    def _decided(self, k: int) -> str:
        column = self._columns[k]
        if self._roles[k] != column.role:
            return "you, now"
        return "a guess" if column.guessed else "you"


def _examples(column: TableColumn) -> str:
    shown = []
    for value in column.values[:_EXAMPLES]:
        if column.is_date:
            shown.append("" if value != value else spell_cell(column, value))
        elif column.kind == "number":
            shown.append("" if value != value else f"{value:.6g}")
        else:
            shown.append("" if value is None else str(value))
    return ", ".join(text or "·" for text in shown)
