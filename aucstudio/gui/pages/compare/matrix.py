"""Matrix of pairwise differences; significant ones are tinted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from aucstudio.gui.common.plain_text import tip_text
from aucstudio.gui.common.plotting import MARKER, faded, swatch
from aucstudio.gui.common.table import Index
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.compare.shown_comparison import ShownComparison
from aucstudio.gui.pages.compare.tables import rank_cell, tally_cell
from aucstudio.gui.pages.compare.words import pair_sentence, rows_words
from aucstudio.gui.state.plan import RunLook
from aucstudio.notices import words
from aucstudio.project.results.comparison import PairComparison

_TALLY = "Wins/ties/\nlosses"
_TINT = 64
_AIR = 16
_NAME_WIDTH = 128  # at least, where the names need as much

_CENTRE = Qt.AlignmentFlag.AlignCenter
_ROLE = Qt.ItemDataRole


class PairMatrix(QAbstractTableModel):
    """Runs against runs, best first; the last column counts wins, ties and losses."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._looks: Sequence[RunLook] = ()
        self._about = "", ""
        self._cells: dict[tuple[int, int], PairComparison] = {}
        self._standings: list[str] = []

    def show_comparison(self, shown: ShownComparison) -> None:
        """Show a comparison."""
        self.beginResetModel()
        self._looks = shown.looks
        self._about = shown.measure, rows_words(shown.runs[0].record)
        self._cells = {}
        for i, j, pair in shown.found.places():
            self._cells[i, j], self._cells[j, i] = pair, pair.turned()
        self._standings = [
            f"{tally_cell(standing)}\nrank {rank_cell(standing)}"
            for standing in shown.found.standings()
        ]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self._looks)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() or not self._looks else len(self._looks) + 1

    def lines(self, last: bool) -> Iterator[tuple[str, bool]]:
        """Yield every line of the pairs, or of the last column, and whether it is bold."""
        pairs = range(len(self._looks))
        for row, column in product(pairs, [len(self._looks)] if last else pairs):
            index = self.index(row, column)
            bold = index.data(_ROLE.FontRole) is not None
            yield from ((line, bold) for line in (index.data() or "").split("\n"))

    def flags(self, index: Index) -> Qt.ItemFlag:
        is_pair = (index.row(), index.column()) in self._cells
        return super().flags(index) if is_pair else Qt.ItemFlag.ItemIsEnabled

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        across = orientation == Qt.Orientation.Horizontal
        if section >= len(self._looks):
            if role == _ROLE.ToolTipRole:
                return (
                    "Comparisons won, not significant (a tie) and lost; mean rank over the splits"
                )
            return _TALLY if role == _ROLE.DisplayRole else None
        if role == _ROLE.DisplayRole:
            return f" {section + 1}" if across else f" {section + 1}  {self._looks[section].name}"
        if role == _ROLE.ToolTipRole:
            return tip_text(self._looks[section].name)
        if role == _ROLE.DecorationRole:
            return swatch(self._looks[section], MARKER)
        if role == _ROLE.TextAlignmentRole and not across:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        if role == _ROLE.TextAlignmentRole:
            return _CENTRE
        place = index.row(), index.column()
        if place in self._cells:
            return self._pair_data(*place, role)
        last = index.column() == len(self._looks)
        return self._standings[index.row()] if last and role == _ROLE.DisplayRole else None

    def _pair_data(self, row: int, column: int, role: int) -> Any:
        """Return what a cell shows of its pair; the tint repeats the weight and the sign."""
        pair = self._cells[row, column]
        if role == _ROLE.DisplayRole:
            if pair.refused:
                return "–"
            if pair.alike:
                return "alike"
            difference = words.figure_words(pair.difference, "+")
            return f"{difference}\n{words.p_number(pair.p_corrected)}"
        if role == _ROLE.ToolTipRole:
            return tip_text(pair_sentence(pair, *self._about).text)
        if role == _ROLE.AccessibleTextRole:
            return pair_sentence(pair, *self._about).text
        if role == _ROLE.FontRole and pair.significant:
            font = QFont()
            font.setBold(True)
            return font
        if role == _ROLE.BackgroundRole and pair.significant:
            better = self._looks[row if pair.difference >= 0 else column]
            return faded(run_colour(current_theme(), better.colour), _TINT)
        if role == _ROLE.ForegroundRole and not pair.significant:
            return QColor(current_theme().muted)
        return None


class MatrixTable(QTableView):
    """The view of the matrix; one cell is selected."""

    def __init__(self, model: PairMatrix) -> None:
        super().__init__()
        self._matrix = model
        self.setModel(model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setIconSize(MARKER)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setCornerWidget(QWidget())  # without it, the style draws a mark
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setHighlightSections(False)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setIconSize(MARKER)
        # Cut short, two lines would become one; fit() gives them room.
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.verticalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)

    def fit(self) -> None:
        """Fit every cell to its two lines, and to the width of the page."""
        self.ensurePolished()
        font = self.font()
        plain = QFontMetrics(font)
        font.setBold(True)
        metrics = QFontMetrics(font)
        pair, tally = (
            _AIR + max((metrics if bold else plain).horizontalAdvance(line) for line, bold in lines)
            for lines in (
                [("−0.000", True), *self._matrix.lines(last=False)],
                [*((line, False) for line in _TALLY.split("\n")), *self._matrix.lines(last=True)],
            )
        )
        pairs, names = max(1, self._matrix.columnCount() - 1), self.verticalHeader()
        room = self.width() - self.verticalScrollBar().sizeHint().width() - tally
        names.setMaximumWidth(max(_NAME_WIDTH, room - pairs * pair))
        room -= min(names.sizeHint().width(), names.maximumWidth())
        across = self.horizontalHeader()
        across.setDefaultSectionSize(max(pair, min(room // pairs, 2 * pair)))
        if self._matrix.columnCount():
            across.resizeSection(self._matrix.columnCount() - 1, tally)
        names.setDefaultSectionSize(2 * metrics.lineSpacing() + 12)
