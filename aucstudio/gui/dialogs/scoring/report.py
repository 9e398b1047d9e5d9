"""Input check and AUC of a scored table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from aucstudio.engine import roc
from aucstudio.engine.inference import Interval, pauc_interval
from aucstudio.gui.common.curves import band_words
from aucstudio.gui.common.layouts import STRETCH, across, down
from aucstudio.gui.common.plots.roc_sketch import RocSketch
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.table import Row, SheetModel, TableView
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import label, named, show_note
from aucstudio.notices.words import figure_words, interval_words
from aucstudio.project.results.thresholds import ThresholdFigures, counts_at
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.models.scoring import ScoringReport, some_names

_SIDE = 260
_CELLS = 1000  # along each side of the picture; more corners would not be visible


@dataclasses.dataclass(frozen=True, eq=False)
class TableRanking:
    """How a table's labelled rows are ranked.

    Attributes
    ----------
    x, y : ndarray
        FPR and TPR of the visible corners of the curve.
    band : (float, float)
    pauc : Interval
        The normalised area over the band.
    threshold : float
        Of the model.
    figures : ThresholdFigures
        At the threshold.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    band: Band
    pauc: Interval
    threshold: float
    figures: ThresholdFigures

    @classmethod
    def of(
        cls,
        positive: NDArray[np.bool_],
        scores: NDArray[np.float64],
        band: Band,
        threshold: float,
    ) -> TableRanking:
        """Compute the ranking; a million rows take about a second."""
        curve = roc.roc_curve(positive, scores)
        pauc = pauc_interval(positive, scores, *band)
        x, y = outline(curve)
        figures = ThresholdFigures.of(counts_at(curve, threshold))
        return cls(x, y, band, pauc, threshold, figures)

    def words(self) -> str:
        """Return the area in the band and the rates at the threshold, in words."""
        pauc, figures = self.pauc, self.figures
        bounds = pauc.reason or f"95 % {interval_words(pauc.low, pauc.high)}"
        parts = [f"pAUC {figure_words(pauc.value)} in FPR {band_words(self.band)} ({bounds})."]
        rates = {"TPR": figures.tpr, "FPR": figures.fpr, "precision": figures.precision}
        at_threshold = [
            f"{name} {figure_words(rate.value)} ({interval_words(*rate.bounds)})"
            for name, rate in rates.items()
            if not math.isnan(rate.value)
        ]
        number = f"{self.threshold:.4g}".replace("-", "−")
        return " ".join([*parts, f"At the threshold {number}: {', '.join(at_threshold)}."])


