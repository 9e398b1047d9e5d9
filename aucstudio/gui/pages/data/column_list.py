"""List of columns and their roles; their AUCs are computed as they come into view."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget

from aucstudio.gui.common.buttons import make_action, push_button
from aucstudio.gui.common.column_controls import role_words
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.table import ColumnSpec, TableModel, TableView
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import label, named, search_field, show_note
from aucstudio.gui.state.background import Answer, delayed, ticking
from aucstudio.notices import text
from aucstudio.notices.controls import control_words
from aucstudio.notices.words import figure_words
from aucstudio.project.data.columns import NUMERIC_ROLES, ROLES, Column, spell_cell
from aucstudio.project.data.table import Table
from aucstudio.project.survey.columns import Classes, ColumnAreas

_NAME, _AREA, _COUNTS, _ROLE = 0, 1, (2, 3), 4
_AIR = 20  # pixels around a role
_LINE = 24
_WIDTHS = (100, 70, 54, 56, 66, 66, 84, 84)
_WIDEST_NAME = 220
# Hidden in this order where the list is narrow: the card shows the same of the selected column.
_LESS_IMPORTANT = (7, 6, 5, 3, 2)
_EXAMPLES = 3
_SOON, _LOOK = 250, 200  # milliseconds


class _ColumnTable(TableView):
    """A list of columns that hides the less important facts where it is narrow.

    Attributes
    ----------
    widths : list of int
        The widths that the facts need, in pixels.
    """

    rarer = _LESS_IMPORTANT

    def __init__(self, model: TableModel) -> None:
        self.widths = [0] * model.columnCount()
        super().__init__("data_columns_table", "Columns", model, _LINE)

    def column_room(self, column: int) -> int:
        return self.widths[column]

    def fit_columns(self) -> bool:
        fits = super().fit_columns()
        shown = [k for k in range(1, len(self.widths)) if not self.isColumnHidden(k)]
        rest = self.viewport().width() - sum(self.widths[k] for k in shown)
        name = max(scaled(_WIDTHS[_NAME]), min(self.widths[_NAME], rest))
        self.setColumnWidth(_NAME, name)  # a long name is cut before a role
        return fits

    def copied_columns(self) -> list[int]:
        return list(range(self.model().columnCount()))


class Overview(QWidget):
    """The list of columns with search, order, areas and roles; an item is the place of a column.

    Attributes
    ----------
    list, model : _ColumnTable, TableModel
    areas : ColumnAreas or None

    Signals
    -------
    pointed(str)
        A column was selected by the user.
    roles_chosen(dict, str)
        Roles of the selected columns, by name; and in words, which columns cannot have the role.
    """

    pointed = Signal(str)
    roles_chosen = Signal(dict, str)

    def __init__(self) -> None:
        super().__init__()
        named(self, "data_columns", "Columns of the table")
        self.areas: ColumnAreas | None = None
        self._table: Table | None = None
        self._wanted = ""  # the column that is to be marked
        self._finding = Answer[Any](self, lambda _done: self._on_areas(), self._on_failed)
        self.search = search_field("data_columns_search")
        self.role_button = push_button("columns_role_button")
        self.role_actions = self._make_role_actions()
        self.model = TableModel(self._columns(), self)
        self.list = self._make_list()
        self.message = label("", "muted", name="data_columns_told", wrap=True)
        self.list.ensurePolished()
        self._fit_columns()
        above = across((self.search, 1), self.role_button)
        below = across((self.message, 1), self.list.hidden_button)
        self.setLayout(down(above, (self.list, 1), below, gap=4))
        self._typing = delayed(self, _SOON, self._on_search)
        self.search.textChanged.connect(lambda _text: self._typing.start())
        self._look = ticking(self, _LOOK, self._on_look)
        self.model.layoutChanged.connect(self._count)

    def _make_role_actions(self) -> dict[str, QAction]:
        menu = QMenu(self.role_button)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._offer_roles)
        menu.aboutToHide.connect(self.role_button.update)  # Qt does not after a shortcut key
        self.role_button.setMenu(menu)
        tips = control_words("column_role_tip")["choices"]
        return {
            role: make_action(
                menu,
                f"role_{role}_action",
                role_words(role),
                tip,
                verb=partial(self._use_as, role),
            )
            for role, tip in tips.items()
        }

    def _columns(self) -> tuple[ColumnSpec, ...]:
        def about(place: int) -> str:
            return self._at(place).reason or self._at(place).name

        def spec(
            head: str, value: Callable[[Column], Any], *, is_figure: bool = False
        ) -> ColumnSpec:
            def words(place: int) -> str:
                found = value(self._at(place))
                return f"{found:,}" if is_figure else found.replace("\n", " ")

            def order(place: int) -> Any:
                found = value(self._at(place))
                return found if is_figure else found.casefold()

            return ColumnSpec(head, words, "", order, about, is_figure)

        return (
            spec("Column", lambda column: column.name),
            ColumnSpec(
                "AUC alone",
                self._area,
                text("data_area_tip"),
                self._distance,
                about,
                is_figure=True,
            ),
            spec("Missing", lambda column: column.missing, is_figure=True),
            spec("Distinct", lambda column: column.distinct, is_figure=True),
            spec("Role", lambda column: role_words(column.role, column)),
            spec("Kind", lambda column: "Date" if column.is_date else column.kind.capitalize()),
            spec("Decided by", lambda column: "detection" if column.guessed else "you"),
            spec("First values", _examples),
        )

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

    def _make_list(self) -> _ColumnTable:
        made = _ColumnTable(self.model)
        made.horizontalHeader().setStretchLastSection(True)
        made.offer_sorting()
        made.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        made.selectionModel().currentRowChanged.connect(self._on_row)
        made.selectionModel().selectionChanged.connect(self._count)
        return made

    def _fit_columns(self) -> None:
        """Set the widths of the columns for the present text size and the names of the table."""
        header, room = self.list.horizontalHeader(), self.list.fontMetrics().horizontalAdvance
        widths = [scaled(width) for width in _WIDTHS]
        longest = max(room(role_words(role)) for role in ROLES) + scaled(_AIR)
        widths[_ROLE] = max(widths[_ROLE], longest)
        most = room(f"{0 if self._table is None else self._table.rows:,}") + scaled(_AIR)
        for place in _COUNTS:
            widths[place] = max(widths[place], most)
        names = min(self.list.sizeHintForColumn(_NAME), scaled(_WIDEST_NAME))
        widths[_NAME] = max(widths[_NAME], names)
        for place, width in enumerate(widths):
            header.resizeSection(place, width)
        self.list.widths = widths
        self.list.fit_columns()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_columns()

    # ------------------------------------------------------------- showing

    def show_table(self, table: Table | None, classes: Callable[[], Classes | None]) -> None:
        """List the columns of a table; areas and selection are kept while only roles change."""
        before, self._table = self._table, table
        if table is before:
            return
        if before is None or table is None or _ranked(before) != _ranked(table):
            self.rest()
            self.areas = None if table is None else ColumnAreas(table.columns, classes)
        if before is not None and table is not None and before.sha256 == table.sha256:
            self.model.replace(range(len(table.columns)), int)
        else:
            self.model.show_items(() if table is None else range(len(table.columns)))
        self._on_search()
        if before is None or table is None or before.sha256 != table.sha256:
            self._fit_columns()
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
            self.model.arrange()

    # ------------------------------------------------------------- user actions

    def _on_search(self) -> None:
        wanted = self.search.text().strip().casefold()

        def is_found(place: int) -> bool:
            column = self._at(place)
            texts = column.name, role_words(column.role, column), column.kind, column.reason
            return any(wanted in one.casefold() for one in texts)

        self.model.filter(is_found if wanted else None)
        shown = (self._at(place).name for place in self.model.shown)
        if self._wanted and self.model.shown and self._wanted not in shown:
            self.list.setCurrentIndex(self.model.index(0, 0))  # the details are of a listed column

    def _count(self) -> None:
        """State how many columns are shown and selected."""
        shown, total = len(self.model.shown), len(self.model.items)
        selected = len(self.list.selected_rows())
        words = text(
            "data_columns",
            shown=shown if shown < total else None,
            total=total,
            selected=selected if selected > 1 else None,
        )
        show_note(self.message, words if total else "")
        self.role_button.setEnabled(selected > 0)

    def _selected(self) -> list[Column]:
        return [self._at(self.model.item(row)) for row in self.list.selected_rows()]

    def _offer_roles(self) -> None:
        """Enable the roles that some of the selected columns can have."""
        selected = self._selected()
        for role, action in self.role_actions.items():
            action.setEnabled(any(_can_be(column, role) for column in selected))

    def _use_as(self, role: str) -> None:
        """Choose a role for the selected columns that can have it."""
        selected, words = self._selected(), ""
        able = [column for column in selected if _can_be(column, role)]
        if refused := len(selected) - len(able):
            code = "no_role_of_text" if role in NUMERIC_ROLES else "no_role_of_label"
            words = text(code, count=refused, role=control_words("column_role_as")["choices"][role])
        changed = {column.name: role for column in able if column.role != role}
        self.roles_chosen.emit(changed, words)

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            name = self._at(self.model.item(index.row())).name
            if name != self._wanted:
                self._wanted = name
                self.pointed.emit(name)


def _ranked(table: Table) -> tuple[object, ...]:
    """Return what the areas of a table depend on: not its roles."""
    cells = [column.different for column in table.columns]
    return table.label, table.positive, table.absent, table.parts, cells


def _can_be(column: Column, role: str) -> bool:
    """Return whether a column can have a role."""
    return column.role != "label" and (role not in NUMERIC_ROLES or column.kind == "number")


def _examples(column: Column) -> str:
    shown = []
    for value in column.values[:_EXAMPLES]:
        if value is None or value != value:
            shown.append("·")
        elif column.kind == "number":
            shown.append(spell_cell(column, value) if column.is_date else f"{value:.6g}")
        else:
            shown.append(str(value))
    return ", ".join(shown)
