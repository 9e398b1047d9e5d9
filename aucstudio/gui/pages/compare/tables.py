"""Tables of runs and pairs, and the matrix of pairwise differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from aucstudio.gui.common.layouts import RIGHT, STRETCH, Panes, across, down, holding
from aucstudio.gui.common.plain_text import plain_tooltip, tip_text
from aucstudio.gui.common.plotting import MARKER, faded, swatch
from aucstudio.gui.common.sentence import wrapped
from aucstudio.gui.common.table import Index, Row, SheetTable, in_columns, worded_columns
from aucstudio.gui.common.theme import current_theme, run_colour, scaled
from aucstudio.gui.common.widgets import bold, label, named
from aucstudio.gui.pages.compare.forest import ForestPlot
from aucstudio.gui.pages.compare.words import (
    ShownComparison,
    pair_sentence,
    run_name,
)
from aucstudio.gui.state.plan import RunLook
from aucstudio.notices import text, words
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import (
    CORRECTION_NAMES,
    UNCORRECTED,
    Comparison,
    PairComparison,
    RunFigures,
    WinCount,
    rows_words,
)
from aucstudio.project.results.report import estimate_cells
from aucstudio.project.runs.experiment import Band

ROW = 28
_MOST_SURELY_SEEN = 3

RUN_HEADS, RUN_TIPS = worded_columns("compare_runs_table")
# Hidden in this order on a narrow page; the intervals of the other measures follow the first.
_RARER = tuple(
    RUN_HEADS.index(head) for head in ("Splits", "Gap to training", "Rank", "Time of a fit")
)
_INTERVALS = {comparison.AUC: 2, comparison.PAUC: 4, comparison.TPR: 6}

PAIR_HEADS, PAIR_TIPS = worded_columns("compare_pairs_table")
_INTERVAL, _P, _P_CORRECTED = 3, 4, 5


def _fit(table: SheetTable) -> None:
    """Hide columns without room, and make the table no higher than its rows need."""
    fits, rows = table.fit_columns(), table.sheet.rowCount()
    scrolls = not fits or table.hidden_button.isChecked()
    bar = table.horizontalScrollBar().sizeHint().height() if scrolls else 0
    around = table.horizontalHeader().sizeHint().height() + bar + 4
    table.setMaximumHeight(around + scaled(ROW) * rows)
    table.setMinimumHeight(around + scaled(ROW) * min(rows, _MOST_SURELY_SEEN))


def pair_heads(correction: str) -> tuple[str, ...]:
    """Return the heads of the table of pairs, with the name of the correction."""
    return tuple(head.replace("Holm", CORRECTION_NAMES[correction]) for head in PAIR_HEADS)


def run_rows(shown: ShownComparison) -> list[Row]:
    """Return the row of every run."""
    rows = zip(shown.found.runs, shown.found.standings(), shown.looks, strict=True)
    return [Row(_run_cells(run, standing, shown.band), look) for run, standing, look in rows]


def _run_cells(run: RunFigures, standing: WinCount, band: Band) -> tuple[str, ...]:
    return (
        run_name(run, band),
        *(cell for found in (run.auc, run.pauc, run.tpr) for cell in estimate_cells(found)),
        text("wins_ties_losses", standing=standing),
        rank_cell(standing),
        words.figure_words(run.gap, "+"),
        words.seconds_words(run.fit_seconds),
        str(run.splits),
    )


def rank_cell(standing: WinCount) -> str:
    """Write a mean rank, integers without decimals."""
    if math.isnan(standing.mean_rank):
        return "–"
    return f"{standing.mean_rank:.1f}".removesuffix(".0")


def pair_row(pair: PairComparison) -> Row:
    """Return the row of a pair."""
    cells = (
        pair.a,
        pair.b,
        words.figure_words(pair.difference, "+"),
        "–" if pair.alike else words.interval_words(pair.low, pair.high),
        words.p_number(pair.p),
        words.p_number(pair.p_corrected),
        _better(pair),
    )
    return Row(cells, strong=pair.significant)


def _better(pair: PairComparison) -> str:
    if pair.refused or math.isnan(pair.p):
        return str(pair.refused or pair.reason or "too few rows to test")
    if pair.alike or not pair.significant:
        return "alike" if pair.alike else "undecided"
    return "A" if pair.difference >= 0 else "B"


def pair_figures(shown: ShownComparison) -> dict[str, list[Any]]:
    """Return the measure of each run, then the difference of each pair with its p-values."""
    measure, nothing = shown.found.measure, math.nan
    areas = ((run.name, run.measured(measure)) for run in shown.found.runs)
    lines: list[tuple[Any, ...]] = [
        (name, "", measure, area.value, area.low, area.high, nothing, nothing)
        for name, area in areas
    ]
    for pair in shown.found.pairs:
        figures = pair.difference, pair.low, pair.high, pair.p, pair.p_corrected
        lines.append((pair.a, pair.b, measure, *figures))
    heads = ("run", "minus_run", "measure", "value", "low", "high", "p", "p_corrected")
    return in_columns(heads, lines)


_TALLY = "Win/tie/\nloss"
_TINT = 64
_AROUND = 16  # pixels beside the text of a cell: the padding, and the margin of the style
_NAME_WIDTH = 92  # at least, where the names need as much

_CENTRE = Qt.AlignmentFlag.AlignCenter
_ROLE = Qt.ItemDataRole


class PairMatrix(QAbstractTableModel):
    """Runs against runs, best first; the last column counts wins, ties and losses.

    Attributes
    ----------
    looks : sequence of RunLook
    names : sequence of str
        Of the runs, as they are shown beside the rows.
    longest : str
        A line as wide as the widest one of a pair.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.looks: Sequence[RunLook] = ()
        self.names: Sequence[str] = ()
        self._about = "", ""
        self._cells: dict[tuple[int, int], PairComparison] = {}
        self._standings: list[str] = []
        self.longest = ""

    def show_comparison(self, shown: ShownComparison) -> None:
        """Show a comparison."""
        self.beginResetModel()
        self.looks = shown.looks
        self.names = [look.name for look in shown.looks]
        self._about = shown.measure, rows_words(shown.runs[0].record)
        self._cells = {}
        for i, j, pair in shown.found.places():
            self._cells[i, j], self._cells[j, i] = pair, pair.turned()
        lines = (line for pair in self._cells.values() for line in _pair_cell(pair).split("\n"))
        measure = QFontMetrics(bold(QFont())).horizontalAdvance
        self.longest = max({*lines}, key=measure, default="")
        self._standings = [
            f"{text('wins_ties_losses', standing=standing)}\nrank {rank_cell(standing)}"
            for standing in shown.found.standings()
        ]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        return 0 if parent.isValid() else len(self.looks)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() or not self.looks else len(self.looks) + 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        is_pair = (index.row(), index.column()) in self._cells
        return super().flags(index) if is_pair else Qt.ItemFlag.ItemIsEnabled

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        across = orientation == Qt.Orientation.Horizontal
        if section >= len(self.looks):
            if role == _ROLE.ToolTipRole:
                return text("tally_tip")
            return _TALLY if role == _ROLE.DisplayRole else None
        if role == _ROLE.DisplayRole:
            return f" {section + 1}" if across else f" {section + 1}  {self.names[section]}"
        if role == _ROLE.ToolTipRole:
            return tip_text(self.looks[section].name)
        if role == _ROLE.DecorationRole:
            return swatch(self.looks[section], MARKER)
        if role == _ROLE.TextAlignmentRole and not across:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        if role == _ROLE.TextAlignmentRole:
            return _CENTRE
        place = index.row(), index.column()
        if place in self._cells:
            return self._pair_data(*place, role)
        last = index.column() == len(self.looks)
        return self._standings[index.row()] if last and role == _ROLE.DisplayRole else None

    def _pair_data(self, row: int, column: int, role: int) -> Any:
        """Return what a cell shows of its pair; the tint repeats the weight and the sign."""
        pair = self._cells[row, column]
        if role == _ROLE.DisplayRole:
            return _pair_cell(pair)
        if role in (_ROLE.ToolTipRole, _ROLE.AccessibleTextRole):
            sentence = pair_sentence(pair, *self._about).text
            return tip_text(sentence) if role == _ROLE.ToolTipRole else sentence
        if role == _ROLE.FontRole and pair.significant:
            return bold(QFont())
        if role == _ROLE.BackgroundRole and pair.significant:
            better = self.looks[row if pair.difference >= 0 else column]
            return faded(run_colour(current_theme(), better.colour), _TINT)
        if role == _ROLE.ForegroundRole and not pair.significant:
            return QColor(current_theme().muted)
        return None


