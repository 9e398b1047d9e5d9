"""The columns of a table as rows of a list: searched, sorted, and given roles, many at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from PySide6.QtCore import QObject

from aucstudio.gui.common.table import Column, TableModel
from aucstudio.project.data.columns import NUMERIC_ROLES, spell_cell
from aucstudio.project.data.table import Column as TableColumn
from aucstudio.project.data.table import Table

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
_EXAMPLES = 3


@dataclasses.dataclass
class Listed:
    """A column of the table, and the role it has in the list."""

    column: TableColumn
    role: str

    @property
    def decided(self) -> str:
        """Who chose the role."""
        if self.role != self.column.role:
            return "you, now"
        return "a guess" if self.column.guessed else "you"


def _why(one: Listed) -> str:
    return one.column.why or one.column.name


def _kind(one: Listed) -> str:
    return "Date" if one.column.is_date else one.column.kind.capitalize()


COLUMNS = (
    Column(
        "Column",
        lambda one: one.column.name,
        order=lambda one: one.column.name.casefold(),
        about=_why,
    ),
    Column("Role", lambda one: ROLES[one.role], about=_why),
    Column("Kind", _kind, about=_why),
    Column("Decided by", lambda one: one.decided, about=_why),
    Column(
        "Distinct",
        lambda one: f"{one.column.distinct:,}",
        order=lambda one: one.column.distinct,
        about=_why,
        is_figure=True,
    ),
    Column(
        "Missing",
        lambda one: f"{one.column.missing:,}",
        order=lambda one: one.column.missing,
        about=_why,
        is_figure=True,
    ),
    Column("First values", lambda one: _examples(one.column), about=_why),
)
HEADS = tuple(column.head for column in COLUMNS)


class ColumnsModel(TableModel):
    """One row a column of the table; nothing is made of a row before it is seen."""

    def __init__(self, table: Table, parent: QObject | None) -> None:
        super().__init__(COLUMNS, parent)
        self.show_items([Listed(column, column.role) for column in table.columns])

    def chosen(self) -> dict[str, str]:
        """Return the roles that were changed, by column."""
        return {one.column.name: one.role for one in self.items if one.role != one.column.role}

    def columns_at(self, rows: Iterable[int]) -> list[int]:
        """Return which columns of the table stand in rows of the list."""
        return [self.shown[row] for row in rows]

    def rows_of(self, columns: Iterable[int]) -> list[int]:
        """Return the rows of the list in which columns of the table stand, if they do."""
        wanted = set(columns)
        return [row for row, column in enumerate(self.shown) if column in wanted]

    def can_be(self, column: int, role: str) -> bool:
        """Return whether a column of the table can be given a role here."""
        one = self.items[column]
        if one.role == "label":
            return False
        return role not in NUMERIC_ROLES or one.column.kind == "number"

    def give(self, columns: Iterable[int], role: str) -> int:
        """Return columns of the table a role; return how many cannot have it."""
        refused = 0
        for column in columns:
            if self.can_be(column, role):
                self.items[column].role = role
            else:
                refused += 1
        self.touch()
        return refused

    def search(self, text: str) -> None:
        """Show the columns whose name, role, kind or reason holds the text."""
        needle = text.strip().casefold()

        def found(one: Listed) -> bool:
            column = one.column
            words = column.name, ROLES[one.role], column.kind, column.why
            return any(needle in word.casefold() for word in words)

        self.filter(found if needle else None)


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
