"""The two forms of Compare: forest plot with matrix, and tables."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.table import SheetTable
from aucstudio.gui.common.widgets import down, holding, label, named, quietly
from aucstudio.gui.pages.compare import tables, words
from aucstudio.gui.pages.compare.forest import ForestPlot
from aucstudio.gui.pages.compare.matrix import MatrixTable, PairMatrix
from aucstudio.gui.pages.compare.shown_comparison import ShownComparison
from aucstudio.project.results.comparison import UNCORRECTED, Comparison

_FOREST_SHARE = 0.5  # of the page, at most, until the user moves the splitter


class PicturePage(QSplitter):
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
        super().__init__(Qt.Orientation.Vertical)
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
        self.setHandleWidth(8)
        self.setChildrenCollapsible(False)
        for part in (self.forest.area, self.pairs_part):
            self.addWidget(part)
        self._moved = False
        self.splitterMoved.connect(self._on_moved)

    def show_comparison(self, shown: ShownComparison) -> None:
        """Draw a comparison."""
        pairs = shown.found.pairs
        self.forest.show(shown)
        self.pairs_part.setVisible(bool(pairs))
        if pairs:
            name = words.p_name(pairs[0].correction)
            self.heading.setText(
                f"Row minus column, {name} below; bold: significant, tinted as the better run"
            )
        with QSignalBlocker(self.table.selectionModel()):
            self.matrix.show_comparison(shown)

    def mark(self, chosen: int | None, compared: int | None) -> None:
        """Mark the selected and the compared run, and their pair."""
        self.forest.mark(chosen, compared)
        if chosen is None or compared is None or chosen == compared:
            quietly(self.table.selectionModel().clear)
        else:
            with QSignalBlocker(self.table.selectionModel()):
                self.table.setCurrentIndex(self.matrix.index(chosen, compared))
            self.table.scrollTo(self.table.currentIndex())
        self.table.viewport().update()

    def fit(self) -> None:
        """Use the available width."""
        self.table.fit()
        self.forest.write_names()
        if not self._moved:
            wanted = min(self.forest.wanted_height(), int(_FOREST_SHARE * self.height()))
            self.setSizes([wanted, self.height() - wanted])

    def _on_moved(self) -> None:
        self._moved = True

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
            "compare_runs_table", "Checked runs", tables.RUN_HEADS, tables.ROW, tips=tables.RUN_TIPS
        )
        self.pairs_table = SheetTable(
            "compare_pairs_table",
            "Every pair",
            tables.PAIR_HEADS,
            tables.ROW,
            6,
            tips=tables.PAIR_TIPS,
            words=(0, 1, 6),
        )
        self.runs_table.clicked.connect(lambda index: self.run_clicked.emit(index.row(), False))
        self.pairs_table.selectionModel().currentRowChanged.connect(self._on_pair)
        self.heading = label("EVERY PAIR", "heading")
        layout = down((self.runs_table, 2), self.heading, (self.pairs_table, 3))
        layout.addStretch(0)
        self.setLayout(layout)

    def show_comparison(self, shown: ShownComparison) -> None:
        """List a comparison."""
        self._found = found = shown.found
        tables.fill(self.runs_table, tables.run_rows(shown))
        if found.pairs:
            self.pairs_table.sheet.heads = tables.pair_heads(found.pairs[0].correction)
        rows = [tables.pair_row(pair) for pair in found.pairs]
        with QSignalBlocker(self.pairs_table.selectionModel()):
            tables.fill(self.pairs_table, rows)
        for widget in (self.heading, self.pairs_table):
            widget.setVisible(bool(found.pairs))

    def mark(self, chosen: int | None, pair: int | None) -> None:
        """Mark the selected run and a pair."""
        if chosen is not None:
            self.runs_table.selectRow(chosen)
        if pair is None:
            quietly(self.pairs_table.selectionModel().clear)
        else:
            with QSignalBlocker(self.pairs_table.selectionModel()):
                self.pairs_table.selectRow(pair)
            self.pairs_table.scrollTo(self.pairs_table.currentIndex())
        self.pairs_table.viewport().update()

    def fit(self, width: int) -> None:
        """Hide columns without room."""
        pairs = self._found.pairs
        raw = bool(pairs) and pairs[0].correction == UNCORRECTED
        tables.hide_columns(self.runs_table, self.pairs_table, width, self._found.measure, raw)

    def _on_pair(self, index: QModelIndex) -> None:
        if index.isValid():
            i, j, _ = list(self._found.places())[index.row()]
            self.pair_clicked.emit(i, j)