def _pair_cell(pair: PairComparison) -> str:
    """Write the difference of a pair and its p-value in two lines."""
    difference = words.figure_words(pair.difference, "+")
    known = f"{difference}\n{words.p_number(pair.p_corrected)}"
    return "–" if pair.refused else "alike" if pair.alike else known


class MatrixTable(QTableView):
    """The view of the matrix; one cell is selected."""

    def __init__(self, model: PairMatrix) -> None:
        super().__init__()
        self.setModel(model)
        self._matrix = model
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
            # Cut short, two lines would become one.
            header.setTextElideMode(Qt.TextElideMode.ElideNone)

    def fit(self) -> None:
        """Make all cells of a pair large enough for a line, and leave the names the rest."""
        header, side = self.horizontalHeader(), self.verticalHeader()
        tally, metrics = self.model().rowCount(), QFontMetrics(bold(self.font()))
        wide = metrics.horizontalAdvance(self._matrix.longest) + _AROUND
        for column in range(tally):
            self.setColumnWidth(column, max(header.sectionSizeHint(column), wide))
        self.setColumnWidth(tally, max(wide, self.sizeHintForColumn(tally)))
        side.setDefaultSectionSize(max(side.sectionSizeHint(0), self.sizeHintForRow(0)))
        bar = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        room = max(scaled(_NAME_WIDTH), self.width() - header.length() - bar)
        side.setMaximumWidth(room)
        own = QFontMetrics(side.font())
        beside = MARKER.width() + own.horizontalAdvance(" 88  ") + _AROUND
        names = (look.name for look in self._matrix.looks)
        self._matrix.names = [wrapped(name, 2, room - beside, own) for name in names]

    def wanted_height(self) -> int:
        """Return the height without a scroll bar."""
        head, rows = self.horizontalHeader().sizeHint().height(), self.verticalHeader().length()
        return head + rows + 2 * self.frameWidth()


