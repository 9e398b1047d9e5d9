"""The table of candidates on the page."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QFontMetrics

from aucstudio.gui.common.table import TableView
from aucstudio.gui.pages.search.sheet import CandidateModel, CandidateSheet

_LEAST_HEIGHT = 96
_CELL_AIR = 16


class CandidateTable(TableView):
    """Candidates in rows, sorted by a click on a head; one of them is chosen.

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
        """Select a candidate's row; the table moves there only if it is to follow."""
        if candidate is None:
            self.clearSelection()
            return
        row = self.candidates.order.index(candidate)
        bar = self.verticalScrollBar()
        place = bar.value()
        if not self.selectionModel().isRowSelected(row, QModelIndex()):
            self.selectRow(row)
            if not follow:
                bar.setValue(place)

    def _fit_columns(self, sheet: CandidateSheet) -> None:
        """Make columns as wide as their words, and as the figures that are still to come.

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
            self.chosen.emit(self.candidates.order[index.row()])
