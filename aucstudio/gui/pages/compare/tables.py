"""Tables of runs and of pairs."""

from __future__ import annotations

import math

from PySide6.QtWidgets import QTableView

from aucstudio.gui.common.table import Row, SheetTable
from aucstudio.gui.pages.compare.shown_comparison import ShownComparison
from aucstudio.gui.pages.compare.words import MARK
from aucstudio.notices import words
from aucstudio.project.results import comparison
from aucstudio.project.results.comparison import (
    CORRECTION_NAMES,
    PairComparison,
    RunFigures,
    WinCount,
)
from aucstudio.project.runs.experiments.experiment import Band

ROW = 28
_MOST_SURELY_SEEN = 3

RUN_HEADS = (
    *("Run", "AUC", "95 %", "pAUC", "95 %", "Wins/ties/losses", "Rank"),
    *("Gap to training", "Time of a fit", "Splits"),
)
RUN_TIPS = {
    0: f"{MARK} marks a run that was trained for another FPR range than the one shown",
    1: "Area under the held-out ROC curve; with several splits their mean",
    3: "Partial area in the FPR range, divided by its width",
    5: "Comparisons won, not significant (a tie) and lost, after the correction",
    6: "Mean rank over the splits by the compared measure; equal areas share theirs. "
    "Not tested: the splits of one table share rows, and rank tests assume independent splits",
    7: "Training AUC minus held-out AUC; a large gap suggests overfitting",
    8: "Mean time of one fit",
}
# Page widths in pixels below which columns are hidden; copies and files have all columns.
_ROOM = {"Splits": 800, "Gap to training": 700, "Rank": 560}
_ROOM_FOR_BOTH = 760

PAIR_HEADS = ("A", "B", "A − B", "95 %", "p", "Holm-corrected p", "Better")
_P, _P_CORRECTED = 4, 5
PAIR_TIPS = {
    2: "Difference of the chosen measure",
    4: "Paired DeLong test, by Student's t where a class has fewer than 60 rows; for several "
    "splits the corrected resampled t test",
    5: "p-value corrected for all pairs at once; significant below 0.05",
    6: "No significant difference between A and B on these rows",
}


def fill(table: SheetTable, rows: list[Row]) -> None:
    """Show rows that have changed, in a table no higher than they need."""
    if rows == table.sheet.rows:
        return
    table.show_rows(rows)
    head = table.horizontalHeader().sizeHint().height()
    table.setMaximumHeight(head + ROW * len(rows) + 4)
    table.setMinimumHeight(head + ROW * min(len(rows), _MOST_SURELY_SEEN) + 4)


def hide_columns(runs: QTableView, pairs: QTableView, width: int, measure: str, raw: bool) -> None:
    """Hide columns on a narrow page, so that names have room.

    Parameters
    ----------
    runs, pairs : QTableView
    width : int
        Of the page, in pixels.
    measure : str
        The interval of the other measure is hidden first.
    raw : bool
        Whether p-values are not corrected; one column is enough then.
    """
    for head, room in _ROOM.items():
        runs.setColumnHidden(RUN_HEADS.index(head), width < room)
    tight = width < _ROOM_FOR_BOTH
    runs.setColumnHidden(2, tight and measure != comparison.AUC)
    runs.setColumnHidden(4, tight and measure == comparison.AUC)
    pairs.setColumnHidden(_P, width < _ROOM["Gap to training"] and not raw)
    pairs.setColumnHidden(_P_CORRECTED, raw)


def pair_heads(correction: str) -> tuple[str, ...]:
    """Return the heads of the table of pairs, with the name of the correction."""
    return tuple(head.replace("Holm", CORRECTION_NAMES[correction]) for head in PAIR_HEADS)


def run_rows(shown: ShownComparison) -> list[Row]:
    """Return the row of every run."""
    rows = zip(shown.found.runs, shown.found.standings(), shown.looks, strict=True)
    return [Row(_run_cells(run, standing, shown.band), look) for run, standing, look in rows]


def run_name(run: RunFigures, band: Band) -> str:
    """Return a run's name, marked if it was trained for another range."""
    return f"{run.name} {MARK}" if run.trained_elsewhere(band) else run.name


def _run_cells(run: RunFigures, standing: WinCount, band: Band) -> tuple[str, ...]:
    return (
        run_name(run, band),
        words.figure_words(run.auc.value),
        words.interval_words(run.auc.low, run.auc.high),
        words.figure_words(run.pauc.value),
        words.interval_words(run.pauc.low, run.pauc.high),
        tally_cell(standing),
        rank_cell(standing),
        words.figure_words(run.gap, "+"),
        words.seconds_words(run.fit_seconds),
        str(run.splits),
    )


def tally_cell(standing: WinCount) -> str:
    """Write wins, ties and losses."""
    return f"{standing.wins}/{standing.ties}/{standing.losses}"


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
    if pair.refused:
        return str(pair.refused)
    if math.isnan(pair.p):
        return pair.reason or "too few rows to test"
    if pair.alike:
        return "alike"
    if not pair.significant:
        return "open"
    return "A" if pair.difference >= 0 else "B"
