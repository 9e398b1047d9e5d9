"""The sheet of rows: cells formatted when painted; sorted, filtered, copied and saved."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QMenu

from aucstudio.gui.common import prompts
from aucstudio.gui.common.buttons import make_action, make_menu, push_button
from aucstudio.gui.common.rows_model import RowsModel, is_missing
from aucstudio.gui.common.table import TableView
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.pages.data.row_query import FoundRows
from aucstudio.gui.state.background import Answer, stopping
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.store.scores_file import PLAIN, csv_form
from aucstudio.project.survey.conditions import KNOWN, MISSING, Condition, like_cell
from aucstudio.project.survey.rows import save_rows, tab_separated

_LINE = 24
_LEAST, _MOST, _AIR = 64, 260, 36  # of a column, in pixels
_FITTED, _SAMPLE = 60, 20  # columns fitted to their first cells, and number of these cells
_FLAGS = QItemSelectionModel.SelectionFlag
_MOST_COPIED = 2_000_000  # cells
_CSV = "CSV (*.csv)"
_SAVE, _STOP = "Save ro&ws…", "Stop sa&ving"
_CONDITIONS = {  # of a cell, by the kind of its value
    "missing": [("Only rows without a value", "like", "=")],
    "text": [("Only rows with this value", "like", "="), ("Without this value", "unlike", "!=")],
    "number": [
        ("Only rows with this value", "like", "="),
        ("Without this value", "unlike", "!="),
        ("Only this value or more", "more", ">="),
        ("Only this value or less", "less", "<="),
    ],
}


def show_found(model: RowsModel, found: FoundRows | None) -> None:
    """Show rows with the label first, the columns of runs after it, then all others."""
    if found is None:
        model.show(None)
        return
    listed = found.asked.table.columns
    label = [column for column in listed if column.role == "label"]
    others = [column for column in listed if column.role != "label"]
    columns = (*label, *(extra.column for extra in found.extras), *others)
    extras = dict(enumerate(found.extras, len(label)))
    model.show(found.asked.table, columns, found.rows, found.classes, extras)


class RowsSheet(TableView):
    """The rows that were found.

    Attributes
    ----------
    model_ : RowsModel
    save_button : QPushButton

    Signals
    -------
    pointed(int, str)
        A cell was selected by the user: row of the table, and column.
    sorting(object, bool)
        Rows are to be sorted by a column, or as in the file (None); and whether downwards.
    narrowing(object)
        Add a condition to the filter.
    """

    pointed = Signal(int, str)
    sorting = Signal(object, bool)
    narrowing = Signal(object)

    def __init__(self, session: Session) -> None:
        self.model_ = RowsModel(None)
        super().__init__("data_table", "Rows of the table", self.model_, _LINE)
        self._session = session
        self._found: FoundRows | None = None
        self._fitted: tuple[tuple[str, ...], int] = (), 0
        self._by_hand = True  # whether the user selects a cell
        self._sorted_by: tuple[str | None, bool] | None = None
        self._copying = Answer(self, self._on_copied, lambda words: session.failed.emit(words, ""))
        self._saving = Answer(self, self._on_saved, self._on_unsaved, self._on_saving)
        tip = text("data_save_tip")
        self.save_button = push_button("data_save_button", _SAVE, tip, self._on_save)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._set_up_heads()
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.selectionModel().currentChanged.connect(self._on_chosen)
        self.selectionModel().selectionChanged.connect(self._on_chosen)

    def _set_up_heads(self) -> None:
        across, down = self.horizontalHeader(), self.verticalHeader()
        down.setVisible(True)
        down.setMinimumWidth(scaled(56))
        across.setDefaultSectionSize(scaled(120))
        self.offer_sorting()
        across.sortIndicatorChanged.connect(self._on_sort)
        across.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        across.customContextMenuRequested.connect(self._on_head_menu)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    # ------------------------------------------------------------- showing

    def show_found(self, found: FoundRows | None) -> None:
        """Show other rows; keep the current column."""
        _row, column = self.place()
        self._found, self._by_hand = found, False
        show_found(self.model_, found)
        rows = None if found is None else found.asked.row_filter
        place = None if rows is None or rows.order is None else self.model_.column_of(rows.order)
        order = Qt.SortOrder.DescendingOrder if rows and rows.descending else Qt.SortOrder(0)
        with QSignalBlocker(self.horizontalHeader()):
            self.horizontalHeader().setSortIndicator(-1 if place is None else place, order)
        self._fit()
        self.show_focus(column)
        sorted_by = None if rows is None else (rows.order, rows.descending)
        if place is not None and sorted_by != self._sorted_by:
            self.scrollToTop()  # who sorts wants to see the ends, wherever the row is now
        self._sorted_by = sorted_by
        self._by_hand = True

    def place(self) -> tuple[int | None, str]:
        """Return the current row, or None, and column."""
        index = self.currentIndex()
        if not index.isValid() or index.row() >= len(self.model_.rows):
            return None, ""
        return int(self.model_.rows[index.row()]), self.model_.columns[index.column()].name

    def show_focus(self, column: str = "") -> None:
        """Select the row in focus; none if it is not here."""
        row = self._session.focus.row
        if row != self.place()[0] and not self.go_to([] if row is None else [row], column):
            self.selectionModel().clear()

    def go_to(self, rows: list[int], column: str = "") -> bool:
        """Select rows of the table and show the first; False if none of them is here."""
        lines = [line for row in rows if (line := self.model_.line_of(row)) is not None]
        if not lines or not self.model_.columns:
            return False
        place = self.model_.column_of(column) if column else self.columnAt(0)
        index = self.model_.index(lines[0], max(0, place or 0))
        chosen, last = QItemSelection(), len(self.model_.columns) - 1
        for line in lines:
            chosen.select(self.model_.index(line, 0), self.model_.index(line, last))
        before, self._by_hand = self._by_hand, False
        self.selectionModel().setCurrentIndex(index, _FLAGS.NoUpdate)
        self.selectionModel().select(chosen, _FLAGS.ClearAndSelect)
        self.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)
        self._by_hand = before
        return True

    def _fit(self) -> None:
        """Fit column widths to heads and first cells, once for each text size."""
        names = tuple(column.name for column in self.model_.columns[:_FITTED])
        # By letters: to measure every cell takes longer than to paint it.
        letter = self.fontMetrics().averageCharWidth()
        if (names, letter) == self._fitted:
            return
        self._fitted = names, letter
        lines = range(min(_SAMPLE, len(self.model_.rows)))
        for place in range(len(names)):
            head = self.model_.headerData(place, Qt.Orientation.Horizontal).split("\n")
            cells = (self.model_.index(line, place).data() for line in lines)
            longest = max(map(len, (*head, *cells)), default=0)
            width = min(scaled(_MOST), max(scaled(_LEAST), longest * letter + _AIR))
            self.setColumnWidth(place, width)

    # ------------------------------------------------------------- sort and filter

    def _on_chosen(self) -> None:
        # Qt makes a cell current, without selecting it, when the sheet receives the focus.
        if self._by_hand and self.selectionModel().isSelected(self.currentIndex()):
            self.pointed.emit(*self.place())

    def _on_sort(self, place: int, order: Qt.SortOrder) -> None:
        name = self.model_.columns[place].name if 0 <= place < len(self.model_.columns) else None
        self.sorting.emit(name, order == Qt.SortOrder.DescendingOrder)

    def _on_menu(self, point: QPoint) -> None:
        index = self.indexAt(point)
        if not index.isValid():
            index = self.currentIndex()
        if index.isValid():
            self.cell_menu(index).popup(self.viewport().mapToGlobal(point))

    def cell_menu(self, index: QModelIndex) -> QMenu:
        """Make the menu of a cell."""
        menu = make_menu(self, "data_cell_menu")
        column, row = self.model_.columns[index.column()], int(self.model_.rows[index.row()])
        make_action(menu, "data_copy_action", "Copy", verb=self.copy)
        if self._session.explains_rows:
            verb = partial(self._session.explain_row, row)
            make_action(menu, "data_explain_action", f"Explain row {row + 1:,}", verb=verb)
        menu.addSeparator()
        kind = "missing" if is_missing(column.values[row]) else column.kind
        for words, name, test in _CONDITIONS[kind]:
            verb = partial(self.narrowing.emit, like_cell(column, row, test))
            make_action(menu, f"data_{name}_action", words, verb=verb)
        return menu

    def _on_head_menu(self, point: QPoint) -> None:
        place = self.horizontalHeader().logicalIndexAt(point)
        if place >= 0:
            self.head_menu(place).popup(self.horizontalHeader().mapToGlobal(point))

    def head_menu(self, place: int) -> QMenu:
        """Make the menu of a column's head."""
        menu, name = make_menu(self, "data_head_menu"), self.model_.columns[place].name
        sort, narrow = self.sorting.emit, self.narrowing.emit
        make_action(menu, "data_up_action", "Sort upwards", verb=partial(sort, name, False))
        make_action(menu, "data_down_action", "Sort downwards", verb=partial(sort, name, True))
        make_action(menu, "data_unsorted_action", "As in the file", verb=partial(sort, None, False))
        menu.addSeparator()
        for words, test in (("without", MISSING), ("with", KNOWN)):
            verb = partial(narrow, Condition(name, test))
            make_action(menu, f"data_{test}_action", f"Only rows {words} a value", verb=verb)
        return menu

    # ------------------------------------------------------------- copy and save

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """Copy the selected cells, separated by tabs."""
        selection = self.selectionModel().selection()
        parts = [selection.at(k) for k in range(selection.count())]
        places = sorted({k for part in parts for k in range(part.left(), part.right() + 1)})
        lines = [np.arange(part.top(), part.bottom() + 1) for part in parts]
        taken = np.unique(np.concatenate(lines)) if lines else np.empty(0, dtype=np.intp)
        rows = self.model_.rows[taken]
        if len(places) * len(rows) > _MOST_COPIED:
            self._session.message.emit(text("data_too_many_cells", most=_MOST_COPIED))
        elif len(rows):
            columns = [self.model_.columns[k] for k in places]
            self._copying.forget()
            self._copying.ask("copy", lambda post: tab_separated(columns, rows, stopping(post)))

    def _on_copied(self, words: str) -> None:
        QGuiApplication.clipboard().setText(words)
        self._session.message.emit("Cells copied")

    def _on_save(self) -> None:
        found = self._found
        if self._saving.busy:
            self._saving.stop()
        elif found is not None:
            table, columns = found.asked.table, self.model_.columns
            suggested = f"{table.path.stem}-rows.csv"
            form, part = csv_form(table), next((extra.part for extra in found.extras), None)
            kinds = ["CSV for spreadsheets (*.csv)"] * (form != PLAIN) + [_CSV]
            path, kind = prompts.ask_save_file(self, "Save the rows", suggested, ";;".join(kinds))
            if path is not None:

                def save(post: Any) -> str:
                    how = part, PLAIN if kind == _CSV else form, stopping(post)
                    save_rows(Path(path), columns, found.rows, table.file_rows, *how)
                    return str(path)

                self.save_button.setText(_STOP)
                self._saving.forget()
                self._saving.ask(path, save)

    def _on_saving(self, part: float) -> None:
        self._session.message.emit(f"Saving rows: {100 * part:.0f} %")

    def _on_saved(self, path: str) -> None:
        self.save_button.setText(_SAVE)
        self._session.message.emit(f"Saved {path}")

    def _on_unsaved(self, words: str) -> None:
        self.save_button.setText(_SAVE)
        if words:
            self._session.failed.emit(words, "")
        else:
            self._session.message.emit(text("data_not_saved"))
