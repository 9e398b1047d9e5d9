"""Data: rows, columns, missing values and correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QBoxLayout, QStackedWidget

from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.column_controls import levels_words
from aucstudio.gui.common.layouts import across, down, holding, keep_room
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.view import PageView
from aucstudio.gui.pages.data.column_card import ColumnCard, column_sentence
from aucstudio.gui.pages.data.column_list import Overview
from aucstudio.gui.pages.data.grids import CorrelationPage, GapPage
from aucstudio.gui.pages.data.row_query import (
    Asked,
    Filters,
    Finder,
    FoundRows,
    RowFilter,
    rows_sentence,
)
from aucstudio.gui.pages.data.rows_sheet import RowsSheet
from aucstudio.gui.state.background import Answer, stopping
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.survey.columns import Classes, ColumnSummary, sum_up
from aucstudio.project.survey.rows import ALL, CHOSEN

ROWS, COLUMNS, GAPS, CORRELATION = "rows", "columns", "gaps", "correlation"
_LEAST_LIST, _LEAST_SHEET = 300, 600  # pixels next to the card, of the columns and of the rows
_WIDEST = 16_777_215  # Qt's own bound


class DataView(PageView):
    """The table; the selected row is that of the session's focus.

    Attributes
    ----------
    filters : Filters
    sheet : RowsSheet
    overview : Overview
    gaps : GapPage
    correlation : CorrelationPage
    card : ColumnCard
    found : FoundRows or None
        The rows that are shown.
    column : str
        The selected column.
    """

    listens_to: ClassVar = {
        "table": "mark_stale",
        "runs": "mark_stale",
        "selection": "mark_stale",
        "focus": "refresh",
    }

    def __init__(self, session: Session) -> None:
        super().__init__(session, "data_view", "Data")
        self.found: FoundRows | None = None
        self.column = ""
        self._finder = Finder()
        self._table: Table | None = None
        self._going: tuple[int, ...] = ()
        self._finding = Answer(self, self._on_found, self._on_unfound)
        self.filters, self.pages = Filters(), QStackedWidget()
        main = holding(down(self.filters, (self.pages, 1)))
        self._sides = across((main, 1), gap=16)
        self.set_content(self._sides, "No table yet")
        self.show_combo = self.controls.choice("data_show_combo", verb=self._on_show)
        self.controls.put(self.filters.class_combo)
        self.controls.put(self.filters.part_combo)
        self.split_combo = self.choose_split("data_split_combo")
        self.making.ask(self._make_grids, self._make_card, self._make_tables, self._connect)

    # ------------------------------------------------------------- making

    def _make_grids(self) -> None:
        self.gaps, self.correlation = GapPage(), CorrelationPage()
        self.controls.put(self.correlation.kind_combo)
        for page in (self.gaps, self.correlation):
            self.pages.addWidget(page)

    def _make_card(self) -> None:
        self.card = ColumnCard()
        self._sides.addWidget(self.card)
        self._summing = Answer(self, self._on_summary, self.card.show_problem)
        parts = self.gaps, self.correlation, self.card.spread, self.card.roc
        self.pictures = [part.plot for part in parts]

    def _make_tables(self) -> None:
        row, self.overview, self.sheet = self.controls, Overview(), RowsSheet(self.session)
        for place, page in enumerate((self.overview, self.sheet)):
            self.pages.insertWidget(place, page)
        self.pages.setCurrentIndex(0)
        self.explain_button = row.put(push_button("data_explain_button", like="explain_button"))
        self.explain_button.clicked.connect(self._on_explain)
        self.save_button = row.put(self.sheet.save_button)
        # The last and with its room: the others must not move when it appears.
        self.back_button = row.button("data_back_button", verb=self._on_back)
        keep_room(self.back_button)
        row.show(False, self.back_button, self.split_combo)
        row.addStretch(1)

    def _connect(self) -> None:
        self.filters.changed.connect(self.refresh)
        self.sheet.pointed.connect(self._on_pointed)
        self.sheet.horizontalHeader().sectionClicked.connect(
            lambda place: self.point_column(self.sheet.model_.columns[place].name)
        )
        self.sheet.sorting.connect(lambda name, down: self.filters.ask(order=name, descending=down))
        self.sheet.narrowing.connect(self.filters.narrow)
        self.overview.pointed.connect(self.point_column)
        self.overview.roles_chosen.connect(self._on_roles)
        self.card.role_chosen.connect(lambda name, role: self._edit(roles={name: role}))
        self.card.parts_chosen.connect(
            lambda name, parts: self._edit(f"Change parts of {name}", parts={name: parts})
        )
        self.card.limits_asked.connect(lambda: self.session.asked.emit("import", ({},)))
        self.gaps.clicked.connect(self._on_gap)
        for page in (self.gaps, self.correlation):
            page.concluded.connect(self.sentence.setText)
        self.correlation.clicked.connect(self.point_column)

    # ------------------------------------------------------------- for the host

    @property
    def shows(self) -> str:
        """The visible view of the table."""
        return str(self.show_combo.currentData())

    def _show_view(self, what: str) -> None:
        self.show_combo.setCurrentIndex(self.show_combo.findData(what))

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        data = {GAPS: self.gaps.data, CORRELATION: self.correlation.data}
        return data.get(self.shows, self.card.spread.data)()

    def restyle(self) -> None:
        for part in (self.sheet.model_, self.gaps, self.correlation):
            part.restyle()
        super().restyle()
        if self.card.summary is not None:
            self.card.show_summary(self.card.summary)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.overview.rest()

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        table = self.session.table
        if table is None or table is not self._table:
            self._take(table)
        self.fit_page()
        if table is None:
            return
        has_chosen = Asked.of(self.session, table, self.filters.row_filter).has_chosen
        self.filters.offer(table, has_chosen)
        asked = Asked.of(self.session, table, self.filters.row_filter)
        count = len(asked.runs[0][0].splits) if has_chosen else 1
        self.split_combo.offer(count, self.session.focus.split)
        self.controls.show(count > 1 and self.shows in (ROWS, GAPS), self.split_combo)
        if asked != self._finding.key:
            finder = self._finder
            self._finding.ask(asked, lambda post: finder.find(asked, post))
        elif not self._finding.busy:
            self._show_found()
        if self._finding.busy:
            self.filters.count.setText("Looking…")

    def _take(self, table: Table | None) -> None:
        """Show another table, or other roles of the same table."""
        before, self._table = self._table, table
        columns = () if table is None else table.columns
        self.card.has_dates = any(c.number and c.number.dated for c in columns)
        self._finding.forget()
        if before is None or table is None or before.sha256 != table.sha256:
            self._finder, self.found, self.column = Finder(), None, ""
            self._summing.forget()
            self.filters.put(RowFilter())
            self.sheet.show_found(None)
            self.back_button.hide()
        self.gaps.forget()
        self.correlation.forget()
        self.show_content(table is not None)
        self.show_combo.setVisible(table is not None)
        self.overview.show_table(table, self._classes)
        if table is None:
            self.card.show_column(None)
            self.sentence.setText(text("data_without_table"))
        elif self._pointed_column() is None:
            self.column = next(iter(table.features), table.columns[0]).name

    def _classes(self) -> Classes | None:
        table = self._table
        return None if table is None else self._finder.classes_of(table)

    def _on_unfound(self, words: str) -> None:
        # What was found before stays in sight.
        self.filters.show_problem(words[:1].upper() + words[1:])
        if self.found is not None:
            self.filters.show_count(len(self.found.rows), self.found.asked.table.rows)

    def _on_found(self, found: FoundRows) -> None:
        self.filters.show_problem("")
        self.found = found
        self.sheet.show_found(found)
        self.filters.show_count(len(found.rows), found.asked.table.rows)
        self._go()
        self._show_found()

    def _show_found(self) -> None:
        """Update the visible view for the rows, and the card for the column."""
        found = self.found
        if found is None:
            return
        if self.shows == ROWS:
            self.sheet.show_focus()
            self.explain_button.setEnabled(self.sheet.place()[0] is not None)
            self.sentence.setText(rows_sentence(found))
        elif self.shows == COLUMNS:
            self.overview.mark(self.column)
            self.overview.find_areas()
            self._conclude_column()
        elif self.shows == GAPS:
            self.gaps.show_found(found)
        else:
            self.correlation.show_table(found.asked.table, found.classes)
        self._sum_up()

    def fit_page(self) -> None:
        """Show the controls of the view; the card if there is room, and always with the columns."""
        least, shows, has_table = self.card.least_width(), self.shows, self._table is not None
        beside = _LEAST_LIST if shows == COLUMNS else _LEAST_SHEET
        wide = self.width() >= scaled(beside) + least + self._sides.spacing()
        directions = QBoxLayout.Direction
        self._sides.setDirection(directions.LeftToRight if wide else directions.TopToBottom)
        self._sides.setStretch(1, 0 if wide else 1)
        self.card.setMinimumWidth(least if wide else 0)
        self.card.setMaximumWidth(least if wide else _WIDEST)
        self.card.setVisible(has_table and (wide or shows == COLUMNS))
        self.filters.setVisible(shows in (ROWS, GAPS))
        for control in (self.save_button, self.filters.class_combo, self.filters.part_combo):
            control.setVisible(has_table and shows in (ROWS, GAPS))
        self.explain_button.setVisible(shows == ROWS and self.session.explains_rows)

    # ------------------------------------------------------------- the column

    def point_column(self, name: str) -> None:
        """Show the card of a column."""
        columns = () if self._table is None else self._table.columns
        if name != self.column and any(column.name == name for column in columns):
            self.column = name
            self._sum_up()
            self.overview.mark(name)

    def _pointed_column(self) -> Column | None:
        columns = () if self._table is None else self._table.columns
        return next((column for column in columns if column.name == self.column), None)

    def _sum_up(self) -> None:
        column, table = self._pointed_column(), self._table
        if column is None or table is None:
            self.card.show_column(None)
            return
        levels = levels_words([column], self.session.plan.preparation)
        self.card.show_column(column, *table.limited.get(column.name, (0, "")), used=levels)
        if self.card.isHidden():
            return
        # A role changes nothing of what the cells are, but for the label's. Cells that were read
        # again have another count.
        used = column.absent, column.parts, column.role == "label"
        key = column.different, table.label, table.positive, used
        if key != self._summing.key:
            self.card.show_summary(None)
            finder = self._finder
            self._summing.ask(
                key, lambda post: sum_up(column, finder.classes_of(table), stopping(post))
            )

    def _on_summary(self, summary: ColumnSummary) -> None:
        self.card.show_summary(summary)
        self._conclude_column()

    def _conclude_column(self) -> None:
        summary = self.card.summary
        if self.shows == COLUMNS:
            self.sentence.setText("" if summary is None else column_sentence(summary))

    def _edit(self, *words: str, **changes: Any) -> None:
        try:
            self.session.set_roles(*words, **changes)
        except InputError as error:
            self.card.show_problem(str(error))

    def _on_roles(self, roles: dict[str, str], refused: str) -> None:
        if roles:
            self._edit(roles=roles)
        if refused:
            self.session.message.emit(refused)

    def show_columns(self, left: str = "") -> None:
        """Show the list of columns; ``left`` is the previous page."""
        self._arrive(COLUMNS, left)
        self.refresh()
        self.overview.list.setFocus()

    def _arrive(self, what: str, left: str) -> None:
        self._show_view(what)
        self.back_button.setText(f"Back to {left}")
        self.back_button.setVisible(bool(left) and left != self.title)

    # ------------------------------------------------------------- the row

    def show_rows(self, rows: Sequence[int], part: str = "", left: str = "") -> None:
        """Show rows, or a part of the table defined by a run; ``left`` is the previous page."""
        self._arrive(ROWS, left)
        self._going = tuple(rows)
        if part or len(rows) > 1:
            self._unfilter(part or CHOSEN, tuple(rows))
        self.refresh()
        if not self._finding.busy:
            self._go()

    def _go(self) -> None:
        """Go to the requested rows; remove a filter that hides them."""
        rows, self._going = self._going, ()
        row_filter = self.filters.row_filter
        if rows and self.sheet.go_to(list(rows)):
            self.session.point_at(row=rows[0])
        elif rows and (
            row_filter.text or row_filter.of_class is not None or row_filter.part != ALL
        ):
            self._going = rows
            self.session.message.emit(text("data_unfiltered"))
            self._unfilter()
            self.session.turns.ask(self.refresh)

    def _unfilter(self, part: str = ALL, chosen: tuple[int, ...] = ()) -> None:
        """Filter by a part of the rows only, in the current order."""
        before = self.filters.row_filter
        order, down = before.order, before.descending
        self.filters.put(RowFilter(part=part, chosen=chosen, order=order, descending=down))

    def _on_explain(self) -> None:
        row = self.session.focus.row
        if row is not None:
            self.session.explain_row(row)

    def _on_pointed(self, row: int, column: str) -> None:
        self.point_column(column)
        self.session.point_at(row=row)

    def _on_gap(self, row: int, column: str) -> None:
        self.point_column(column)
        self.session.point_at(row=row)
        self._show_view(ROWS)
        self.sheet.go_to([row], column)

    def _on_show(self) -> None:
        self.pages.setCurrentIndex(self.show_combo.currentIndex())
        self.correlation.kind_combo.setVisible(self.shows == CORRELATION)
        if self.shows != COLUMNS:
            self.overview.rest()
        self.refresh()

    def _on_back(self) -> None:
        self.back_button.hide()
        self.session.asked.emit("back", ())
