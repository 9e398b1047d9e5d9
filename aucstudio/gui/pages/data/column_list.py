"""List of columns; their AUCs are computed as they come into view."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QWidget

from aucstudio.gui.common.table import ColumnSpec, TableModel, TableView
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import down, label, named, search_field, show_note
from aucstudio.gui.state.background import Answer, delayed, ticking
from aucstudio.notices import text
from aucstudio.notices.words import figure_words
from aucstudio.project.data.columns import ROLES, Column
from aucstudio.project.data.table import Table
from aucstudio.project.survey.columns import Classes, ColumnAreas

_AREA, _ROLE = 1, 4
_AIR = 20  # pixels around a role
_LINE = 24
_WIDTHS = (100, 70, 54, 56, 66, 60)
_SOON, _LOOK = 250, 200  # milliseconds


class Overview(QWidget):
    """The list of columns with search, order and areas; an item is the place of a column.

    Attributes
    ----------
    list, model : TableView, TableModel
    areas : ColumnAreas or None

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
        self._table: Table | None = None
        self._wanted = ""  # the column that is to be marked
        self._finding = Answer[Any](self, lambda _done: self._on_areas(), self._on_failed)
        self.search = search_field("data_columns_search")
        self.model = TableModel(self._columns(), self)
        self.list = self._make_list()
        self.message = label("", "muted", name="data_columns_told", wrap=True)
        self.list.ensurePolished()
        self._fit_columns()
        self.setLayout(down(self.search, (self.list, 1), self.message, gap=4))
        self._typing = delayed(self, _SOON, self._on_search)
        self.search.textChanged.connect(lambda _text: self._typing.start())
        self._look = ticking(self, _LOOK, self._on_look)

    def _columns(self) -> tuple[ColumnSpec, ...]:
        def about(place: int) -> str:
            return self._at(place).reason or self._at(place).name

        def spec(head: str, name: str) -> ColumnSpec:
            def order(place: int) -> str:
                return str(getattr(self._at(place), name)).casefold()

            def cell(place: int) -> str:
                return str(getattr(self._at(place), name)).replace("\n", " ")

            return ColumnSpec(head, cell, order=order, about=about)

        def count(head: str, name: str) -> ColumnSpec:
            def number(place: int) -> int:
                return int(getattr(self._at(place), name))

            def cell(place: int) -> str:
                return f"{number(place):,}"

            return ColumnSpec(head, cell, order=number, about=about, is_figure=True)

        area = ColumnSpec(
            "AUC alone", self._area, text("data_area_tip"), self._distance, about, is_figure=True
        )
        counts = count("Missing", "missing"), count("Distinct", "distinct")
        return spec("Column", "name"), area, *counts, spec("Role", "role"), spec("Kind", "kind")

    def _at(self, place: int) -> Column:
        assert self._table is not None
        column: Column = self._table.columns[place]
        return column

    def _area(self, place: int) -> str:
        assert self.areas is not None
        return figure_words(float(self.areas.found[place])) if self.areas.done[place] else "…"

    def _distance(self, place: int) -> float | None:
        """Return the distance of an area from one half."""
        assert self.areas is not None
        area = float(self.areas.found[place])
        return None if math.isnan(area) else abs(area - 0.5)

    def _make_list(self) -> TableView:
        made = TableView("data_columns_table", "Columns", self.model, _LINE)
        header = made.horizontalHeader()
        for head in (header, made.verticalHeader()):
            # An empty selection of its own: a header asks whether all cells are selected.
            head.setSelectionModel(QItemSelectionModel(self.model, head))
        made.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setStretchLastSection(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        made.setSortingEnabled(True)
        made.selectionModel().currentRowChanged.connect(self._on_row)
        return made

    def _fit_columns(self) -> None:
        """Set the widths of the columns for the present text size; each role fits in its column."""
        header, room = self.list.horizontalHeader(), self.list.fontMetrics().horizontalAdvance
        for place, width in enumerate(_WIDTHS):
            header.resizeSection(place, scaled(width))
        longest = max(map(room, ROLES)) + scaled(_AIR)
        header.resizeSection(_ROLE, max(scaled(_WIDTHS[_ROLE]), longest))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_columns()

    # ------------------------------------------------------------- showing

    def show_table(self, table: Table | None, classes: Callable[[], Classes | None]) -> None:
        """List the columns of a table; their areas are kept while only roles change."""
        before, self._table = self._table, table
        if table is before:
            return
        if before is None or table is None or _ranked(before) != _ranked(table):
            self.rest()
            self.areas = None if table is None else ColumnAreas(table.columns, classes)
        self.model.show_items(() if table is None else range(len(table.columns)))
        self._on_search()
        self.mark(self._wanted)

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

    def mark(self, name: str) -> None:
        """Select a column in the list."""
        self._wanted = name
        current = self.list.currentIndex()
        is_marked = current.isValid() and self._at(self.model.item(current.row())).name == name
        rows = range(0 if is_marked or not name else self.model.rowCount())
        row = next((row for row in rows if self._at(self.model.item(row)).name == name), -1)
        if row >= 0:
            index, flags = self.model.index(row, 0), QItemSelectionModel.SelectionFlag
            self.list.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
            self.list.scrollTo(index)

    def _on_failed(self, words: str) -> None:
        self._look.stop()
        show_note(self.message, words, "error")

    def _on_look(self) -> None:
        """Compute the areas of visible columns first, and show those that were found."""
        if self.areas is None or not self.model.shown:
            return
        first = max(0, self.list.rowAt(0))
        last = self.list.rowAt(self.list.viewport().height() - 1)
        last = last if last >= 0 else len(self.model.shown) - 1
        self.areas.wanted = tuple(self.model.shown[first : last + 1])
        self.model.dataChanged.emit(self.model.index(first, _AREA), self.model.index(last, _AREA))

    def _on_areas(self) -> None:
        self._look.stop()
        self._on_look()
        if self.model.by == _AREA:
            self.model.replace(self.model.items, id)

    # ------------------------------------------------------------- user actions

    def _on_search(self) -> None:
        wanted = self.search.text().strip().casefold()

        def is_found(place: int) -> bool:
            column = self._at(place)
            texts = column.name, column.role, column.kind, column.reason
            return any(wanted in one.casefold() for one in texts)

        self.model.filter(is_found if wanted else None)
        shown, total = len(self.model.shown), len(self.model.items)
        words = text("data_columns", shown=shown if shown < total else None, total=total)
        show_note(self.message, words if total else "")

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            name = self._at(self.model.item(index.row())).name
            if name != self._wanted:
                self._wanted = name
                self.pointed.emit(name)


def _ranked(table: Table) -> tuple[object, ...]:
    """Return what the areas of a table depend on: not its roles."""
    columns = table.columns
    return table.sha256, table.label, table.positive, len(columns), id(columns[0].values)
