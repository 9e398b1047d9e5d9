"""List of columns; their AUCs are computed as they come into view."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QObject,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QHeaderView, QLineEdit, QWidget

from aucstudio.engine.types import Index
from aucstudio.gui.common.table import ColumnSpec as TableColumn
from aucstudio.gui.common.table import TableModel, TableView
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import clearable, down, label, named, show_note
from aucstudio.gui.pages.data.row_query import stop_if_asked
from aucstudio.gui.state.background import Answer, delayed, ticking
from aucstudio.notices.words import figure_words
from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import Table
from aucstudio.project.survey.columns import Classes, ColumnAreas

AREA, MISSING, DISTINCT, ROLE = 1, 2, 3, 4
_NUMBERS = (AREA, MISSING, DISTINCT)
_LINE = 24
_SOON, _LOOK = 250, 200  # milliseconds
_WINDOW = 5_000
_AREA_TIP = (
    "Area under the ROC curve of the column, taken for a score; of texts, of their share of "
    "positives. Sorted by its distance from one half"
)


@dataclasses.dataclass(frozen=True)
class Arrangement:
    """Which columns are listed, and in what order."""

    table: Table
    search: str = ""
    place: int = -1
    descending: bool = False
    known: int = 0  # areas, where they order the list


def arrange(asked: Arrangement, areas: ColumnAreas, stop: Callable[[], None]) -> Index:
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
        wanted in text.casefold() for text in (column.name, column.role, column.kind, column.reason)
    )


def _keys(
    place: int, columns: tuple[Column, ...], found: Index, areas: ColumnAreas
) -> NDArray[Any]:
    if place == AREA:
        return np.abs(areas.found[found] - 0.5)
    if place in _NUMBERS:
        what = "missing" if place == MISSING else "distinct"
        return np.array([getattr(columns[k], what) for k in found], dtype=float)
    what = {0: "name", ROLE: "role"}.get(place, "kind")
    # As texts of one width: numpy sorts them without the interpreter's lock.
    return np.array([getattr(columns[k], what).casefold()[:80] for k in found], dtype=np.str_)


class OverviewModel(TableModel):
    """The columns of a table that are shown; an item is the place of a column.

    Attributes
    ----------
    table : Table or None
    areas : ColumnAreas or None
    """

    def __init__(self, parent: QObject) -> None:
        self.table: Table | None = None
        self.areas: ColumnAreas | None = None

        def about(place: int) -> str:
            return self._at(place).reason or self._at(place).name

        def count(what: str) -> Callable[[int], str]:
            return lambda place: f"{getattr(self._at(place), what):,}"

        columns: tuple[TableColumn, ...] = (
            TableColumn("Column", lambda k: self._at(k).name.replace("\n", " ")),
            TableColumn("AUC alone", self._area, _AREA_TIP, is_figure=True),
            TableColumn("Missing", count("missing"), is_figure=True),
            TableColumn("Distinct", count("distinct"), is_figure=True),
            TableColumn("Role", lambda k: self._at(k).role),
            TableColumn("Kind", lambda k: self._at(k).kind),
        )
        columns = tuple(dataclasses.replace(column, about=about) for column in columns)
        super().__init__(columns, parent)

    def show_columns(self, table: Table | None, areas: ColumnAreas | None, shown: Index) -> None:
        """Show columns of a table, by their places."""
        self.beginResetModel()
        self.table, self.areas, self.shown = table, areas, shown.tolist()
        self.endResetModel()

    def item(self, row: int) -> int:
        return self.shown[row]

    def column_at(self, line: int) -> Column:
        """Return the column that a line is about."""
        return self._at(self.shown[line])

    def _at(self, place: int) -> Column:
        assert self.table is not None
        column: Column = self.table.columns[place]
        return column

    def _area(self, place: int) -> str:
        assert self.areas is not None
        return figure_words(float(self.areas.found[place])) if self.areas.done[place] else "…"


class Overview(QWidget):
    """The list of columns with search, order and areas.

    Attributes
    ----------
    list : QTableView

    Signals
    -------
    pointed(str)
        A column was selected by the user.
    """

    pointed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        named(self, "data_columns", "Columns of the table")
        self.areas: ColumnAreas | None = None
        self._asked: Arrangement | None = None
        self._wanted = ""  # the column that is to be marked
        self._arranging = Answer(self, self._on_arranged, self._on_failed)
        self._finding = Answer[Any](self, lambda _done: self._on_areas(), self._on_failed)
        self.search = clearable(named(QLineEdit(), "data_columns_search", "Search columns"))
        self.search.setPlaceholderText("Search by name, role, kind or reason")
        self.model = OverviewModel(self)
        self.list = self._make_list()
        self.message = label("", "muted", name="data_columns_told", wrap=True)
        self.setLayout(down(self.search, (self.list, 1), self.message, gap=4))
        self._typing = delayed(self, _SOON, self._on_search)
        self.search.textChanged.connect(lambda _text: self._typing.start())
        self._look = ticking(self, _LOOK, self._on_look)

    def _make_list(self) -> TableView:
        made = TableView("data_columns_table", "Columns", self.model, _LINE)
        header = made.horizontalHeader()
        for head in (header, made.verticalHeader()):
            head.setSelectionModel(QItemSelectionModel(self.model, head))
        made.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for place, width in enumerate((100, 70, 54, 56, 66, 60)):
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
        """Compute missing areas while the list is visible."""
        areas = self.areas
        if areas is not None and not areas.done.all() and not self._finding.busy:
            self._on_look()
            self._look.start()
            self._finding.forget()
            self._finding.ask("areas", lambda post: areas.find(lambda k: post(k)))

    def rest(self) -> None:
        """Stop computing areas; keep the finished ones."""
        self._look.stop()
        self._finding.forget()

    def drop(self) -> None:
        """Cancel all computations."""
        self.rest()
        self._arranging.forget()

    def mark(self, name: str) -> None:
        """Select a column in the list."""
        self._wanted, table = name, self.model.table
        current = self.list.currentIndex()
        if current.isValid() and self.model.column_at(current.row()).name == name:
            return
        if table is None or not name:
            return
        place = next((k for k, column in enumerate(table.columns) if column.name == name), -1)
        if place in self.model.shown:
            index = self.model.index(self.model.shown.index(place), 0)
            flags = QItemSelectionModel.SelectionFlag
            self.list.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
            self.list.scrollTo(index)

    def _ask(self, **changes: Any) -> None:
        asked = self._asked
        if asked is None:
            self._asked = Arrangement(**changes)
        else:
            self._asked = dataclasses.replace(asked, **changes)
        request, areas = self._asked, self.areas
        assert areas is not None
        self._arranging.ask(
            request, lambda post: arrange(request, areas, lambda: stop_if_asked(post))
        )

    def _on_failed(self, words: str) -> None:
        self._look.stop()
        show_note(self.message, words, "error")

    def _on_arranged(self, shown: Index) -> None:
        assert self._asked is not None
        table = self._asked.table
        self.model.show_columns(table, self.areas, shown)
        found, total = len(shown), len(table.columns)
        words = f"{found:,} of {total:,} columns" if found < total else f"{total:,} columns"
        show_note(self.message, words)
        self.mark(self._wanted)

    def _on_look(self) -> None:
        """Compute the areas of visible columns first, and show those that were found."""
        if self.areas is None or not len(self.model.shown):
            return
        first = max(0, self.list.rowAt(0))
        last = self.list.rowAt(self.list.viewport().height() - 1)
        last = last if last >= 0 else len(self.model.shown) - 1
        self.areas.wanted = tuple(self.model.shown[first : last + 1])
        self.model.dataChanged.emit(self.model.index(first, AREA), self.model.index(last, AREA))

    def _on_areas(self) -> None:
        self._look.stop()
        self._on_look()
        if self._asked is not None and self._asked.place == AREA:
            self._ask(known=self._asked.known + 1)

    # ------------------------------------------------------------- user actions

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
    """Return whether two tables have the same areas: only roles differ."""
    rests = [
        (one.sha256, one.label, one.positive, len(one.columns), id(one.columns[0].values))
        for one in (before, table)
    ]
    return rests[0] == rests[1]
