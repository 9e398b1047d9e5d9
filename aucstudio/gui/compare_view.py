"""Compare: the checked runs side by side, a test of every pair, and both tables to take away."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QVBoxLayout,
)

from aucstudio.engine.monitor import Stopped
from aucstudio.gui import prompts
from aucstudio.gui.background import Background
from aucstudio.gui.plan import RunLook
from aucstudio.gui.plotting import SWATCH
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.sheet_model import Row, SheetModel
from aucstudio.gui.view import View
from aucstudio.gui.widgets import label, named
from aucstudio.project import comparison, words
from aucstudio.project.comparison import PairComparison, RunFigures
from aucstudio.project.errors import InputError
from aucstudio.project.experiment import Band
from aucstudio.project.files import write_atomically
from aucstudio.project.job import Job, describe_failure
from aucstudio.project.record import RunRecord

TITLES = {comparison.AUC: "AUC", comparison.PAUC: "pAUC"}
_ROOMY = 640
_RUN_HEADS = ("Run", "AUC", "95 %", "pAUC", "95 %", "Train gap", "Per fit", "Splits")
_RUN_TIPS = {
    1: "Area under the held-out ROC curve; the mean of several splits",
    3: "Partial area in the FPR range, divided by its width",
    5: "Training AUC minus held-out AUC: how much was learnt by heart",
    6: "Mean time of one fit",
}
_PAIR_HEADS = ("A", "B", "A − B", "95 %", "p", "p, Holm", "Verdict")
_PAIR_TIPS = {
    2: "Difference of the chosen measure",
    4: "Paired DeLong test; for several splits the corrected resampled t test",
    5: "p-value corrected for all pairs at once; below 0.05 the difference stands",
}
_FORMATS = "CSV, full figures (*.csv);;Markdown (*.md);;LaTeX (*.tex)"
_KEPT = 64

Key = tuple[tuple[tuple[RunRecord, str], ...], Band, str]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What both tables show; the best run of the chosen measure first."""

    runs: list[RunFigures]
    looks: list[ShownRun]
    pairs: list[PairComparison]


