"""The columns of a table and their roles; the classes of its label."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QRadioButton,
    QScrollArea,
    QWidget,
)

from aucstudio.gui.common.controls import WrappingRow
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.table import ColumnSpec, TableModel, TableView
from aucstudio.gui.common.widgets import (
    across,
    answers,
    check_box,
    down,
    label,
    make_combo,
    named,
    push_button,
    scrolled,
    search_field,
    show_note,
)
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import as_sentence, counted
from aucstudio.project.data.columns import NUMERIC_ROLES, Column, spell_cell, spell_number
from aucstudio.project.data.labels import LabelRule, usual_spellings
from aucstudio.project.data.readers.formats import BY_KEY
from aucstudio.project.data.table import Column as TableColumn
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError

_SIGNS = (">=", ">", "<=", "<")
_WIDTH = 420
# A column with more distinct numbers has no classes.
_MOST_NUMBERS = 50
_CHECKED, _UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


class ClassesDialog(Dialog):
    """Lists the values of a label with their rows, and counts the classes of a choice.

    Parameters
    ----------
    table : Table
    column : Column
        The label, or the future label.

    Signals
    -------
    chosen(dict)
        Arguments of :meth:`~aucstudio.project.data.any_table.AnyTable.with_roles`.
    """

    chosen = Signal(dict)

    def __init__(self, table: Table, column: Column, parent: QWidget | None = None) -> None:
        super().__init__("classes_dialog", "Positive class", parent)
        self._table, self._column = table, column
        self._values = table.values(column)
        self._rule = table.rule if column.name == table.label else LabelRule()
        self.by_class = named(QRadioButton(), "by_class")
        self.by_number = named(QRadioButton(), "by_number")
        self.merge = check_box("merge_spellings")
        self.classes = named(QListWidget(), "classes_list")
        self.sign = make_combo("threshold_sign")
        self.at = named(QLineEdit(), "threshold_value")
        self.counts = label("", "muted", wrap=True, name="classes_told")
        self.ends = answers(self, "classes", self.accept)
        self._lay_out()
        self._begin()
        for changed in (self.classes.itemChanged, self.sign.currentTextChanged, self.at.textEdited):
            changed.connect(self._count)
        self.by_class.toggled.connect(self._count)
        self.merge.toggled.connect(self._on_merge)
        self._count()

    def _lay_out(self) -> None:
        words = f"Which rows of {self._column.name} are positive? All others are negative."
        question = label(words, wrap=True, name="classes_question")
        self._ways = QButtonGroup(self)
        for way in (self.by_class, self.by_number):
            self._ways.addButton(way)
        beyond = across(self.by_number, self.sign, self.at)
        listed = (self.by_class, (self.classes, 1), self.merge)
        self.lay_out(down(question, *listed, beyond, self.counts), self.ends)
        self.classes.setSpacing(2)
        self.setMinimumWidth(_WIDTH)

    def _begin(self) -> None:
        """Show the present choice."""
        numeric = self._column.kind == "number"
        few = self._values is not None and (not numeric or len(self._values) <= _MOST_NUMBERS)
        threshold = self._rule.threshold
        self.sign.addItems(_SIGNS)
        if threshold is not None:
            self.sign.setCurrentText(threshold.sign)
        self.at.setText(spell_number(threshold.at) if threshold else "")
        for widget in (self.by_number, self.sign, self.at):
            widget.setVisible(numeric)
        self.classes.setVisible(few)
        self.by_class.setVisible(few and numeric)
        self.merge.setVisible(bool(self._same(True).same))
        self.merge.setChecked(bool(self._rule.same))
        (self.by_number if threshold is not None or not few else self.by_class).setChecked(True)
        self._fill(self._chosen_values())

    def _chosen_values(self) -> set[str]:
        """Return the values that are positive at present."""
        if self._column.name != self._table.label or self._table.positive is None:
            return set()
        return set() if self._rule.threshold else set(self._rule.values_of(self._table.positive))

    def _same(self, merged: bool) -> LabelRule:
        """Return the merged spellings of values, if requested."""
        found = self._rule.same or tuple(map(tuple, usual_spellings(self._values or {})))
        return LabelRule(found) if merged else LabelRule()

    def _fill(self, positive: set[str]) -> None:
        """List the classes; check those with a positive value."""
        rule = self._same(self.merge.isChecked())
        with QSignalBlocker(self.classes):
            self.classes.clear()
            for name, count in rule.classes(self._values or {}).items():
                item = QListWidgetItem(f"{name} · {count:,}")
                item.setData(Qt.ItemDataRole.UserRole, name)
                checked = not positive.isdisjoint(rule.values_of(name))
                item.setCheckState(_CHECKED if checked else _UNCHECKED)
                self.classes.addItem(item)

    def _checked(self) -> list[str]:
        items = [self.classes.item(row) for row in range(self.classes.count())]
        return [i.data(Qt.ItemDataRole.UserRole) for i in items if i.checkState() == _CHECKED]

    def _on_merge(self, merged: bool) -> None:
        """List the classes again; keep the checked ones."""
        before = self._same(not merged)
        self._fill({value for name in self._checked() for value in before.values_of(name)})
        self._count()

    def choice(self) -> dict[str, Any]:
        """Return the choice, for ``with_roles``."""
        name = self._column.name
        if self.by_number.isChecked():
            at = self.at.text().strip().replace(",", ".")
            return {"label": name, "positive": f"{self.sign.currentText()} {at}"}
        checked = self._checked()
        merge: dict[str, Any] = {}
        if self._rule.same or self.merge.isChecked():
            merge = {"merge": self._same(self.merge.isChecked()).same}
        return {"label": name, "positive": checked[0] if len(checked) == 1 else checked, **merge}

    def _count(self) -> None:
        """Count the classes of the choice, or show why it is invalid."""
        by_number = self.by_number.isChecked()
        for widget in (self.sign, self.at):
            widget.setEnabled(by_number)
        self.classes.setEnabled(not by_number)
        ok = self.ends.button(QDialogButtonBox.StandardButton.Ok)
        try:
            table = self._read()
        except InputError as error:
            ok.setEnabled(False)
            show_note(self.counts, str(error), "error")
            return
        ok.setEnabled(table is not None)
        show_note(self.counts, "Choose at least one class." if table is None else _counts(table))

    def _read(self) -> Table | None:
        if self.by_number.isChecked():
            if not self.at.text().strip():
                return None
            try:
                float(self.at.text().strip().replace(",", "."))
            except ValueError:
                raise InputError(f"{self.at.text()!r} is not a number") from None
        elif not self._checked():
            return None
        return self._table.with_roles(**self.choice())

    def accept(self) -> None:
        self.chosen.emit(self.choice())
        super().accept()


def _counts(table: Table) -> str:
    positives = table.classes[table.positive or ""]
    negatives = sum(table.classes.values()) - positives
    rest = table.unlabelled or None
    return text("class_counts", positives=positives, negatives=negatives, unlabelled=rest)


_EXAMPLES = 3


@dataclasses.dataclass
class Listed:
    """A column of the table, and its role in the list."""

    column: TableColumn
    role: str

    @property
    def role_words(self) -> str:
        """The role in words."""
        return control_words("column_role")["choices"][self.role]

    @property
    def decided(self) -> str:
        """Origin of the role."""
        if self.role != self.column.role:
            return "changed here"
        return "detection" if self.column.guessed else "you"

    @property
    def kind(self) -> str:
        """Kind of the values."""
        return "Date" if self.column.is_date else self.column.kind.capitalize()


def _spec(
    head: str, value: Callable[[Listed], Any], sample: str = "", *, is_figure: bool = False
) -> ColumnSpec:
    """Return a column of the list; texts are sorted regardless of case."""

    def words(one: Listed) -> str:
        found = value(one)
        return f"{found:,}" if is_figure else str(found)

    def order(one: Listed) -> Any:
        found = value(one)
        return found if is_figure else str(found).casefold()

    return ColumnSpec(head, words, "", order, _why, is_figure, sample)


def _why(one: Listed) -> str:
    return one.column.reason or one.column.name


COLUMNS = (
    _spec("Column", lambda one: one.column.name, "a name of 24 characters.."),
    _spec("Role", lambda one: one.role_words, "Category"),
    _spec("Kind", lambda one: one.kind, "Number"),
    _spec("Decided by", lambda one: one.decided, "changed here"),
    _spec("Distinct", lambda one: one.column.distinct, "100,000", is_figure=True),
    _spec("Missing", lambda one: one.column.missing, "100,000", is_figure=True),
    _spec("First values", lambda one: _examples(one.column)),
)
HEADS = tuple(column.head for column in COLUMNS)


class ColumnsModel(TableModel):
    """One row for each column of the table; cells are made when they are shown."""

    def __init__(self, table: Table, parent: QObject | None) -> None:
        super().__init__(COLUMNS, parent)
        self.show_items([Listed(column, column.role) for column in table.columns])

    def chosen(self) -> dict[str, str]:
        """Return the changed roles, by column."""
        return {one.column.name: one.role for one in self.items if one.role != one.column.role}

    def can_be(self, one: Listed, role: str) -> bool:
        """Return whether a column can have a role."""
        if one.role == "label":
            return False
        return role not in NUMERIC_ROLES or one.column.kind == "number"

    def set_role(self, listed: Iterable[Listed], role: str) -> int:
        """Set the role of columns; return how many cannot have it."""
        refused = 0
        for one in listed:
            if self.can_be(one, role):
                one.role = role
            else:
                refused += 1
        self.touch()
        return refused

    def search(self, text: str) -> None:
        """Show the columns whose name, role, kind or reason contains the text."""
        needle = text.strip().casefold()

        def found(one: Listed) -> bool:
            column = one.column
            words = column.name, one.role_words, column.kind, column.reason
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


_SIZE = QSize(880, 600)
_ROW_HEIGHT = 28
_AIR, _ARROW = 24, 12  # pixels
_MOST_LINES = 5  # of notes in sight
_ROLES = ("number", "category", "id", "group", "weight", "frequency", "ignore")


class ColumnsDialog(Dialog):
    """Lists the columns and changes their roles.

    Signals
    -------
    chosen(dict)
        The changed roles, by column, when the dialog is accepted.
    """

    chosen = Signal(dict)

    def __init__(self, table: Table, parent: QWidget | None = None) -> None:
        super().__init__("columns_dialog", f"Columns of {table.path.name}", parent)
        self._columns = ColumnsModel(table, self)
        self.search = search_field("columns_search")
        self.grid = self._make_grid()
        self.buttons = {
            role: push_button(f"role_{role}_button", verb=partial(self._on_role, role), enter=False)
            for role in _ROLES
        }
        self.status = label("", "muted", wrap=True, name="columns_told")
        self._lay_out(table)
        self.search.textChanged.connect(self._on_search)
        self.grid.horizontalHeader().sortIndicatorChanged.connect(self._columns.sort)
        self.grid.selectionModel().selectionChanged.connect(self._on_selected)
        self._on_selected()
        self.fit(_SIZE)

    def _make_grid(self) -> TableView:
        grid = TableView("columns_table", "Columns", self._columns, _ROW_HEIGHT)
        grid.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        header = grid.horizontalHeader()
        # Measuring the contents would read every row before the list is shown.
        grid.ensurePolished()
        room = grid.fontMetrics().horizontalAdvance
        for place, column in enumerate(COLUMNS):
            width = max(room(column.head) + _ARROW, room(column.sample)) + _AIR
            header.resizeSection(place, width)
        header.setStretchLastSection(True)
        # The header gets an empty selection, as it asks at each painting whether all cells of a
        # column are selected.
        header.setSelectionModel(QItemSelectionModel(self._columns, header))
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        header.setSectionsClickable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        return grid

    def _lay_out(self, table: Table) -> None:
        words = label("Use the selected columns as")
        roles = WrappingRow()
        for part in (words, *self.buttons.values()):
            roles.addWidget(part)
        roles.addStretch(1)
        ends = answers(self, "columns", self.accept)
        facts = label(_facts(table), "muted", wrap=True)
        notes = [_notes(table.notes)] if table.notes else []
        above = (facts, self.search, (self.grid, 1))
        self.lay_out(down(*above, roles, self.status, *notes), ends)

    def roles(self) -> dict[str, str]:
        """Return the changed roles, by column."""
        return self._columns.chosen()

    def accept(self) -> None:
        self.chosen.emit(self.roles())
        super().accept()

    def _selected(self) -> list[Listed]:
        selection = self.grid.selectionModel().selection().toList()
        rows = {row for part in selection for row in range(part.top(), part.bottom() + 1)}
        return [self._columns.item(row) for row in sorted(rows)]

    def _on_role(self, role: str) -> None:
        refused = self._columns.set_role(self._selected(), role)
        self._on_selected()
        if refused:
            named_as = control_words("column_role_as")["choices"][role]
            code = "no_role_of_text" if role in NUMERIC_ROLES else "no_role_of_label"
            words = text(code, count=refused, role=named_as)
            show_note(self.status, words, "error")

    def _on_search(self, text: str) -> None:
        self._columns.search(text)
        self._on_selected()

    def _on_selected(self) -> None:
        selected = self._selected()
        for role, button in self.buttons.items():
            button.setEnabled(any(self._columns.can_be(one, role) for one in selected))
        shown, changed = self._columns.rowCount(), len(self.roles())
        parts = [f"{counted(shown, 'column')} shown", f"{len(selected):,} selected"]
        parts += [f"{changed:,} to be changed"] if changed else []
        show_note(self.status, " · ".join(parts))


def _notes(notes: Sequence[str]) -> QScrollArea:
    """Return a scrolled list of the notes on the import."""
    words = label("\n".join(map(as_sentence, notes)), "muted", wrap=True, name="columns_notes")
    area = scrolled(words, "columns_notes_area", "Notes on the import")
    area.setMaximumHeight(words.fontMetrics().lineSpacing() * _MOST_LINES)
    return area


def _facts(table: Table) -> str:
    rows = f"{table.rows:,} rows, {len(table.columns):,} columns"
    if table.format != "csv":
        what = BY_KEY[table.format].title
        return f"{rows}; {table.dialect.sheet!r} of {what}" if table.sheets else f"{rows}; {what}"
    dialect = table.dialect
    delimiter = "tab" if dialect.delimiter == "\t" else f"“{dialect.delimiter}”"
    shown = {"encoding": dialect.encoding, "decimal": dialect.decimal, "header": dialect.header}
    return text("csv_facts", rows=rows, delimiter=delimiter, **shown)