def _choose(table: QTableView, index: QModelIndex | None) -> None:
    """Select a cell or a row without a signal, or nothing."""
    with QSignalBlocker(table.selectionModel()):
        if index is None:
            table.selectionModel().clear()
        else:
            table.setCurrentIndex(index)
    if index is not None and table.isVisible():
        table.scrollTo(index)  # measures every row of a long list
    table.viewport().update()


_GAPS = 16  # pixels between the plot, the heading and the matrix


class PicturePage(Panes):
    """The forest plot, and every pair under it.

    Attributes
    ----------
    run_clicked : Signal(int, bool)
        Position of a run, and whether it becomes the compared one.
    pair_clicked : Signal(int, int)
        Positions of two runs.
    forest : ForestPlot
    matrix : PairMatrix
    table : MatrixTable
    """

    run_clicked = Signal(int, bool)
    pair_clicked = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        named(self, "compare_splitter", "Picture")
        self.forest = ForestPlot()
        plain_tooltip(
            self.forest.plot, ("Click: select a run. Ctrl+click: compare it with the selected one")
        )
        self.forest.clicked.connect(self.run_clicked)
        self.matrix = PairMatrix(self)
        self.table = named(MatrixTable(self.matrix), "compare_matrix", "Matrix of pairs")
        self.table.selectionModel().currentChanged.connect(self._on_cell)
        self.heading = label("", "muted", name="compare_matrix_heading", wrap=True)
        self.pairs_part = holding(down(self.heading, self.table))
        for part in (self.forest.area, self.pairs_part):
            self.addWidget(part)
        self._moved = False
        self.splitterMoved.connect(lambda *_: setattr(self, "_moved", True))

    def show_comparison(self, shown: ShownComparison) -> None:
        """Draw a comparison."""
        pairs = shown.found.pairs
        self.forest.show(shown)
        self.pairs_part.setVisible(bool(pairs))
        if pairs:
            self.heading.setText(text("p_in_matrix", name=CORRECTION_NAMES[pairs[0].correction]))
        with QSignalBlocker(self.table.selectionModel()):
            self.matrix.show_comparison(shown)

    def mark(self, chosen: int | None, compared: int | None, _pair: int | None) -> None:
        """Mark the selected and the compared run, and their pair."""
        self.forest.mark(chosen, compared)
        cell = None
        if chosen is not None and compared is not None and chosen != compared:
            cell = self.matrix.index(chosen, compared)
        _choose(self.table, cell)

    def fit(self) -> None:
        """Use the available width."""
        self.table.fit()
        self.forest.write_names()
        if not self._moved:
            heading = self.heading.heightForWidth(self.width())
            room = self.height() - heading - self.table.wanted_height() - _GAPS
            least, good = self.forest.area.minimumHeight(), self.forest.wanted_height()
            wanted = min(good, max(least, room))
            self.setSizes([wanted, self.height() - wanted])

    def _on_cell(self, index: QModelIndex) -> None:
        if index.isValid() and index.column() < self.matrix.rowCount():
            self.pair_clicked.emit(index.row(), index.column())


