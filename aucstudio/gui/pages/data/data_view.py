"""Data: the rows of the table, what its columns hold, what is missing, what goes together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    explain_button,
    hint_label,
    named,
)
from aucstudio.gui.pages.data import words as saying
from aucstudio.gui.pages.data.card import ColumnCard
from aucstudio.gui.pages.data.filters import Filters
from aucstudio.gui.pages.data.lookup import Asked, Finder, FoundRows, RowWish, stop_if_asked
from aucstudio.gui.pages.data.overview import Overview
from aucstudio.gui.pages.data.pictures import CorrelationPage, GapPage
from aucstudio.gui.pages.data.sheet import RowsSheet
from aucstudio.gui.pages.data.taking import Taking
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session
from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.survey.classes import Classes
from aucstudio.project.survey.scored import ALL, CHOSEN
from aucstudio.project.survey.summary import ColumnSummary, sum_up
from aucstudio.project.work.job import Job, describe_failure

ROWS, COLUMNS, GAPS, CORRELATION = "rows", "columns", "gaps", "correlation"
_SHOWN = {COLUMNS: "Columns", ROWS: "Rows", GAPS: "Missing values", CORRELATION: "Correlation"}
_LEAST_SHEET = 330  # pixels beside the card


class DataView(PageView):
    """The table itself; the row that is pointed at is that of the session's focus.

    Attributes
    ----------
    filters : Filters
    sheet : RowsSheet
    overview : Overview
    gaps : GapPage
    correlation : CorrelationPage
    card : ColumnCard
    found : Found or None
        The rows that are shown.
    column : str
        The column that is pointed at.
    """

    listens_to: ClassVar = {
        "table_changed": "mark_stale",
        "runs_changed": "mark_stale",
        "selection_changed": "mark_stale",
        "focus_changed": "_on_focus",
    }

    def __init__(self, session: Session) -> None:
        super().__init__(session, "data_view", "Data")
        self.found: FoundRows | None = None
        self.column = ""
        self._finder = Finder()
        self._table: Table | None = None
        self._going: tuple[int, ...] = ()
        self._finding = Background(self, self._on_found)
        self._summing = Background(self, self._on_summary)
        self.filters, self.card = Filters(), ColumnCard()
        self.sheet = RowsSheet(lambda: session.explains_rows)
        self.taking = Taking(session, self.sheet)
        self.save_button = self.taking.save_button
        self.overview = Overview()
        self.gaps, self.correlation = GapPage(), CorrelationPage()
        self._make_controls()
        self._lay_out()
        self._connect()

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        row = self.controls
        self.back_button = row.put(
            named(QPushButton(), "data_back_button", "Back to the page of before")
        )
        self.show_combo = row.choice(
            "data_show_combo",
            "",
            "The rows, the columns, where values are missing, or what goes together",
            [(words, what) for what, words in _SHOWN.items()],
            self._on_show,
            says="What is shown of the table",
        )
        self.split_combo = named(ElidedCombo(), "data_split_combo", "Split of the chosen run")
        chosen_by = self.filters.class_combo, self.filters.part_combo, self.split_combo
        for widget in (*chosen_by, *self.correlation.controls()):
            row.put(widget)
        row.show(False, self.back_button, self.split_combo)
        row.addStretch(1)
        self.explain_button = row.put(explain_button("data_explain_button"))
        row.put(self.save_button)

    def _lay_out(self) -> None:
        self.hint = hint_label("data_hint")
        self.hint.setText("No table yet")
        self.pages = QStackedWidget()
        for page in (self.overview, self.sheet, self.gaps, self.correlation):
            self.pages.addWidget(page)
        self._main = QWidget()
        column = QVBoxLayout(self._main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.filters)
        column.addWidget(self.pages, stretch=1)
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._sides.setSpacing(16)
        self._sides.addWidget(self._main, stretch=1)
        self._sides.addWidget(self.card, stretch=0)
        self.body.addWidget(self.hint, stretch=1)
        self.body.addLayout(self._sides, stretch=1)

    def _connect(self) -> None:
        session = self.session
        self.split_combo.activated.connect(lambda split: session.point_at(split=split))
        self.back_button.clicked.connect(self._on_back)
        self.filters.changed.connect(self.refresh)
        self.sheet.pointed.connect(self._on_pointed)
        self.sheet.horizontalHeader().sectionClicked.connect(
            lambda place: self.point_column(self.sheet.model_.columns[place].name)
        )
        self.sheet.sorting.connect(lambda name, down: self.filters.ask(order=name, descending=down))
        self.sheet.narrowing.connect(self.filters.narrow)
        self.sheet.explaining.connect(session.explain_row)
        self.explain_button.clicked.connect(self._on_explain)
        self.overview.pointed.connect(self.point_column)
        self.card.role_chosen.connect(self._on_role)
        self.card.parts_chosen.connect(self._on_parts)
        self.gaps.clicked.connect(self._on_gap)
        for page in (self.gaps, self.correlation):
            page.said.connect(self._tell)
        self.correlation.clicked.connect(self.point_column)

    # ------------------------------------------------------------- what the frame asks

    @property
    def shows(self) -> str:
        """What is shown of the table."""
        return str(self.show_combo.currentData())

    def figure(self) -> Plot:
        pictures = {GAPS: self.gaps.picture.plot, CORRELATION: self.correlation.picture.plot}
        return pictures.get(self.shows, self.card.spread.plot)

    def plots(self) -> list[Plot]:
        small = self.card.spread.plot, self.card.roc.plot
        return [*small, self.gaps.picture.plot, self.correlation.picture.plot]

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        data = {GAPS: self.gaps.picture.data, CORRELATION: self.correlation.picture.data}
        return data.get(self.shows, self.card.spread.data)()

    def busy(self) -> bool:
        parts = self.overview, self.gaps, self.correlation, self.taking
        works = self._finding, self._summing
        return any(work.busy for work in works) or any(part.busy() for part in parts)

    def retheme(self) -> None:
        self.sheet.model_.retheme()
        self.gaps.retheme()
        self.correlation.retheme()
        super().retheme()
        if self.card.summary is not None:
            self.card.show_summary(self.card.summary)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.overview.rest()

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        table = self.session.table
        if table is None or table is not self._table:
            self._take(table)
        for widget in (self.filters.class_combo, self.filters.part_combo):
            widget.setVisible(table is not None and self.shows in (ROWS, GAPS))
        self._fit()
        if table is None:
            return
        asked = Asked.of(self.session, table, self.filters.wish)
        self.filters.offer(table, asked.has_chosen)
        asked = Asked.of(self.session, table, self.filters.wish)
        self._offer_splits(asked)
        if asked != self._finding.key:
            finder = self._finder
            self._finding.start(asked, lambda post: finder.find(asked, post))
        elif not self._finding.busy:
            self._show_found()
        if self._finding.busy:
            self.filters.count.setText("Looking…")

    def _take(self, table: Table | None) -> None:
        """Begin with another table, or with other roles of the same."""
        before, self._table = self._table, table
        columns = () if table is None else table.columns
        self.card.has_dates = any(c.number and c.number.dated for c in columns)
        self._finding.drop()
        same = before is not None and table is not None and before.sha256 == table.sha256
        if not same:
            self._finder, self.found = Finder(), None
            self.taking.found = None
            self._summing.drop()
            self.filters.put(RowWish())
            self.sheet.show_found(None)
            self._forget_back()
            self.column = ""
        self.gaps.forget()
        self.correlation.forget()
        self.hint.setVisible(table is None)
        self._main.setVisible(table is not None)
        for control in (self.show_combo, self.save_button):
            control.setVisible(table is not None)
        self.overview.show_table(table, self._classes)
        if table is None:
            self.card.show_column(None)
            self._tell("Open a table to see its rows and what its columns hold.")
        elif self._pointed_column() is None:
            first = next(iter(table.features), table.columns[0])
            self.column = first.name

    def _classes(self) -> Classes | None:
        table = self._table
        return None if table is None else self._finder.classes_of(table)

    def _offer_splits(self, asked: Asked) -> None:
        count = len(asked.runs[0][0].splits) if asked.has_chosen else 1
        if self.split_combo.count() != count:
            self.split_combo.clear()
            self.split_combo.addItems([f"Split {k + 1} of {count}" for k in range(count)])
        self.split_combo.setCurrentIndex(min(self.session.focus.split, count - 1))
        self.split_combo.setVisible(count > 1 and self.shows in (ROWS, GAPS))

    def _on_found(self, _asked: Asked, job: Job[float, FoundRows]) -> None:
        if job.error is not None:
            # What was found before stays in sight.
            known = isinstance(job.error, InputError)
            words = describe_failure(job.error)[0]
            self.filters.show_problem(words[:1].upper() + words[1:] if known else words)
            if self.found is not None:
                self.filters.show_count(len(self.found.rows), self.found.asked.table.rows)
            return
        self.filters.show_problem("")
        found = self.found = job.result
        assert found is not None
        self.sheet.show_found(found)
        self.taking.found = found
        self.filters.show_count(len(found.rows), found.asked.table.rows)
        self._go()
        self._show_found()

    def _show_found(self) -> None:
        """Bring what is shown up to date with the rows, and the card with the column."""
        found = self.found
        if found is None:
            return
        if self.shows == ROWS:
            self._tell(saying.rows_sentence(found))
        elif self.shows == COLUMNS:
            self.overview.mark(self.column)
            self.overview.find_areas()
            self._tell_column()
        elif self.shows == GAPS:
            self.gaps.show_found(found)
        else:
            self.correlation.show_table(found.asked.table, found.classes)
        self._sum_up()

    def _tell(self, words: Any) -> None:
        self.sentence.setText(words)

    def _fit(self) -> None:
        """Show the card where there is room; beside the list of columns it always is."""
        room = scaled(_LEAST_SHEET) + self.card.least_width() + self._sides.spacing()
        wide, columns = self.width() >= room, self.shows == COLUMNS
        has_table = self._table is not None
        directions = QBoxLayout.Direction
        self._sides.setDirection(directions.LeftToRight if wide else directions.TopToBottom)
        self._sides.setStretch(1, 0 if wide else 1)
        self.card.setFixedWidth(self.card.least_width()) if wide else self._widen()
        self.card.setVisible(has_table and (wide or columns))
        self.filters.setVisible(self.shows in (ROWS, GAPS))
        self.save_button.setVisible(has_table and self.shows in (ROWS, GAPS))
        self._offer_explaining()

    def _widen(self) -> None:
        self.card.setMinimumWidth(0)
        self.card.setMaximumWidth(16_777_215)  # Qt's own bound: as wide as the page

    # ------------------------------------------------------------- the column

    def point_column(self, name: str) -> None:
        """Show the card of a column."""
        if name and name != self.column and self._is_of_table(name):
            self.column = name
            self._sum_up()
            self.overview.mark(name)

    def _is_of_table(self, name: str) -> bool:
        return self._table is not None and any(c.name == name for c in self._table.columns)

    def _pointed_column(self) -> Column | None:
        columns = () if self._table is None else self._table.columns
        return next((column for column in columns if column.name == self.column), None)

    def _sum_up(self) -> None:
        column, table = self._pointed_column(), self._table
        self.card.show_column(column)
        if column is None or table is None or self.card.isHidden():
            return
        # A role changes nothing of what the cells are, but for the label's.
        key = table.sha256, table.label, table.positive, column.name, column.role == "label"
        if key == self._summing.key:
            return
        self.card.show_summary(None)
        finder = self._finder
        self._summing.start(
            key,
            lambda post: sum_up(column, finder.classes_of(table), lambda: stop_if_asked(post)),
        )

    def _on_summary(self, _key: object, job: Job[float, ColumnSummary]) -> None:
        if job.result is None:
            self.card.show_summary(None)
            self.card.show_problem("" if job.error is None else describe_failure(job.error)[0])
            return
        self.card.show_summary(job.result)
        self._tell_column()

    def _tell_column(self) -> None:
        if self.shows == COLUMNS:
            summary = self.card.summary
            self._tell("" if summary is None else saying.column_sentence(summary))

    def _on_role(self, name: str, role: str) -> None:
        try:
            self.session.set_roles(roles={name: role})
        except InputError as error:
            self.card.show_problem(str(error))

    def _on_parts(self, name: str, parts: tuple[str, ...]) -> None:
        try:
            self.session.set_roles(f"Change parts of {name}", parts={name: parts})
        except InputError as error:
            self.card.show_problem(str(error))

    # ------------------------------------------------------------- the row

    def show_rows(self, rows: Sequence[int], part: str = "", left: str = "") -> None:
        """Show a row, or several, or a part of the table that a run made; ``left`` is whence."""
        self.show_combo.setCurrentIndex(self.show_combo.findData(ROWS))
        self.back_button.setText(f"Back to {left}")
        self.back_button.setVisible(bool(left) and left != self.title)
        self._going = tuple(rows)
        if part or len(rows) > 1:
            self._unfilter(part or CHOSEN, tuple(rows))
        self.refresh()
        if not self._finding.busy:
            self._go()

    def _go(self) -> None:
        """Go to the rows that are asked for; a filter that hides them is taken away."""
        rows, self._going = self._going, ()
        if not rows or self.sheet.go_to(list(rows)):
            return
        wish = self.filters.wish
        if wish.text or wish.of_class is not None or wish.part != ALL:
            self._going = rows
            self.session.told.emit("The filter was taken away: it hid the row")
            self._unfilter()
            self.session.turns.ask(self.refresh)

    def _unfilter(self, part: str = ALL, chosen: tuple[int, ...] = ()) -> None:
        """Ask for a part of the rows and nothing else, in the order in which they are sorted."""
        before = self.filters.wish
        order, down = before.order, before.descending
        self.filters.put(RowWish(part=part, chosen=chosen, order=order, descending=down))

    def _offer_explaining(self) -> None:
        self.explain_button.setVisible(self.shows == ROWS and self.session.explains_rows)
        self.explain_button.setEnabled(self.session.focus.row is not None)

    def _on_explain(self) -> None:
        row = self.session.focus.row
        if row is not None:
            self.session.explain_row(row)

    def _on_pointed(self, row: int, column: str) -> None:
        self.point_column(column)
        self.session.point_at(row=row)

    def _on_focus(self) -> None:
        if not self.isVisible():
            self.mark_stale()
            return
        self.refresh()
        row = self.session.focus.row
        if row is not None and row != self.sheet.place()[0]:
            self.sheet.go_to([row])

    def _on_gap(self, row: int, column: str) -> None:
        self.point_column(column)
        self.show_combo.setCurrentIndex(self.show_combo.findData(ROWS))
        self.sheet.go_to([row], column)
        self.session.point_at(row=row)

    def _on_show(self) -> None:
        self.pages.setCurrentIndex(self.show_combo.currentIndex())
        self.correlation.show_controls(self.shows == CORRELATION)
        if self.shows != COLUMNS:
            self.overview.rest()
        self.refresh()

    def _on_back(self) -> None:
        self._forget_back()
        self.session.back_asked.emit()

    def _forget_back(self) -> None:
        self.back_button.hide()
