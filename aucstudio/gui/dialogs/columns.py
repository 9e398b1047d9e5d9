"""The columns of a table and their roles."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from aucstudio.gui.common.layouts import STRETCH, across, down, scrolled
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.table import ColumnSpec, TableModel, TableView
from aucstudio.gui.common.widgets import (
    answers,
    clearable,
    label,
    named,
    tell,
)
from aucstudio.project.data.columns import NUMERIC_ROLES, spell_cell
from aucstudio.project.data.readers.registry import BY_KEY
from aucstudio.project.data.table import Column as TableColumn
from aucstudio.project.data.table import Table
from aucstudio.project.words import as_sentence

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
            return "changed here"
        return "detection" if self.column.guessed else "you"


def _why(one: Listed) -> str:
    return one.column.reason or one.column.name


def _kind(one: Listed) -> str:
    return "Date" if one.column.is_date else one.column.kind.capitalize()


COLUMNS = (
    ColumnSpec(
        "Column",
        lambda one: one.column.name,
        order=lambda one: one.column.name.casefold(),
        about=_why,
    ),
    ColumnSpec("Role", lambda one: ROLES[one.role], about=_why),
    ColumnSpec("Kind", _kind, about=_why),
    ColumnSpec("Decided by", lambda one: one.decided, about=_why),
    ColumnSpec(
        "Distinct",
        lambda one: f"{one.column.distinct:,}",
        order=lambda one: one.column.distinct,
        about=_why,
        is_figure=True,
    ),
    ColumnSpec(
        "Missing",
        lambda one: f"{one.column.missing:,}",
        order=lambda one: one.column.missing,
        about=_why,
        is_figure=True,
    ),
    ColumnSpec("First values", lambda one: _examples(one.column), about=_why),
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
        """Return the table columns of the listed rows."""
        return [self.shown[row] for row in rows]

    def rows_of(self, columns: Iterable[int]) -> list[int]:
        """Return the list rows of table columns, if any."""
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
            words = column.name, ROLES[one.role], column.kind, column.reason
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


_SIZE, _MARGIN = QSize(880, 600), 40
_ROW_HEIGHT = 28
_WIDEST = (
    "a name of 24 characters..",
    "Category",
    "Number",
    "changed here",
    "100,000",
    "100,000",
    "",
)
_AIR, _ARROW = 24, 12  # pixels
_MOST_LINES = 5  # of notes in sight
_GIVEN = {
    "number": ("&Number", "Used in training as a number"),
    "category": ("Cate&gory", "Used in training as a category"),
    "id": ("I&dentifier", "Row identifier: kept with scores, not used in training"),
    "group": ("G&roup", "Rows with the same value are never in both training and test sets"),
    "weight": ("&Weight", "Sampling weight of each row, in training and in every figure"),
    "frequency": ("&Frequency", "Number of identical rows that each row represents"),
    "ignore": ("&Ignore", "Not used in training"),
}


class ColumnsDialog(Dialog):
    """Lists the columns; ``roles`` gives what was chosen.

    Signals
    -------
    chosen(dict)
        The roles that were changed, by column, when the list is accepted.
    """

    chosen = Signal(dict)

    def __init__(self, table: Table, parent: QWidget | None = None) -> None:
        super().__init__("columns_dialog", f"Columns of {table.path.name}", parent)
        self._columns = ColumnsModel(table, self)
        self.search = clearable(named(QLineEdit(), "columns_search", "Search columns"))
        self.search.setPlaceholderText("Search by name, role, kind or reason")
        self.grid = self._make_grid()
        self.buttons = {role: self._make_button(role) for role in _GIVEN}
        self.told = label("", "muted", wrap=True, name="columns_told")
        self._lay_out(table)
        self.search.textChanged.connect(self._on_search)
        self.grid.horizontalHeader().sortIndicatorChanged.connect(self._on_sort)
        self.grid.selectionModel().selectionChanged.connect(self._on_selected)
        self._columns.modelReset.connect(self._on_selected)
        self._on_selected()
        self.resize(_SIZE if parent is None else _within(parent.window().size()))

    def _make_grid(self) -> TableView:
        grid = TableView("columns_table", "Columns", self._columns, _ROW_HEIGHT)
        grid.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        header = grid.horizontalHeader()
        # Widths that fit their contents would be asked of every row before the list is shown.
        grid.ensurePolished()
        room = grid.fontMetrics().horizontalAdvance
        for place, (head, widest) in enumerate(zip(HEADS, _WIDEST, strict=True)):
            header.resizeSection(place, max(room(head) + _ARROW, room(widest)) + _AIR)
        header.setStretchLastSection(True)
        # A selection of its own, and an empty one: the header asks at each painting of every cell
        # whether its column is selected whole.
        header.setSelectionModel(QItemSelectionModel(self._columns, header))
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        header.setSectionsClickable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        return grid

    def _make_button(self, role: str) -> QPushButton:
        words, tip = _GIVEN[role]
        made = named(QPushButton(words), f"role_{role}_button", f"Make the selection {role}")
        plain_tooltip(made, tip)
        made.setAutoDefault(False)
        made.clicked.connect(partial(self._on_role, role))
        return made

    def _lay_out(self, table: Table) -> None:
        words = label("Use the selected columns as")
        giving = across(words, *self.buttons.values(), STRETCH)
        ends = answers(self, "columns", self.accept)
        facts = label(_facts(table), "muted", wrap=True)
        notes = [_notes(table.notes)] if table.notes else []
        above = (facts, self.search, (self.grid, 1))
        self.setLayout(down(*above, giving, self.told, *notes, ends, around=16))

    def roles(self) -> dict[str, str]:
        """Return the roles that were changed, by column."""
        return self._columns.chosen()

    def accept(self) -> None:
        self.chosen.emit(self.roles())
        super().accept()

    def _selected(self) -> list[int]:
        """Return the columns of the table whose rows are selected."""
        selection = self.grid.selectionModel().selection()
        parts = [selection.at(k) for k in range(selection.count())]
        rows = {row for part in parts for row in range(part.top(), part.bottom() + 1)}
        return self._columns.columns_at(sorted(rows))

    def _on_role(self, role: str) -> None:
        refused = self._columns.give(self._selected(), role)
        self._on_selected()
        if refused:
            one = f"{refused:,} column{'s' if refused > 1 else ''}"
            why = "hold text, or the label," if refused > 1 else "holds text, or the label,"
            if role not in NUMERIC_ROLES:
                why = "are the label" if refused > 1 else "is the label"
            tell(self.told, f"{one} {why} and cannot be {_NAMES[role]}", "error")

    def _on_search(self, text: str) -> None:
        self._keep_selection(partial(self._columns.search, text))

    def _on_sort(self, column: int, order: Qt.SortOrder) -> None:
        self._keep_selection(partial(self._columns.sort, column, order))

    def _keep_selection(self, arrange: partial[None]) -> None:
        """Rearrange the list; keep the selection where possible."""
        before = self._selected()
        arrange()
        chosen = QItemSelection()
        for first, last in _stretches(self._columns.rows_of(before)):
            chosen.select(self._columns.index(first, 0), self._columns.index(last, len(HEADS) - 1))
        how = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.grid.selectionModel().select(chosen, how)

    def _on_selected(self) -> None:
        selected = self._selected()
        for role, button in self.buttons.items():
            button.setEnabled(any(self._columns.can_be(column, role) for column in selected))
        shown, changed = self._columns.rowCount(), len(self.roles())
        parts = [
            f"{shown:,} column{'' if shown == 1 else 's'} shown",
            f"{len(selected):,} selected",
        ]
        parts += [f"{changed:,} to be changed"] if changed else []
        tell(self.told, " · ".join(parts))


_NAMES = {
    "number": "a number",
    "category": "a category",
    "id": "an identifier",
    "group": "a group",
    "weight": "the weight of rows",
    "frequency": "the frequency of rows",
    "ignore": "ignored: choose another label in the Data card first",
}


def _stretches(rows: list[int]) -> list[tuple[int, int]]:
    """Join rows that follow each other, so that selecting a thousand is one step."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and row == found[-1][1] + 1:
            found[-1] = (found[-1][0], row)
        else:
            found.append((row, row))
    return found


def _notes(notes: Sequence[str]) -> QScrollArea:
    """List every note on the import; beyond a few lines they scroll."""
    words = label("\n".join(map(as_sentence, notes)), "muted", wrap=True, name="columns_notes")
    area = scrolled(words, "columns_notes_area", "Notes on the import")
    area.setMaximumHeight(words.fontMetrics().lineSpacing() * _MOST_LINES)
    return area


def _facts(table: Table) -> str:
    rows = f"{table.rows:,} rows, {len(table.columns):,} columns"
    if table.format != "csv":
        what = BY_KEY[table.format].title
        return f"{rows}; {table.dialect.sheet!r} of {what}" if table.sheets else f"{rows}; {what}"
    rows += "; CSV"
    dialect = table.dialect
    return (
        f"{rows}, {dialect.encoding}, delimiter {_spelled(dialect.delimiter)}, decimal "
        f"“{dialect.decimal}”, {'with' if dialect.header else 'without'} a header row"
    )


def _spelled(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else f"“{delimiter}”"


def _within(size: QSize) -> QSize:
    return _SIZE.boundedTo(size - QSize(_MARGIN, _MARGIN))