class TablesPage(QWidget):
    """The table of runs over that of pairs.

    Attributes
    ----------
    run_clicked : Signal(int, bool)
        Position of a run, and False: a table selects the first run only.
    pair_clicked : Signal(int, int)
    runs_model, pairs_model : SheetModel
    runs_table, pairs_table : QTableView
    """

    run_clicked = Signal(int, bool)
    pair_clicked = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._found = Comparison([], [])
        self.runs_table = SheetTable(
            "compare_runs_table", "Checked runs", RUN_HEADS, ROW, tips=RUN_TIPS
        )
        self.pairs_table = SheetTable(
            "compare_pairs_table", "Every pair", PAIR_HEADS, ROW, 6, tips=PAIR_TIPS, words=(0, 1, 6)
        )
        self.runs_table.clicked.connect(lambda index: self.run_clicked.emit(index.row(), False))
        self.pairs_table.selectionModel().currentRowChanged.connect(self._on_pair)
        self.heading = label("EVERY PAIR", "heading")
        for table in (self.runs_table, self.pairs_table):
            table.hidden_button.toggled.connect(lambda _open, table=table: _fit(table))
        head = across(self.heading, STRETCH, self.pairs_table.hidden_button)
        runs = (self.runs_table.hidden_button, RIGHT)
        layout = down((self.runs_table, 2), runs, head, (self.pairs_table, 3))
        layout.addStretch(0)
        self.setLayout(layout)

    def show_comparison(self, shown: ShownComparison) -> None:
        """List a comparison."""
        self._found = found = shown.found
        self.runs_table.show_rows(run_rows(shown))
        if found.pairs:
            self.pairs_table.sheet.heads = pair_heads(found.pairs[0].correction)
        with QSignalBlocker(self.pairs_table.selectionModel()):
            self.pairs_table.show_rows([pair_row(pair) for pair in found.pairs])
        for widget in (self.heading, self.pairs_table):
            widget.setVisible(bool(found.pairs))

    def mark(self, chosen: int | None, _compared: int | None, pair: int | None) -> None:
        """Mark the selected run and a pair."""
        if chosen is not None:
            self.runs_table.selectRow(chosen)
        _choose(self.pairs_table, None if pair is None else self.pairs_table.sheet.index(pair, 0))

    def fit(self) -> None:
        """Hide columns without room."""
        found = self._found
        other = [column for measure, column in _INTERVALS.items() if measure != found.measure]
        self.runs_table.rarer = (_RARER[0], *other, *_RARER[1:])
        raw = bool(found.pairs) and found.pairs[0].correction == UNCORRECTED
        # One column of p-values is enough where they are not corrected.
        self.pairs_table.rarer = (_INTERVAL,) if raw else (_P, _INTERVAL)
        self.pairs_table.unneeded = (_P_CORRECTED,) if raw else ()
        for table in (self.runs_table, self.pairs_table):
            _fit(table)

    def _on_pair(self, index: QModelIndex) -> None:
        if index.isValid():
            i, j, _ = list(self._found.places())[index.row()]
            self.pair_clicked.emit(i, j)