def outline(curve: roc.Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of a curve, one in each cell of a fine grid."""
    corners = curve.corners()
    cells = np.floor(corners.fpr * _CELLS) * (_CELLS + 1) + np.floor(corners.tpr * _CELLS)
    kept = np.append(True, cells[1:] != cells[:-1])
    kept[-1] = True
    return corners.fpr[kept], corners.tpr[kept]


class CurvePreview(QWidget):
    """ROC curve with the FPR range and the model's threshold."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "score_curve", "ROC curve of the scored table")
        self.sketch = RocSketch("score_roc_plot")
        self.sketch.plot.setFixedSize(_SIDE, _SIDE)
        self.sketch.plot.setMouseEnabled(x=False, y=False)
        self.point = pg.ScatterPlotItem(size=9)
        self.sketch.plot.addItem(self.point)
        self.words = label("", "muted", wrap=True, name="score_curve_words")
        self.setLayout(down(self.sketch.plot, self.words, STRETCH, gap=4))
        self.setFixedWidth(_SIDE)

    def show_ranking(self, ranking: TableRanking | None) -> None:
        """Show a ranking, or hide the picture."""
        self.setVisible(ranking is not None)
        if ranking is None:
            return
        theme, rates = current_theme(), ranking.figures
        self.sketch.show([(ranking.x, ranking.y, pen(theme.accent, 2.0))], ranking.band)
        point = [rates.fpr.value], [rates.tpr.value]
        self.point.setData(*point, pen=pen(theme.card, 1.0), brush=theme.text)
        self.words.setText(ranking.words())


_HEADS = ("Input check", "Count", "Which")
_HEIGHT, _LEAST_ROWS = 28, 6
_NOTHING = "–"
_INDENT = "    "

Line = tuple[str, str, str]


class ScoreReport(QWidget):
    """Shows a report of scoring."""

    def __init__(self) -> None:
        super().__init__()
        self.figure = label("", "figure", name="score_auc")
        self.sentence = label("", wrap=True, name="score_sentence")
        self.model = SheetModel(_HEADS, {}, (0, 2), self)
        self.view = TableView("score_report", "Input check of the table", self.model, _HEIGHT, 2)
        self.view.setMinimumHeight(_LEAST_ROWS * _HEIGHT)
        self.curve = CurvePreview()
        words = down(self.figure, self.sentence, (self.view, 1), gap=4)
        self.setLayout(across((words, 1), self.curve, gap=16))

    def show_columns(self, model: Model, columns: Sequence[str], label: str | None) -> None:
        """Show which columns of a table the model uses, before any row is read."""
        known = model.feature_columns
        matched = tuple(name for name in columns if name in known)
        absent = tuple(name for name in known if name not in columns)
        others = tuple(name for name in columns if name not in known and name != label)
        show_note(self.figure, "")
        self.curve.show_ranking(None)
        at_hand = f"the label is {label!r}" if label is not None else "there is no label"
        self.sentence.setText(
            f"{len(matched):,} of the model's {len(known):,} columns found; {at_hand}."
        )
        lines = [_columns("Columns matched", matched), _columns("Columns ignored", others)]
        lines += [_columns("Columns absent", absent)] if absent else []
        self.model.show_rows([Row(cells) for cells in lines])

    def show_report(
        self, report: ScoringReport, also: str = "", ranking: TableRanking | None = None
    ) -> None:
        """Show the report.

        Parameters
        ----------
        report : ScoringReport
        also : str
            A remark on how the table was read.
        ranking : Ranking or None
            Ranking of the rows, if they have labels of both classes.
        """
        self.curve.show_ranking(ranking)
        area = report.auc
        show_note(self.figure, "" if area is None else f"AUC {figure_words(area.value)}", "figure")
        parts = [f"{report.scored:,} of {report.rows:,} rows scored"]
        parts += [_area_words(report), *([also] if also else [])]
        self.sentence.setText("; ".join(parts) + ".")
        self.model.show_rows([Row(cells) for cells in _lines(report)])


def _area_words(report: ScoringReport) -> str:
    if report.auc is not None:
        return f"AUC 95 % {interval_words(report.auc.low, report.auc.high)}"
    return f"no AUC, as {report.without_auc or 'the table has no label'}"


def _lines(report: ScoringReport) -> Iterator[Line]:
    yield _columns("Columns matched", report.matched)
    yield _columns("Columns ignored", report.ignored)
    if report.missing:
        yield _columns("Absent columns, as allowed", report.missing)
    yield from _cells(report)
    left_out = report.rows - report.scored
    yield "Rows left out", f"{left_out:,}", _NOTHING if not left_out else ""
    for row in report.left_out:
        yield f"{_INDENT}row {row.row:,}, line {row.line:,}", "", " ".join(row.reason.split())
    if more := left_out - len(report.left_out):
        yield f"{_INDENT}and {more:,} more", "", ""


def _columns(what: str, names: tuple[str, ...]) -> Line:
    return what, f"{len(names):,}", some_names(names) if names else _NOTHING


def _cells(report: ScoringReport) -> Iterator[Line]:
    yield from _section(
        "Unseen levels",
        [(name, met.count, some_names(met.values)) for name, met in report.unseen.items()],
    )
    yield from _section(
        "Non-numeric cells",
        [
            (name, bad.count, f"{bad.text!r}{_line_words(bad.line)}; treated as missing")
            for name, bad in report.unreadable.items()
        ],
    )
    yield from _section(
        "Cells far outside the training range",
        [
            (far.column, far.count, f"{far.value:.6g} in row {far.row:,}; treated as missing")
            for far in report.far
        ],
    )
    yield from _section(
        "Rows without a value",
        [(name, count, "a larger share than in training") for name, count in report.gaps.items()],
    )


def _section(what: str, columns: Sequence[tuple[str, int, str]]) -> Iterator[Line]:
    yield (what, "", "") if columns else (what, "0", _NOTHING)
    for name, count, which in columns:
        yield f"{_INDENT}{name}", f"{count:,}", " ".join(which.split())


def _line_words(line: int | None) -> str:
    return "" if line is None else f" in line {line:,}"
