"""Rows of a table: cells formatted when painted, heads with the facts of their columns."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from aucstudio.engine.arrays import Index
from aucstudio.gui.common.plain_text import elided, tip_text
from aucstudio.gui.common.table import LEFT, RIGHT
from aucstudio.gui.common.table import Index as Cell
from aucstudio.gui.common.theme import current_theme
from aucstudio.notices import text
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import Column, spell_cell, spell_number
from aucstudio.project.data.readers.formats import BY_KEY
from aucstudio.project.data.table import Table
from aucstudio.project.explain.contributions import identifiers
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


@dataclasses.dataclass(frozen=True, eq=False)
class RunColumn:
    """A column added by a run: its scores, or the number of misranked pairs of each row.

    Attributes
    ----------
    column : Column
    part : ndarray of int8 or None
        For scores, which part of the split each row was in.
    about : str
        What it is, in words.
    """

    column: Column
    part: NDArray[np.int8] | None
    about: str

    @functools.cached_property
    def decimals(self) -> int | None:
        """The decimals with which the largest score has five digits, if it can be a decimal."""
        values = self.column.values
        most = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        fits = self.part is not None and 1e-3 <= most < 1e5
        return 4 - math.floor(math.log10(most)) if fits else None

    @property
    def facts(self) -> str:
        """The line below its name."""
        return "chosen run" if self.part is None else "score, grey: training"


_NO_ROWS: Index = np.empty(0, dtype=np.intp)
_NO_EXTRAS: Mapping[int, RunColumn] = {}


def is_missing(value: object) -> bool:
    return value is None or value != value


class RowsModel(QAbstractTableModel):
    """Rows of a table; cells are formatted when they are painted.

    Attributes
    ----------
    table : Table or None
    columns : tuple of Column
        In display order.
    rows : ndarray of int
        The row of the table in each line.
    """

    def __init__(self, parent: QObject | None) -> None:
        super().__init__(parent)
        self.table: Table | None = None
        self.columns: tuple[Column, ...] = ()
        self.rows: Index = np.empty(0, dtype=np.intp)
        self._classes: Classes | None = None
        self._extras: Mapping[int, RunColumn] = {}
        self.restyle()

    def restyle(self) -> None:
        """Apply the current theme."""
        theme = current_theme()
        inks = (theme.positive, theme.negative, theme.muted, theme.text)
        self._positive, self._negative, self._muted, self._text = map(QColor, inks)

    def show(
        self,
        table: Table | None,
        columns: Sequence[Column] = (),
        rows: Index = _NO_ROWS,
        classes: Classes | None = None,
        extras: Mapping[int, RunColumn] = _NO_EXTRAS,
    ) -> None:
        """Show rows of a table, or none.

        Parameters
        ----------
        table : Table or None
        columns : sequence of Column
        rows : ndarray of int
        classes : Classes or None
            Colours the cells of the label.
        extras : mapping of int to RunColumn
            Columns that are not of the table, by their place.
        """
        self.beginResetModel()
        self.table, self.columns, self.rows = table, tuple(columns), rows
        self._classes, self._extras = classes, extras
        self.endResetModel()

    def column_of(self, name: str) -> int | None:
        """Return the place of a column."""
        return next((k for k, column in enumerate(self.columns) if column.name == name), None)

    def line_of(self, row: int) -> int | None:
        """Return the list row of a table row, if any."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    # ------------------------------------------------------------- Qt

    def rowCount(self, parent: Cell = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Cell = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return self._row_head(section, int(role))
        column, extra = self.columns[section], self._extras.get(section)
        if role == _SHOWN:
            name = elided(column.name.replace("\n", " "), _LETTERS, len)
            return f"{name}\n{_facts(column) if extra is None else extra.facts}"
        if role == _TIP:
            parts = filter(None, (column.name, _facts(column), column.reason))
            return tip_text("\n".join(parts) if extra is None else extra.about)
        if role == _INK:
            return self._muted if column.role == "ignore" else self._text
        return self._side(section) if role == _SIDE else None

    def _side(self, place: int) -> Qt.AlignmentFlag:
        return RIGHT if self.columns[place].kind == "number" else LEFT

    def _row_head(self, line: int, role: int) -> Any:
        if role == _SHOWN and self.table is not None:
            row = int(self.rows[line])
            names = [elided(name, _LETTERS, len) for name in identifiers(self.table, row)]
            return " · ".join([*names, f"{row + 1:,}"])
        if role == _TIP and self.table is not None:
            row, numbers = int(self.rows[line]), self.table.row_numbers
            number = row + 1 if numbers is None else int(numbers[row])
            return text("data_row_tip", row=row + 1, number=number)
        return RIGHT if role == _SIDE else None

    def data(self, index: Cell, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == _SHOWN:
            return self._cell(index)
        if role == _SIDE:
            return self._side(index.column())
        if role == _INK:
            return self._ink(index)
        return self._tip(index) if role == _TIP else None

    def _cell(self, index: Cell) -> str:
        place = index.column()
        column, extra = self.columns[place], self._extras.get(place)
        value = column.at(self.rows[index.row()])
        if is_missing(value):
            return GAP
        if isinstance(value, str):
            return value[:_LONGEST].replace("\n", " ")
        if column.is_date:
            return spell_cell(column, value)
        if extra is None:
            words = spell_number(value)
        else:
            words = f"{value:.6g}" if extra.decimals is None else f"{value:.{extra.decimals}f}"
        return words.replace("-", "−")

    def _ink(self, index: Cell) -> QColor | None:
        """Return the colour of a cell: of a label that of its class, None before it is known."""
        column, row = self.columns[index.column()], self.rows[index.row()]
        extra = self._extras.get(index.column())
        is_trained_on = extra is not None and extra.part is not None and extra.part[row] != HELD_OUT
        if is_trained_on or column.role == "ignore" or is_missing(column.at(row)):
            return self._muted
        classes = self._classes
        if column.role != "label" or classes is None:
            return None
        if classes.positive[row]:
            return self._positive
        return self._negative if classes.negative[row] else None

    def _tip(self, index: Cell) -> str | None:
        extra, row = self._extras.get(index.column()), self.rows[index.row()]
        if extra is not None and extra.part is not None:
            part = {HELD_OUT: "held", NEITHER: "none"}.get(int(extra.part[row]), "trained")
            return tip_text(text("data_score_tip", about=extra.about, part=part))
        value = self.columns[index.column()].at(row)
        return tip_text(value) if isinstance(value, str) else None


def _facts(column: Column) -> str:
    role = "ignored" if column.role == "ignore" else column.role
    held = "date" if column.is_date else column.kind
    # What a category or a label is written as goes without texts.
    says_kind = held != role and not (held == "text" and role in ("category", "label"))
    kind = held if says_kind else None
    return text("data_head_facts", role=role, kind=kind, missing=column.missing or None)


def file_facts(table: AnyTable) -> str:
    """State how the file of a table was read."""
    rows = f"{table.rows:,} rows, {len(table.columns):,} columns"
    if table.format != "csv":
        what = BY_KEY[table.format].title
        return f"{rows}; {table.dialect.sheet!r} of {what}" if table.sheets else f"{rows}; {what}"
    dialect = table.dialect
    delimiter = "tab" if dialect.delimiter == "\t" else f"“{dialect.delimiter}”"
    shown = {"encoding": dialect.encoding, "decimal": dialect.decimal, "header": dialect.header}
    return text("csv_facts", rows=rows, delimiter=delimiter, **shown)
