"""The table of rows: sort, filter and copy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView

from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import make_action, make_menu, named
from aucstudio.gui.pages.data.row_query import FoundRows
from aucstudio.gui.pages.data.rows_model import RowsModel
from aucstudio.project.data.columns import Column
from aucstudio.project.survey.rows import KNOWN, MISSING, Condition, like_cell

_LINE = 24
_LEAST, _MOST, _AIR = 64, 260, 36  # of a column, in pixels
_FITTED, _SAMPLE = 60, 20  # columns fitted to their first cells, and number of these cells
_FLAGS = QItemSelectionModel.SelectionFlag


class RowsSheet(QTableView):
    """The rows that were found.

    Attributes
    ----------
    model_ : RowsModel

    Signals
    -------
    pointed(int, str)
        A cell was selected by the user: row of the table, and column.
    sorting(object, bool)
        Rows are to be sorted by a column, or as in the file (None); and whether downwards.
    narrowing(object)
        Add a condition to the filter.
    copying
        The selected cells are to be copied.
    explaining(int)
        A row of the table is to be explained.

    Attributes
    ----------
    explains : callable
        Whether rows can be explained.
    """

    pointed = Signal(int, str)
    sorting = Signal(object, bool)
    narrowing = Signal(object)
    copying = Signal()
    explaining = Signal(int)

    def __init__(self, explains: Callable[[], bool] = lambda: False) -> None:
        super().__init__()
        self.explains = explains
        named(self, "data_table", "Rows of the table")
        self.model_ = RowsModel(self)
        self.setModel(self.model_)
        self._fitted: tuple[str, ...] = ()
        self._by_hand = True  # what is pointed at is so by a person
        self._sorted_by: tuple[str | None, bool] | None = None
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._dress_heads()
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.selectionModel().currentChanged.connect(self._on_current)

    def _dress_heads(self) -> None:
        across, down = self.horizontalHeader(), self.verticalHeader()
        for head in (across, down):
            # A selection of its own, and an empty one: a head asks at each painting of every
            # section whether all its cells are selected, and there may be millions.
            head.setSelectionModel(QItemSelectionModel(self.model_, head))
            head.setHighlightSections(False)
            head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        down.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        down.setDefaultSectionSize(scaled(_LINE))
        down.setMinimumWidth(scaled(56))
        across.setDefaultSectionSize(scaled(120))
        across.setSortIndicatorShown(True)
        across.setSortIndicatorClearable(True)
        across.setSectionsClickable(True)
        across.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        across.sortIndicatorChanged.connect(self._on_sort)
        across.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        across.customContextMenuRequested.connect(self._on_head_menu)

    # ------------------------------------------------------------- showing

    def show_found(self, found: FoundRows | None) -> None:
        """Show other rows; keep the current cell if its row is among them."""
        row, column = self.place()
        self._by_hand = False
        self.model_.show_found(found)
        rows = None if found is None else found.asked.row_filter
        place = None if rows is None or rows.order is None else self.model_.column_of(rows.order)
        order = Qt.SortOrder.DescendingOrder if rows and rows.descending else Qt.SortOrder(0)
        with QSignalBlocker(self.horizontalHeader()):
            self.horizontalHeader().setSortIndicator(-1 if place is None else place, order)
        self._fit()
        if row is not None:
            self.go_to([row], column)
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
        """Fit column widths to heads and first cells, once."""
        names = tuple(column.name for column in self.model_.columns[:_FITTED])
        if names == self._fitted:
            return
        self._fitted = names
        # By letters: to measure every cell takes longer than to paint it.
        letter = self.fontMetrics().averageCharWidth()
        lines = range(min(_SAMPLE, len(self.model_.rows)))
        for place in range(len(names)):
            head = self.model_.headerData(place, Qt.Orientation.Horizontal).split("\n")
            cells = (self.model_.index(line, place).data() for line in lines)
            longest = max(map(len, (*head, *cells)), default=0)
            width = min(scaled(_MOST), max(scaled(_LEAST), longest * letter + _AIR))
            self.setColumnWidth(place, width)

    # ------------------------------------------------------------- user actions

    def selected(self) -> tuple[list[Column], NDArray[np.intp]]:
        """Return the columns and the lines that hold selected cells."""
        selection = self.selectionModel().selection()
        places, parts = set[int](), []
        for k in range(selection.count()):
            part = selection.at(k)
            parts.append(np.arange(part.top(), part.bottom() + 1))
            places.update(range(part.left(), part.right() + 1))
        lines = np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.intp)
        return [self.model_.columns[k] for k in sorted(places)], lines

    def _on_current(self, index: QModelIndex) -> None:
        if index.isValid() and self._by_hand:
            self.pointed.emit(*self.place())

    def _on_sort(self, place: int, order: Qt.SortOrder) -> None:
        name = self.model_.columns[place].name if 0 <= place < len(self.model_.columns) else None
        self.sorting.emit(name, order == Qt.SortOrder.DescendingOrder)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copying.emit()
        else:
            super().keyPressEvent(event)

    def _on_menu(self, point: QPoint) -> None:
        index = self.indexAt(point)
        if not index.isValid():
            index = self.currentIndex()
        if index.isValid():
            menu = self.cell_menu(index)
            menu.popup(self.viewport().mapToGlobal(point))

    def cell_menu(self, index: QModelIndex) -> QMenu:
        """Make the menu of a cell."""
        menu = make_menu(self, "data_cell_menu")
        column, row = self.model_.columns[index.column()], int(self.model_.rows[index.row()])
        make_action(menu, "data_copy_action", "Copy", verb=self.copying.emit)
        if self.explains():
            verb = partial(self.explaining.emit, row)
            make_action(menu, "data_explain_action", f"Explain row {row + 1:,}", verb=verb)
        menu.addSeparator()
        value = column.values[row]
        tests = [("Only rows with this value", "like", "="), ("Without this value", "unlike", "!=")]
        if value is None or value != value:
            tests = [("Only rows without a value", "like", "=")]
        elif column.kind == "number":
            tests += [
                ("Only this value or more", "more", ">="),
                ("Only this value or less", "less", "<="),
            ]
        for words, name, test in tests:
            condition = like_cell(column, row, test)
            verb = partial(self.narrowing.emit, condition)
            make_action(menu, f"data_{name}_action", words, verb=verb)
        return menu

    def _on_head_menu(self, point: QPoint) -> None:
        place = self.horizontalHeader().logicalIndexAt(point)
        if place >= 0:
            self.head_menu(place).popup(self.horizontalHeader().mapToGlobal(point))

    def head_menu(self, place: int) -> QMenu:
        """Make the menu of a column's head."""
        menu, name = make_menu(self, "data_head_menu"), self.model_.columns[place].name
        sort = self.sorting.emit
        make_action(menu, "data_up_action", "Sort upwards", verb=partial(sort, name, False))
        make_action(menu, "data_down_action", "Sort downwards", verb=partial(sort, name, True))
        make_action(menu, "data_unsorted_action", "As in the file", verb=partial(sort, None, False))
        menu.addSeparator()
        for words, test in (
            ("Only rows without a value", MISSING),
            ("Only rows with a value", KNOWN),
        ):
            verb = partial(self.narrowing.emit, Condition(name, test))
            make_action(menu, f"data_{test}_action", words, verb=verb)
        return menu
