"""The list of columns, any number of them; areas are found while it is looked at."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTableView, QVBoxLayout, QWidget

from aucstudio.gui.common.plain import tip_text
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import clearable, label, list_rows, named, tell
from aucstudio.gui.pages.data.lookup import stop_if_asked
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.timers import delayed, ticking
from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import Table
from aucstudio.project.survey.areas import ColumnAreas
from aucstudio.project.survey.classes import Classes
from aucstudio.project.words import figure_words
from aucstudio.project.work.job import Job

Index = QModelIndex | QPersistentModelIndex
Order = NDArray[np.intp]

HEADS = ("Column", "AUC alone", "Missing", "Distinct", "Role", "Kind")
AREA, MISSING, DISTINCT, ROLE = 1, 2, 3, 4
_NUMBERS = (AREA, MISSING, DISTINCT)
_LINE = 24
_SOON, _LOOK = 250, 200  # milliseconds
_WINDOW = 5_000
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_TIPS = {
    AREA: "Area under the ROC curve of the column, taken for a score; of texts, of their share of "
    "positives. Sorted by its distance from one half",
}


@dataclasses.dataclass(frozen=True)
class Arrangement:
    """Which columns are listed, and in what order."""

    table: Table
    search: str = ""
    place: int = -1
    descending: bool = False
    known: int = 0  # areas, where they order the list


def arrange(asked: Arrangement, areas: ColumnAreas, stop: Callable[[], None]) -> Order:
    """Return the columns of a list in order.

    Those alike keep theirs, without a figure come last.
    """
    columns, wanted = asked.table.columns, asked.search.casefold()
    kept: list[int] = []
    for start in range(0, len(columns), _WINDOW):
        stop()
        part = columns[start : start + _WINDOW]
        kept += [start + k for k, column in enumerate(part) if _is_found(column, wanted)]
    found = np.array(kept, dtype=np.intp)
    if asked.place < 0:
        return found
    keys = _keys(asked.place, columns, found, areas)
    if keys.dtype.kind == "f" and asked.descending:
        return found[np.argsort(-keys, kind="stable")]
    order = np.argsort(keys, kind="stable")
    return found[order[::-1] if asked.descending else order]


def _is_found(column: Column, wanted: str) -> bool:
    return not wanted or any(
        wanted in text.casefold() for text in (column.name, column.role, column.kind, column.why)
    )


def _keys(
    place: int, columns: tuple[Column, ...], found: Order, areas: ColumnAreas
) -> NDArray[Any]:
    if place == AREA:
        return np.abs(areas.found[found] - 0.5)
    if place in _NUMBERS:
        what = "missing" if place == MISSING else "distinct"
        return np.array([getattr(columns[k], what) for k in found], dtype=float)
    what = {0: "name", ROLE: "role"}.get(place, "kind")
    # As texts of one width: numpy sorts them without the interpreter's lock.
    return np.array([getattr(columns[k], what).casefold()[:80] for k in found], dtype=np.str_)


class OverviewModel(QAbstractTableModel):
    """One line a column; nothing is made of a line before it is seen."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.table: Table | None = None
        self.areas: ColumnAreas | None = None
        self.shown: Order = np.empty(0, dtype=np.intp)

    def show_columns(self, table: Table | None, areas: ColumnAreas | None, shown: Order) -> None:
        """List columns of a table."""
        self.beginResetModel()
        self.table, self.areas, self.shown = table, areas, shown
        self.endResetModel()

    def column_at(self, line: int) -> Column:
        """Return the column in a line."""
        assert self.table is not None
        column: Column = self.table.columns[int(self.shown[line])]
        return column

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS.get(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in _NUMBERS else _LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index.row(), index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            column = self.column_at(index.row())
            return tip_text(column.why or column.name)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() in _NUMBERS else _LEFT
        return None

    def _text(self, line: int, place: int) -> str:
        column = self.column_at(line)
        if place == AREA:
            k = self.shown[line]
            assert self.areas is not None
            return figure_words(float(self.areas.found[k])) if self.areas.done[k] else "…"
        if place in _NUMBERS:
            return f"{column.missing if place == MISSING else column.distinct:,}"
        return {0: column.name.replace("\n", " "), ROLE: column.role}.get(place, column.kind)


class Overview(QWidget):
    """The list, searched and sorted, and the areas that are found for it.

    Attributes
    ----------
    list : QTableView

    Signals
    -------
    pointed(str)
        A column was chosen by a person.
    """

    pointed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        named(self, "data_columns", "Columns of the table")
        self.areas: ColumnAreas | None = None
        self._asked: Arrangement | None = None
        self._wanted = ""  # the column that is to be marked
        self._arranging = Background(self, self._on_arranged)
        self._finding = Background(self, self._on_areas)
        self.search = clearable(named(QLineEdit(), "data_columns_search", "Search columns"))
        self.search.setPlaceholderText("Search by name, role, kind or reason")
        self.model = OverviewModel(self)
        self.list = self._make_list()
        self.told = label("", "muted", name="data_columns_told", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget, stretch in ((self.search, 0), (self.list, 1), (self.told, 0)):
            layout.addWidget(widget, stretch)
        self._typing = delayed(self, _SOON, self._on_search)
        self.search.textChanged.connect(lambda _text: self._typing.start())
        self._look = ticking(self, _LOOK, self._on_look)

    def _make_list(self) -> QTableView:
        made = named(QTableView(), "data_columns_table", "Columns")
        made.setModel(self.model)
        list_rows(made, _LINE)
        header = made.horizontalHeader()
        for head in (header, made.verticalHeader()):
            head.setSelectionModel(QItemSelectionModel(self.model, head))
        made.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for place, width in enumerate((110, 76, 64, 64, 68, 60)):
            header.resizeSection(place, scaled(width))
        header.setStretchLastSection(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        header.setSectionsClickable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.sortIndicatorChanged.connect(self._on_sort)
        made.selectionModel().currentRowChanged.connect(self._on_row)
        return made

    # ------------------------------------------------------------- showing

    def show_table(self, table: Table | None, classes: Callable[[], Classes | None]) -> None:
        """List the columns of a table; their areas are kept while only roles change."""
        before = None if self._asked is None else self._asked.table
        if table is before:
            return
        if table is None:
            self.drop()
            self._asked = None
            self.model.show_columns(None, None, np.empty(0, dtype=np.intp))
            return
        if before is None or not _ranks_alike(before, table):
            self.drop()
            self.areas = ColumnAreas(table.columns, classes)
        self._ask(table=table)

    def find_areas(self) -> None:
        """Go on finding areas, if some are not known and the list is seen."""
        areas = self.areas
        if areas is not None and not areas.done.all() and not self._finding.busy:
            self._on_look()
            self._look.start()
            self._finding.start(areas, lambda post: areas.find(lambda k: post(k)))

    def rest(self) -> None:
        """Stop finding areas: the list is not seen; those that are known are kept."""
        self._look.stop()
        self._finding.drop()

    def drop(self) -> None:
        """Leave all that is being worked out."""
        self.rest()
        self._arranging.drop()

    def busy(self) -> bool:
        """Return whether the list is about to change."""
        return self._arranging.busy or self._finding.busy

    def mark(self, name: str) -> None:
        """Mark a column, where it is listed."""
        self._wanted, table = name, self.model.table
        current = self.list.currentIndex()
        if current.isValid() and self.model.column_at(current.row()).name == name:
            return
        if table is None or not name:
            return
        place = next((k for k, column in enumerate(table.columns) if column.name == name), -1)
        lines = np.flatnonzero(self.model.shown == place)
        if len(lines):
            index = self.model.index(int(lines[0]), 0)
            flags = QItemSelectionModel.SelectionFlag
            self.list.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
            self.list.scrollTo(index)

    def _ask(self, **changes: Any) -> None:
        asked = self._asked
        if asked is None:
            self._asked = Arrangement(**changes)
        else:
            self._asked = dataclasses.replace(asked, **changes)
        wish, areas = self._asked, self.areas
        assert areas is not None
        self._arranging.start(wish, lambda post: arrange(wish, areas, lambda: stop_if_asked(post)))

    def _on_arranged(self, asked: Arrangement, job: Job[Any, Order]) -> None:
        if job.result is None:
            tell(self.told, str(job.error), "error")
            return
        self.model.show_columns(asked.table, self.areas, job.result)
        shown, total = len(job.result), len(asked.table.columns)
        tell(
            self.told, f"{shown:,} of {total:,} columns" if shown < total else f"{total:,} columns"
        )
        self.mark(self._wanted)

    def _on_look(self) -> None:
        """Compute the areas of visible columns first, and show those that were found."""
        if self.areas is None or not len(self.model.shown):
            return
        first = max(0, self.list.rowAt(0))
        last = self.list.rowAt(self.list.viewport().height() - 1)
        last = last if last >= 0 else len(self.model.shown) - 1
        self.areas.wanted = tuple(self.model.shown[first : last + 1].tolist())
        self.model.dataChanged.emit(self.model.index(first, AREA), self.model.index(last, AREA))

    def _on_areas(self, _areas: ColumnAreas, job: Job[Any, None]) -> None:
        self._look.stop()
        self._on_look()
        if job.error is not None:
            tell(self.told, str(job.error), "error")
        elif self._asked is not None and self._asked.place == AREA:
            self._ask(known=self._asked.known + 1)

    # ------------------------------------------------------------- the person

    def _on_search(self) -> None:
        if self._asked is not None:
            self._ask(search=self.search.text().strip())

    def _on_sort(self, place: int, order: Qt.SortOrder) -> None:
        if self._asked is not None:
            self._ask(place=place, descending=order == Qt.SortOrder.DescendingOrder)

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            name = self.model.column_at(index.row()).name
            if name != self._wanted:
                self._wanted = name
                self.pointed.emit(name)


def _ranks_alike(before: Table, table: Table) -> bool:
    """Return whether columns of two tables have the same areas: nothing but roles has changed."""
    rests = [
        (one.sha256, one.label, one.positive, len(one.columns), id(one.columns[0].values))
        for one in (before, table)
    ]
    return rests[0] == rests[1]
