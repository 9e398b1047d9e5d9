"""Table of candidates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics

from aucstudio.engine.types import Array, Index
from aucstudio.gui.common.table import Row, SheetModel, TableView
from aucstudio.gui.pages.search.results import CandidateStanding, Setting
from aucstudio.notices.words import figure_words
from aucstudio.project.runs.tuning import METRICS, Candidate

_UP, _DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


@dataclasses.dataclass(frozen=True)
class CandidateSheet:
    """The table of candidates."""

    heads: tuple[str, ...]
    tips: Mapping[int, str]
    rows: tuple[Row, ...]


class CandidateModel(SheetModel):
    """Candidates, sorted by a column; the selected row stays selected."""

    def __init__(self, parent: QObject | None) -> None:
        super().__init__((), {}, (), parent)

    def show_sheet(self, sheet: CandidateSheet) -> bool:
        """Show candidates; return whether the table must be sorted again."""
        if sheet.heads == self.heads and len(sheet.rows) == len(self.items):
            self.items = list(sheet.rows)
            self.sort(self.by, _DOWN if self.backwards else _UP)
            return False
        self.beginResetModel()
        self.tips, self.words = dict(sheet.tips), frozenset({len(sheet.heads) - 1})
        self.heads = sheet.heads
        self.by, self.items, self.shown = -1, list(sheet.rows), list(range(len(sheet.rows)))
        self.endResetModel()
        return True

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        text = super().headerData(section, orientation, role)
        if role != Qt.ItemDataRole.DisplayRole or text is None or section != self.by:
            return text
        return f"{text} {'▾' if self.backwards else '▴'}"

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        super().sort(column, order)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.heads) - 1)


@dataclasses.dataclass(frozen=True)
class _Column:
    head: str
    tip: str
    cells: list[str]
    keys: Sequence[Any]


def candidate_sheet(
    settings: Sequence[Setting], standing: CandidateStanding, chosen: Index | None, is_live: bool
) -> CandidateSheet:
    """Format the table: rank, settings, mean, standard error, folds tested, remark."""
    found = standing.search.candidates
    ranks = standing.ranks.tolist()
    remarks = [_remark(standing, k, is_live) for k in range(len(found))]
    columns = [
        _Column("Rank", "", [str(rank or "–") for rank in ranks], [rank or None for rank in ranks]),
        *(_setting_column(setting, found) for setting in settings),
        *_area_columns(standing, "folds" if chosen is None else "splits"),
    ]
    if chosen is not None:
        cells = [f"{count} of {chosen.sum()}" if count else "–" for count in chosen]
        tip = "Splits in which the candidate ranked best"
        columns.append(_Column("Chosen", tip, cells, chosen.tolist()))
    columns.append(_Column("Remark", "", remarks, [remark or None for remark in remarks]))
    lines = zip(*(column.cells for column in columns), strict=True)
    keys = zip(*(column.keys for column in columns), strict=True)
    return CandidateSheet(
        tuple(column.head for column in columns),
        {k: column.tip for k, column in enumerate(columns) if column.tip},
        tuple(
            Row(cells, strong=k == standing.top, keys=by)
            for k, (cells, by) in enumerate(zip(lines, keys, strict=True))
        ),
    )


def _setting_column(setting: Setting, found: Sequence[Candidate]) -> _Column:
    cells = [setting.spell(one[setting.name]) for one in found]
    return _Column(setting.symbol, setting.declared.help, cells, setting.index(found).tolist())


def _area_columns(standing: CandidateStanding, units: str) -> list[_Column]:
    """Return the columns of means and, with several folds, errors and counts."""
    of = standing.search.areas.shape[1]
    over = f", mean of the {units}" if of > 1 else ""
    columns = [
        _figures(
            "Mean" if of > 1 else "Area", METRICS[standing.search.metric] + over, standing.means
        )
    ]
    if of > 1:
        counts = standing.counts.tolist()
        cells = [f"{count} of {of}" if count < of else str(of) for count in counts]
        tip = f"{units.capitalize()} that the candidate was tested on"
        columns.append(_figures("Error", f"Standard error over the {units}", standing.errors))
        columns.append(_Column(units.capitalize(), tip, cells, counts))
    return columns


def _figures(head: str, tip: str, values: Array) -> _Column:
    numbers = values.tolist()
    keys = [None if math.isnan(number) else number for number in numbers]
    return _Column(head, tip[:1].upper() + tip[1:], [figure_words(n) for n in numbers], keys)


def _remark(standing: CandidateStanding, k: int, is_live: bool) -> str:
    if k in standing.search.problems:
        return standing.search.problems[k]
    if k == standing.top:
        if standing.is_whole:
            return "best"
        return "leads so far" if is_live else "led"
    top = standing.top
    if top is None or not standing.ranks[k]:
        return ""
    if standing.ranks[k] == 1:
        return "not significantly different from the best"
    near = standing.means[k] >= standing.means[top] - standing.errors[top]
    return "within one standard error" if near else ""


_LEAST_HEIGHT = 96
_CELL_AIR = 16


class CandidateTable(TableView):
    """Candidates in rows, sorted by a click on a head; one is selected.

    Attributes
    ----------
    chosen : Signal(int)
        Another row's candidate.
    candidates : CandidateModel
    """

    chosen = Signal(int)

    def __init__(self) -> None:
        self.candidates = CandidateModel(None)
        super().__init__("search_table", "Candidates", self.candidates, 26)
        self.setMinimumHeight(_LEAST_HEIGHT)
        header = self.horizontalHeader()
        header.setStretchLastSection(True)
        self.setSortingEnabled(True)
        # Qt's own mark lies over the words: the model writes one.
        header.setSortIndicatorShown(False)
        self.selectionModel().currentRowChanged.connect(self._on_row)

    def show_sheet(self, sheet: CandidateSheet, area: int) -> None:
        """Show candidates; a table of another shape is sorted by its column ``area``."""
        if self.candidates.show_sheet(sheet):
            self._fit_columns(sheet)
            self.sortByColumn(area, Qt.SortOrder.DescendingOrder)

    def mark(self, candidate: int | None, *, follow: bool) -> None:
        """Select the row of a candidate; scroll to it if ``follow``."""
        if candidate is None:
            self.clearSelection()
            return
        row = self.candidates.shown.index(candidate)
        bar = self.verticalScrollBar()
        place = bar.value()
        if not self.selectionModel().isRowSelected(row, QModelIndex()):
            self.selectRow(row)
            if not follow:
                bar.setValue(place)

    def _fit_columns(self, sheet: CandidateSheet) -> None:
        """Fit columns to their texts and to figures that are not computed yet.

        Qt would ask for the looks of every cell: ten times slower.
        """
        font, head_font = self.font(), self.horizontalHeader().fontMetrics()
        font.setBold(True)
        measure = QFontMetrics(font).horizontalAdvance
        for k, head in enumerate(sheet.heads[:-1]):
            words = {"0.000", *(row.cells[k] for row in sheet.rows)}
            wide = max(head_font.horizontalAdvance(f"{head} ▾"), *map(measure, words))
            self.setColumnWidth(k, wide + _CELL_AIR)

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.candidates.shown[index.row()])
