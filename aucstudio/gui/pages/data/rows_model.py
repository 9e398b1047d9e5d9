"""Table model of rows; cells are formatted when painted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from aucstudio.gui.common.plain_text import elided, tip_text
from aucstudio.gui.common.table import Index
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.data.row_query import FoundRows, RunColumn
from aucstudio.project.data.columns import Column, spell_cell, spell_number
from aucstudio.project.data.table import Table
from aucstudio.project.survey.columns import Classes
from aucstudio.project.survey.rows import HELD_OUT, NEITHER

GAP = "–"
_LONGEST = 200  # characters of a cell
_LETTERS = 28  # characters of a name
# Integers: Qt requests every role of every cell, and comparing enums is slower.
_SHOWN, _TIP, _SIDE, _INK = (
    int(role)
    for role in (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.TextAlignmentRole,
        Qt.ItemDataRole.ForegroundRole,
    )
)
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ACROSS = Qt.Orientation.Horizontal


class RowsModel(QAbstractTableModel):
    """Rows of a table in an order, with the label first and the scores of runs after it.

    Attributes
    ----------
    columns : tuple of Column
        In display order: the label, columns of runs, all others.
    rows : ndarray of int
        The row of the table in each line.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self.rows: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._table: Table | None = None
        self._classes: Classes | None = None
        self._extras: tuple[RunColumn, ...] = ()
        self._first = 0  # place of the first extra column
        self.restyle()

    def restyle(self) -> None:
        """Apply the current theme."""
        theme = current_theme()
        inks = (theme.positive, theme.negative, theme.muted, theme.text)
        self._positive, self._negative, self._muted, self._text = map(QColor, inks)

    def show_found(self, found: FoundRows | None) -> None:
        """Show other rows, or none."""
        self.beginResetModel()
        self._table = None if found is None else found.asked.table
        self._classes = None if found is None else found.classes
        self._extras = () if found is None else found.extras
        self.rows = np.empty(0, dtype=np.intp) if found is None else found.rows
        listed = () if self._table is None else self._table.columns
        label = tuple(column for column in listed if column.role == "label")
        others = tuple(column for column in listed if column.role != "label")
        self._first = len(label)
        self.columns = (*label, *(extra.column for extra in self._extras), *others)
        self.endResetModel()

    def column_of(self, name: str) -> int | None:
        """Return the place of a column."""
        return next((k for k, column in enumerate(self.columns) if column.name == name), None)

    def line_of(self, row: int) -> int | None:
        """Return the list row of a table row, if any."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    def extra(self, place: int) -> RunColumn | None:
        """Return the run column at a place, if it is one."""
        place -= self._first
        return self._extras[place] if 0 <= place < len(self._extras) else None

    # ------------------------------------------------------------- Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != _ACROSS:
            return self._row_head(section, int(role))
        column, extra = self.columns[section], self.extra(section)
        if role == _SHOWN:
            return f"{_short(column.name)}\n{_facts(column) if extra is None else extra.facts}"
        if role == _TIP:
            return tip_text(extra.about if extra is not None else _about(column))
        if role == _INK:
            return self._muted if column.role == "ignore" else self._text
        if role == _SIDE:
            return _RIGHT if column.kind == "number" else _LEFT
        return None

    def _row_head(self, line: int, role: int) -> Any:
        if role == _SHOWN:
            return f"{self.rows[line] + 1:,}"
        if role == _TIP and self._table is not None:
            row = int(self.rows[line])
            numbers = self._table.row_numbers
            number = row + 1 if numbers is None else int(numbers[row])
            return f"Row {row + 1:,} of the table, data row {number:,} of the file"
        return _RIGHT if role == _SIDE else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == _SHOWN:
            return self._cell(index)
        if role == _SIDE:
            return _RIGHT if self.columns[index.column()].kind == "number" else _LEFT
        if role == _INK:
            return self._ink(index)
        return self._tip(index) if role == _TIP else None

    def _cell(self, index: Index) -> str:
        place = index.column()
        value = self.columns[place].at(self.rows[index.row()])
        if value is None or value != value:
            return GAP
        if isinstance(value, str):
            return value[:_LONGEST].replace("\n", " ")
        if self.columns[place].is_date:
            return spell_cell(self.columns[place], value)
        extra = self.extra(place)
        if extra is None:
            text = spell_number(value)
        else:
            text = f"{value:.6g}" if extra.decimals is None else f"{value:.{extra.decimals}f}"
        return text.replace("-", "−")

    def _ink(self, index: Index) -> QColor | None:
        place = index.column()
        column, row = self.columns[place], self.rows[index.row()]
        value = column.at(row)
        if value is None or value != value:
            return self._muted
        if column.role == "label" and self._table is not None:
            return self._class_ink(int(row))
        extra = self.extra(place)
        if extra is not None and extra.part is not None and extra.part[row] != HELD_OUT:
            return self._muted
        return self._muted if column.role == "ignore" else None

    def _class_ink(self, row: int) -> QColor | None:
        """Return the colour of the class of a row.

        None before it is known.
        """
        if self._classes is None:
            return None
        if self._classes.positive[row]:
            return self._positive
        return self._negative if self._classes.negative[row] else None

    def _tip(self, index: Index) -> str | None:
        extra, row = self.extra(index.column()), self.rows[index.row()]
        if extra is not None and extra.part is not None:
            part = int(extra.part[row])
            words = "held out" if part == HELD_OUT else "trained on"
            what = "has no score of this row" if part == NEITHER else f"this row was {words}"
            return tip_text(f"{extra.about}: {what}")
        value = self.columns[index.column()].at(row)
        return tip_text(value) if isinstance(value, str) else None


_ROLES = {"ignore": "ignored"}
_OF_TEXT = ("category", "label")


def _facts(column: Column) -> str:
    missing = f" · {column.missing:,} missing" if column.missing else ""
    role = _ROLES.get(column.role, column.role)
    held = "date" if column.is_date else column.kind
    # What a category or a label is written as goes without texts.
    kind = "" if held == role or (held == "text" and role in _OF_TEXT) else f" · {held}"
    return f"{role}{kind}{missing}"


def _about(column: Column) -> str:
    parts = [column.name, _facts(column), column.reason]
    return "\n".join(part for part in parts if part)


def _short(name: str) -> str:
    return elided(name.replace("\n", " "), _LETTERS, len)
