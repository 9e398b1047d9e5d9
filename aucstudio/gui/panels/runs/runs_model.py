"""Table model of runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush, QColor

from aucstudio.gui.common.plain_text import tip_text
from aucstudio.gui.common.plotting import swatch
from aucstudio.gui.common.table import TableModel
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.panels.runs.columns import COLUMNS, NAME, NOTES, RowContent
from aucstudio.gui.panels.runs.figures import RunFigures, RunValues, run_figures
from aucstudio.gui.panels.runs.run_order import Row, RunOrder, Section
from aucstudio.gui.panels.runs.run_texts import facts_of, known_facts
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.gui.state.timers import delayed
from aucstudio.project.runs.record import RunRecord

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

BELOW, CAUTION = Role.UserRole, Role.UserRole + 1
"""Roles of the second line of a cell, and of the caution about a run."""

_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_EDITED = _PLAIN | Qt.ItemFlag.ItemIsEditable
_FLAGS = [
    {NAME: _EDITED | Qt.ItemFlag.ItemIsUserCheckable, NOTES: _EDITED}.get(column.key, _PLAIN)
    for column in COLUMNS
]
_SORT_PAUSE = 400  # milliseconds between two sorts while figures arrive


class RunsModel(TableModel):
    """One row for each run in the chosen order, with heads of groups.

    Attributes
    ----------
    moved : Signal
        Rows were added, removed or moved.
    runs : list of ShownRun
        All listed runs of the study, shown or not.
    order : RunOrder
    figures : RunValues
    """

    moved = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(COLUMNS, session)
        self.session = session
        self.order = RunOrder()
        self.runs: list[ShownRun] = []
        self._places: dict[str, int] = {}
        band = session.plan.band
        self.figures = RunValues(self, run_figures, band)
        self._facts = RunValues(self, lambda record, _band: facts_of(record), band)
        self._again = delayed(self, _SORT_PAUSE, self.refresh)
        self.figures.arrived.connect(self._on_figures)
        self._facts.arrived.connect(self._on_facts)
        session.listen(self.refresh, "runs")
        session.listen(self._on_band, "band_rested")
        self.refresh()

    # ------------------------------------------------------------- rows

    def refresh(self) -> None:
        """Show the runs of the session in the present order."""
        self.runs = runs = self.session.shown_runs()
        self._facts.ask(run.record for run in runs if known_facts(run.record) is None)
        if self.order.needs_figures():
            self.figures.ask(run.record for run in reversed(runs) if run.record.splits)
        rows = self.order.rows(runs, self._content)
        self._places = {row.record.id: k for k, row in enumerate(rows) if isinstance(row, ShownRun)}
        self.replace(rows, _key)
        self.moved.emit()

    def set_order(self, **changes: Any) -> None:
        """Change the sort order, the groups or the filter."""
        order = dataclasses.replace(self.order, **changes)
        if order != self.order:
            self.order = order
            self.refresh()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        key = COLUMNS[column].key if 0 <= column < len(COLUMNS) else ""
        self.set_order(column=key, descending=order == Qt.SortOrder.DescendingOrder)

    def toggle(self, section: Section) -> None:
        """Fold or unfold a group."""
        self.set_order(closed=self.order.closed ^ {section.key})

    def run_at(self, row: int) -> ShownRun | None:
        """Return the run of a row; None for the head of a group."""
        found = self.items[row] if 0 <= row < len(self.items) else None
        return found if isinstance(found, ShownRun) else None

    def section_at(self, row: int) -> Section | None:
        """Return the group head of a row; None for a run."""
        found = self.items[row] if 0 <= row < len(self.items) else None
        return found if isinstance(found, Section) else None

    def row_of(self, run: str | None) -> int:
        """Return the row of a run; -1 if it has none."""
        return -1 if run is None else self._places.get(run, -1)

    def listed(self) -> list[ShownRun]:
        """List the runs that have a row."""
        return [row for row in self.items if isinstance(row, ShownRun)]

    def sections(self) -> Iterator[int]:
        """Return the rows that are heads of groups."""
        return (k for k, row in enumerate(self.items) if isinstance(row, Section))

    def _on_figures(self, records: list[RunRecord]) -> None:
        places = [self._places[one.id] for one in records if one.id in self._places]
        if places:
            first, last = self.index(min(places), 0), self.index(max(places), len(COLUMNS) - 1)
            self.dataChanged.emit(first, last)
        if self.order.needs_figures() and not self._again.isActive():
            self._again.start()

    def _on_facts(self, _records: list[RunRecord]) -> None:
        if self.order.needle and not self._again.isActive():
            self._again.start()

    def _on_band(self) -> None:
        self.figures.set_band(self.session.plan.band)
        self.touch()
        if self.order.needs_figures():
            self._again.start()

    # ------------------------------------------------------------- Qt

    def flags(self, index: Index) -> Qt.ItemFlag:
        # Called for every cell of a selection of thousands of rows.
        if self.run_at(index.row()) is not None:
            return _FLAGS[index.column()]
        return Qt.ItemFlag.ItemIsEnabled if index.isValid() else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        section = self.section_at(index.row())
        if section is not None:
            return _section_data(section, index.column(), role)
        shown = self.run_at(index.row())
        if shown is None:
            return None
        key = COLUMNS[index.column()].key
        if key == NAME and role == Role.CheckStateRole:
            return Qt.CheckState.Checked if shown.look.visible else Qt.CheckState.Unchecked
        if key == NAME and role == Role.DecorationRole:
            return swatch(shown.look)
        if key == NAME and role == CAUTION:
            return facts_of(shown.record).caution
        if role == Role.EditRole:
            return shown.look.notes if key == NOTES else shown.look.name
        return self._figure_data(shown, index.column(), role)

    def _figure_data(self, shown: ShownRun, place: int, role: int) -> Any:
        column = COLUMNS[place]
        if role == Role.TextAlignmentRole:
            return self.side(place)
        if role == Role.ForegroundRole:
            stale = bool(shown.record.splits) and not self.figures.is_current(shown.record)
            muted = column.is_figure and stale
            return QBrush(QColor(current_theme().muted)) if muted else None
        if role not in (Role.DisplayRole, Role.ToolTipRole, BELOW):
            return None
        content = self._content(shown, ask=column.is_figure)
        if role == Role.ToolTipRole:
            return tip_text((column.about or column.text)(content) or column.text(content))
        below = column.below(content) if column.below is not None else ""
        if role == BELOW:
            return below
        return " ".join(filter(None, (column.text(content), below)))

    def _content(self, shown: ShownRun, *, ask: bool = False) -> RowContent:
        values = self.figures
        ask = ask and bool(shown.record.splits)
        found: RunFigures | None = (values.of if ask else values.known)(shown.record)
        lost = found is None and values.is_current(shown.record)
        return RowContent(shown, found, self.session.plan.band, lost)

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        shown = self.run_at(index.row())
        if shown is None:
            return False
        run, text = shown.record.id, str(value).strip()
        if role == Role.CheckStateRole:
            checked = Qt.CheckState(value) == Qt.CheckState.Checked
            self.session.set_look(run, "Show or hide run", visible=checked)
        elif role == Role.EditRole and COLUMNS[index.column()].key == NOTES:
            self.session.set_look(run, "Edit notes", notes=text)
        elif role == Role.EditRole and text:
            self.session.set_look(run, "Rename run", name=text)
        else:
            return False
        return True


def _key(row: Row) -> str:
    # The sign distinguishes a group from a run.
    return row.record.id if isinstance(row, ShownRun) else f"§{row.key}"


def _section_data(section: Section, column: int, role: int) -> Any:
    if column == 0 and role == Role.DisplayRole:
        return section.title
    if role == Role.ForegroundRole:
        return QBrush(QColor(current_theme().muted))
    return None
