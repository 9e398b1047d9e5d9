"""The sheet of rows: cells formatted when painted; sorted, filtered, copied and saved."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView

from aucstudio.gui.common import prompts
from aucstudio.gui.common.plain_text import elided, tip_text
from aucstudio.gui.common.table import LEFT, RIGHT, Index
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import make_action, make_menu, named, push_button
from aucstudio.gui.pages.data.row_query import FoundRows, RunColumn, stop_if_asked
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.data.columns import Column, spell_cell, spell_number
from aucstudio.project.survey.conditions import KNOWN, MISSING, Condition, like_cell
from aucstudio.project.survey.rows import HELD_OUT, NEITHER, as_text, save_rows

GAP = "–"
_LONGEST = 200  # characters of a cell
_LETTERS = 28  # characters of a name
_LINE = 24
_LEAST, _MOST, _AIR = 64, 260, 36  # of a column, in pixels
_FITTED, _SAMPLE = 60, 20  # columns fitted to their first cells, and number of these cells
_FLAGS = QItemSelectionModel.SelectionFlag
_MOST_COPIED = 2_000_000  # cells
_SAVE, _STOP = "Save ro&ws…", "Stop sa&ving"
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


def _is_missing(value: object) -> bool:
    return value is None or value != value


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
        self._found: FoundRows | None = None
        self._extras: dict[int, RunColumn] = {}  # by place
        self.restyle()

    def restyle(self) -> None:
        """Apply the current theme."""
        theme = current_theme()
        inks = (theme.positive, theme.negative, theme.muted, theme.text)
        self._positive, self._negative, self._muted, self._text = map(QColor, inks)

    def show_found(self, found: FoundRows | None) -> None:
        """Show other rows, or none."""
        self.beginResetModel()
        self._found = found
        self.rows = np.empty(0, dtype=np.intp) if found is None else found.rows
        listed = () if found is None else found.asked.table.columns
        label = [column for column in listed if column.role == "label"]
        others = [column for column in listed if column.role != "label"]
        extras = () if found is None else found.extras
        self._extras = dict(enumerate(extras, len(label)))
        self.columns = (*label, *(extra.column for extra in extras), *others)
        self.endResetModel()

    def column_of(self, name: str) -> int | None:
        """Return the place of a column."""
        return next((k for k, column in enumerate(self.columns) if column.name == name), None)

    def line_of(self, row: int) -> int | None:
        """Return the list row of a table row, if any."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    # ------------------------------------------------------------- Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
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
        if role == _SHOWN:
            return f"{self.rows[line] + 1:,}"
        if role == _TIP and self._found is not None:
            row, numbers = int(self.rows[line]), self._found.asked.table.row_numbers
            number = row + 1 if numbers is None else int(numbers[row])
            return text("data_row_tip", row=row + 1, number=number)
        return RIGHT if role == _SIDE else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == _SHOWN:
            return self._cell(index)
        if role == _SIDE:
            return self._side(index.column())
        if role == _INK:
            return self._ink(index)
        return self._tip(index) if role == _TIP else None

    def _cell(self, index: Index) -> str:
        place = index.column()
        column, extra = self.columns[place], self._extras.get(place)
        value = column.at(self.rows[index.row()])
        if _is_missing(value):
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

    def _ink(self, index: Index) -> QColor | None:
        """Return the colour of a cell: of a label that of its class, None before it is known."""
        column, row = self.columns[index.column()], self.rows[index.row()]
        extra = self._extras.get(index.column())
        is_trained_on = extra is not None and extra.part is not None and extra.part[row] != HELD_OUT
        if is_trained_on or column.role == "ignore" or _is_missing(column.at(row)):
            return self._muted
        classes = None if self._found is None else self._found.classes
        if column.role != "label" or classes is None:
            return None
        if classes.positive[row]:
            return self._positive
        return self._negative if classes.negative[row] else None

    def _tip(self, index: Index) -> str | None:
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


class RowsSheet(QTableView):
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
        super().__init__()
        named(self, "data_table", "Rows of the table")
        self._session = session
        self.model_ = RowsModel(self)
        self.setModel(self.model_)
        self._found: FoundRows | None = None
        self._fitted: tuple[tuple[str, ...], int] = (), 0
        self._by_hand = True  # whether the user selects a cell
        self._sorted_by: tuple[str | None, bool] | None = None
        self._copying = Answer(self, self._on_copied, lambda words: session.failed.emit(words, ""))
        self._saving = Answer(self, self._on_saved, self._on_unsaved, self._on_saving)
        tip = text("data_save_tip")
        self.save_button = push_button("data_save_button", _SAVE, tip, self._on_save)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._set_up_heads()
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.selectionModel().currentChanged.connect(self._on_current)

    def _set_up_heads(self) -> None:
        across, down = self.horizontalHeader(), self.verticalHeader()
        for head in (across, down):
            # A selection of its own, and an empty one: a header asks at each painting of every
            # section whether all its cells are selected, and there may be millions.
            head.setSelectionModel(QItemSelectionModel(self.model_, head))
            head.setHighlightSections(False)
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

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.verticalHeader().setDefaultSectionSize(scaled(_LINE))
            self._fit()

    # ------------------------------------------------------------- showing

    def show_found(self, found: FoundRows | None) -> None:
        """Show other rows; keep the current cell if its row is among them."""
        row, column = self.place()
        self._found, self._by_hand = found, False
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

    def _on_current(self, index: QModelIndex) -> None:
        if index.isValid() and self._by_hand:
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
        kind = "missing" if _is_missing(column.values[row]) else column.kind
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
            self._copying.ask("copy", lambda post: as_text(columns, rows, _reporting(post)))

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
            path = prompts.ask_save_path(self, "Save the rows", suggested, "CSV (*.csv)")
            if path is not None:

                def save(post: Any) -> str:
                    report = _reporting(post)
                    save_rows(Path(path), columns, found.rows, table.file_rows, report)
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


def _reporting(post: Callable[[float], bool]) -> Callable[[float], None]:
    return lambda part: stop_if_asked(post, part)