class CompareView(View):
    """Figures of the checked runs and tests of all pairs.

    Attributes
    ----------
    runs_model, pairs_model : SheetModel
    shown : Comparison or None
        What is in the tables; None while there is nothing, or not yet.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, "compare_view", "Compare")
        self.shown: Comparison | None = None
        self._known: dict[Key, Comparison] = {}
        self._wanted: Key | None = None
        self._work = Background(self, self._land)
        self._make_controls()
        self._make_tables()
        session.plan_changed.connect(self.mark_stale)
        # What is known would keep another study's records in memory.
        session.table_changed.connect(self._known.clear)

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.measure_combo = named(QComboBox(), "measure_combo", "Measure that is compared")
        self.measure_combo.addItem("AUC", comparison.AUC)
        self.measure_combo.addItem("pAUC in the FPR range", comparison.PAUC)
        self.measure_combo.setToolTip("What orders the runs and is tested pair by pair")
        self.measure_combo.currentIndexChanged.connect(self.mark_stale)
        words = QLabel("&Compare")
        words.setBuddy(self.measure_combo)
        self.copy_button = named(QPushButton("Cop&y"), "copy_table_button", "Copy the tables")
        self.copy_button.setToolTip("Both tables with full figures, for a spreadsheet")
        self.copy_button.clicked.connect(self._on_copy)
        self.save_button = named(QPushButton("Sa&ve…"), "save_table_button", "Save the tables")
        self.save_button.setToolTip("As CSV, Markdown or LaTeX, by the ending of the name")
        self.save_button.clicked.connect(self._on_save)
        self.controls.addWidget(words)
        self.controls.addWidget(self.measure_combo)
        self.controls.addStretch(1)
        self.controls.addWidget(self.copy_button)
        self.controls.addWidget(self.save_button)

    def _make_tables(self) -> None:
        self.runs_model = SheetModel(_RUN_HEADS, _RUN_TIPS, (0,))
        self.pairs_model = SheetModel(_PAIR_HEADS, _PAIR_TIPS, (0, 1, 6))
        self.runs_table = named(_table(self.runs_model, 0), "compare_runs_table", "Checked runs")
        self.pairs_table = named(_table(self.pairs_model, 6), "compare_pairs_table", "Every pair")
        self.runs_table.clicked.connect(self._on_run)
        self.pairs_table.selectionModel().currentRowChanged.connect(lambda *_: self._tell())
        self.pairs_heading = label("EVERY PAIR", "heading")
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addWidget(self.runs_table, stretch=2)
        column.addSpacing(8)
        column.addWidget(self.pairs_heading)
        column.addWidget(self.pairs_table, stretch=3)
        column.addStretch(0)
        self.body.addLayout(column)

    def plots(self) -> list[pg.PlotWidget]:
        return []

    def busy(self) -> bool:
        return self._work.busy

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # In a narrow page the names are worth more; what goes is in the copy and the file.
        narrow = self.width() < _ROOMY
        for head in ("Train gap", "Splits"):
            self.runs_table.setColumnHidden(_RUN_HEADS.index(head), narrow)
        self.pairs_table.setColumnHidden(_PAIR_HEADS.index("p"), narrow)

    # ------------------------------------------------------------- computing

    def refresh(self) -> None:
        runs = self.session.checked_runs()
        band, measure = self.session.plan.band, str(self.measure_combo.currentData())
        key = (tuple((run.record, run.look.name) for run in runs), band, measure)
        if key != self._wanted:
            self._work.drop()
        self._wanted = key
        if not runs:
            self._show(None)
        elif key in self._known:
            self._show(self._known[key])
        elif not self._work.busy:
            self._start(runs, band, measure)

    def _start(self, runs: list[ShownRun], band: Band, measure: str) -> None:
        def work(post: Any) -> Comparison:
            return _compare(runs, band, measure, post)

        self._work.start(work)
        if self._work.busy:
            self.sentence.setText("Comparing…")

    def _land(self, job: Job[float, Comparison]) -> None:
        if job.error is not None:
            self._show(None)
            self.sentence.setText(describe_failure(job.error)[0])
        elif job.result is not None and self._wanted is not None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[self._wanted] = job.result
            self._show(job.result)

    # ------------------------------------------------------------- showing

    def _show(self, found: Comparison | None) -> None:
        looks = {run.record.id: run.look for run in self.session.checked_runs()}
        runs = [] if found is None else found.runs
        pairs = [] if found is None else found.pairs
        of_runs = [] if found is None else [looks[run.record.id] for run in found.looks]
        self.shown = found
        rows = [_run_row(run, look) for run, look in zip(runs, of_runs, strict=True)]
        _fill(self.runs_table, self.runs_model, rows)
        _fill(self.pairs_table, self.pairs_model, [_pair_row(pair) for pair in pairs])
        self.runs_table.setVisible(bool(runs))
        for widget in (self.pairs_heading, self.pairs_table):
            widget.setVisible(bool(pairs))
        for button in (self.copy_button, self.save_button):
            button.setEnabled(bool(runs))
        self._mark_selected()
        self._tell()

    def _mark_selected(self) -> None:
        listed = [] if self.shown is None else [run.record.id for run in self.shown.looks]
        if self.session.selected in listed:
            self.runs_table.selectRow(listed.index(self.session.selected))

    def _tell(self) -> None:
        shown = self.shown
        if shown is None:
            self.sentence.setText(self._what_next())
            return
        measure = self._measure_words()
        if not shown.pairs:
            self.sentence.setText(_one_run(shown.runs[0], measure))
            return
        row = self.pairs_table.currentIndex().row()
        k = row if 0 <= row < len(shown.pairs) else 0
        first, _ = list(combinations(shown.looks, 2))[k]
        rows = _rows_words(first)
        told = pair_sentence(shown.pairs[k], measure, rows)
        self.sentence.setText(f"{told} {_tally(shown.pairs)}".rstrip())

    def _measure_words(self) -> str:
        measure = self.measure_combo.currentData()
        if measure == comparison.AUC:
            return "AUC"
        low, high = self.session.plan.band
        return f"pAUC in FPR {low:g} … {high:g}"

    def _what_next(self) -> str:
        session = self.session
        if any(run.record.splits for run in session.shown_runs()):
            return "No run is checked: tick two or more in the list to compare them."
        if session.live is not None:
            return f"{session.live.look.name} is training; it is compared when it has ended."
        if session.table is None:
            return "Open a table and run two methods to compare them."
        return "No run yet: run two methods, and they are compared here."

    def _on_run(self, index: QModelIndex) -> None:
        if self.shown is not None:
            self.session.select(self.shown.looks[index.row()].record.id)

    # ------------------------------------------------------------- taking away

    def _on_copy(self) -> None:
        if self.shown is not None:
            text = comparison.as_csv(self.shown.runs, self.shown.pairs, delimiter="\t")
            QGuiApplication.clipboard().setText(text)
            self.session.told.emit("Tables copied")

    def _on_save(self) -> None:
        if self.shown is None:
            return
        path = prompts.ask_save_path(self, "Save the comparison", "comparison.csv", _FORMATS)
        if path is None:
            return
        try:
            write_atomically(Path(path), table_text(Path(path), self.shown))
        except InputError as error:
            prompts.show_error(self, str(error))
        else:
            self.session.told.emit(f"Saved {path}")


def table_text(path: Path, shown: Comparison) -> str:
    """Write both tables in the format of a file name.

    Raises
    ------
    InputError
        If its ending is none of .csv, .md and .tex.
    """
    writers = {
        ".csv": comparison.as_csv,
        ".md": comparison.as_markdown,
        ".tex": comparison.as_latex,
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise InputError(
            f"a comparison is saved as .csv, .md or .tex; {path.name} is none of these",
            file=str(path),
        )
    return writer(shown.runs, shown.pairs)


def _compare(runs: list[ShownRun], band: Band, measure: str, post: Any) -> Comparison:
    figures = {}
    for run in runs:
        figures[run.record.id] = comparison.run_figures(run.look.name, run.record, band)
        if post(0.0):
            raise Stopped("comparing")
    ranked = sorted(
        runs, key=lambda run: getattr(figures[run.record.id], measure).value, reverse=True
    )
    named_runs = [(run.look.name, run.record) for run in ranked]
    pairs = comparison.compare_runs(named_runs, band, measure, post)
    return Comparison([figures[run.record.id] for run in ranked], ranked, pairs)


# ----------------------------------------------------------------- tables


def _table(model: SheetModel, stretched: int) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setShowGrid(False)
    table.setIconSize(SWATCH)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().setVisible(False)
    table.verticalHeader().setDefaultSectionSize(28)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
    return table


def _fill(table: QTableView, model: SheetModel, rows: list[Row]) -> None:
    """Show rows, and take no more height than they need; the same rows stay untouched."""
    if rows == model.rows:
        return
    model.show_rows(rows)
    head = table.horizontalHeader().sizeHint().height()
    table.setMaximumHeight(head + 28 * len(rows) + 4)
    table.setMinimumHeight(head + 28 * min(len(rows), 6) + 4)


def _run_row(run: RunFigures, look: RunLook) -> Row:
    cells = (
        run.name,
        words.figure_words(run.auc.value),
        words.interval_words(run.auc.low, run.auc.high),
        words.figure_words(run.pauc.value),
        words.interval_words(run.pauc.low, run.pauc.high),
        words.figure_words(run.gap, "+"),
        words.seconds_words(run.fit_seconds),
        str(run.splits),
    )
    return Row(cells, look)


def _pair_row(pair: PairComparison) -> Row:
    cells = (
        pair.a,
        pair.b,
        words.figure_words(pair.difference, "+"),
        words.interval_words(pair.low, pair.high),
        words.p_number(pair.p),
        words.p_number(pair.p_holm),
        comparison.verdict(pair),
    )
    return Row(cells, strong=pair.settled)


# ----------------------------------------------------------------- words


def pair_sentence(pair: PairComparison, measure: str, rows: str) -> str:
    """Say what a comparison settles, with its uncertainty."""
    if pair.refused:
        return f"{pair.a} and {pair.b} cannot be compared: {pair.refused}."
    difference = words.figure_words(abs(pair.difference))
    if words.figure_words(pair.p) == "–":
        return f"{pair.a} and {pair.b} cannot be compared on {rows}: too few for a test."
    low, high = (pair.low, pair.high) if pair.difference >= 0 else (-pair.high, -pair.low)
    interval = words.interval_words(low, high)
    known = f", 95 % {interval}" if interval != "–" else ""
    sure = f"({measure} difference {difference}{known}, {words.p_words(pair.p_holm)}"
    sure += " after Holm)"
    other = pair.b if pair.better == pair.a else pair.a
    if pair.settled:
        return f"{pair.better} ranks better than {other} on {rows} {sure}."
    return f"{pair.better} and {other} cannot be told apart on {rows} {sure}."


def _rows_words(run: ShownRun) -> str:
    splits = run.record.splits
    if len(splits) == 1:
        return f"these {len(splits[0].test_rows):,} rows"
    return f"these {len(splits)} splits"


def _one_run(run: RunFigures, measure: str) -> str:
    figure = run.auc if measure == "AUC" else run.pauc
    interval = words.interval_words(figure.low, figure.high)
    return (
        f"{run.name} alone: {measure} {words.figure_words(figure.value)} (95 % {interval}). "
        "Tick a second run in the list to compare."
    )


def _tally(pairs: Sequence[PairComparison]) -> str:
    tested = [pair for pair in pairs if not pair.refused]
    if len(pairs) < 2 or not tested:
        return ""
    settled = sum(pair.settled for pair in tested)
    refused = len(pairs) - len(tested)
    left = f"; {refused} not comparable" if refused else ""
    count = f"{settled} of {len(tested)} pairs differ" if settled else "No pair differs"
    return f"{count} after Holm's correction{left}."
