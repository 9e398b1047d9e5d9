"""Table of candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QHeaderView

from aucstudio.engine.arrays import Index
from aucstudio.gui.common.table import Row, SheetTable
from aucstudio.gui.pages.search.results import CandidateStanding, Setting
from aucstudio.notices import text
from aucstudio.notices.words import figure_words
from aucstudio.project.runs.tuning import METRICS

_LEAST_HEIGHT = 96


class _Column(NamedTuple):
    head: str
    tip: str
    cells: list[str]
    keys: Sequence[Any]


class CandidateTable(SheetTable):
    """Candidates in rows, sorted by a click on a head; one is selected.

    Attributes
    ----------
    chosen : Signal(int)
        Another row's candidate.
    """

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__("search_table", "Candidates", ("Rank",), 26)
        self.setMinimumHeight(_LEAST_HEIGHT)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        self.setSortingEnabled(True)
        # Qt's own mark lies over the words.
        header.setSortIndicatorShown(False)
        header.sortIndicatorChanged.connect(self._on_order)
        self._heads: tuple[str, ...] = ()
        self.selectionModel().currentRowChanged.connect(self._on_row)

    def show_candidates(
        self,
        settings: Sequence[Setting],
        standing: CandidateStanding,
        chosen: Index | None,
        is_live: bool,
    ) -> None:
        """Show the candidates: rank, settings, mean, standard error, folds tested, remark."""
        columns = _columns(settings, standing, chosen, is_live)
        heads = tuple(column.head for column in columns)
        lines = zip(*(column.cells for column in columns), strict=True)
        keys = zip(*(column.keys for column in columns), strict=True)
        rows = [
            Row(cells, strong=k == standing.top, keys=by)
            for k, (cells, by) in enumerate(zip(lines, keys, strict=True))
        ]
        area = 1 + len(settings)
        if heads == self._heads and len(rows) == len(self.sheet.items):
            # The settings of a candidate identify its row.
            self.sheet.replace(rows, lambda row: row.cells[1:area])
        else:
            self._heads = heads
            self.sheet.tips = {k: column.tip for k, column in enumerate(columns) if column.tip}
            self.sheet.words = frozenset({len(heads) - 1})
            self.sheet.by = -1
            self.show_rows(rows, heads)
            self.sortByColumn(area, Qt.SortOrder.DescendingOrder)

    def mark(self, candidate: int | None, *, follow: bool) -> None:
        """Select the row of a candidate; scroll to it if ``follow``."""
        if candidate is None:
            self.clearSelection()
            return
        row = self.sheet.shown.index(candidate)
        bar = self.verticalScrollBar()
        place = bar.value()
        if not self.selectionModel().isRowSelected(row, QModelIndex()):
            self.selectRow(row)
            if not follow:
                bar.setValue(place)

    def _on_order(self, column: int, order: Qt.SortOrder) -> None:
        """Mark the head of the sorted column."""
        mark = "▾" if order == Qt.SortOrder.DescendingOrder else "▴"
        heads = list(self._heads)
        heads[column] = f"{heads[column]} {mark}"
        self.sheet.heads = tuple(heads)
        self.sheet.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(heads) - 1)

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.sheet.shown[index.row()])


def _columns(
    settings: Sequence[Setting], standing: CandidateStanding, chosen: Index | None, is_live: bool
) -> list[_Column]:
    found, ranks = standing.search.candidates, standing.ranks.tolist()
    units = "folds" if chosen is None else "splits"
    of, metric = standing.search.areas.shape[1], METRICS[standing.search.metric]
    columns = [_Column("Rank", "", [str(k or "–") for k in ranks], [k or None for k in ranks])]
    for setting in settings:
        cells = [setting.spell(one[setting.name]) for one in found]
        keys = setting.index(found).tolist()
        columns.append(_Column(setting.symbol, setting.declared.help, cells, keys))
    mean = metric[:1].upper() + metric[1:]
    if of == 1:
        columns.append(_figures("Area", mean, standing.means.tolist()))
    else:
        counts = standing.counts.tolist()
        cells = [f"{count} of {of}" if count < of else str(of) for count in counts]
        error, tip = text("tuned_error_tip", units=units), text("tuned_units_tip", units=units)
        columns.append(_figures("Mean", f"{mean}, mean of the {units}", standing.means.tolist()))
        columns.append(_figures("Error", error, standing.errors.tolist()))
        columns.append(_Column(units.capitalize(), tip, cells, counts))
    if chosen is not None:
        cells = [f"{count} of {chosen.sum()}" if count else "–" for count in chosen]
        columns.append(_Column("Chosen", text("tuned_chosen_tip"), cells, chosen.tolist()))
    remarks = [_remark(standing, k, is_live) for k in range(len(found))]
    columns.append(_Column("Remark", "", remarks, [remark or None for remark in remarks]))
    return columns


def _figures(head: str, tip: str, numbers: list[float]) -> _Column:
    keys = [None if math.isnan(number) else number for number in numbers]
    return _Column(head, tip, [figure_words(number) for number in numbers], keys)


def _remark(standing: CandidateStanding, k: int, is_live: bool) -> str:
    top = standing.top
    if k in standing.search.problems:
        return standing.search.problems[k]
    if k == top:
        return "best" if standing.is_whole else "leads so far" if is_live else "led"
    if top is None or not standing.ranks[k]:
        return ""
    if standing.ranks[k] == 1:
        return text("tuned_level")
    near = standing.means[k] >= standing.means[top] - standing.errors[top]
    return text("tuned_near") if near else ""
