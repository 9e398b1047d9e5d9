"""What a scored table was found to be: its columns, its input check, its ROC curve."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from aucstudio.engine import roc
from aucstudio.engine.inference import Interval, pauc_interval
from aucstudio.gui.common.curves import band_words
from aucstudio.gui.common.plain_text import elided, plain_tooltip
from aucstudio.gui.common.plots.roc_sketch import RocSketch
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.table import Row, SheetModel, TableView
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import (
    STRETCH,
    ElidedLabel,
    across,
    down,
    label,
    named,
    scrolled,
    set_role,
    show_note,
)
from aucstudio.notices.words import figure_words, interval_words
from aucstudio.project.data.preparing.acceptance import KINDS, RANGE, Refusal
from aucstudio.project.data.text.later_files import Remedy
from aucstudio.project.results.thresholds import ThresholdFigures, counts_at
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.models.scoring import ScoringReport, some_names

_ROW, _MOST_ROWS = 22, 5
_LONGEST = 32  # characters of a name
_MARKS = {".": "point", ",": "comma"}


@dataclasses.dataclass(frozen=True)
class Accepted:
    """What the user allows or states about a table to be scored.

    Attributes
    ----------
    allowed : dict of str to tuple of str
        Accepted columns, by kind of refusal.
    written : dict of str to str
        Format of the cells, by column.
    scale : dict of str to float
        Factor of the numbers, by column.
    dialect : dict of str to object
        Decimal mark and words for missing values, if stated.
    """

    allowed: dict[str, tuple[str, ...]]
    written: dict[str, str]
    scale: dict[str, float]
    dialect: dict[str, Any]


class AllowedColumns(QWidget):
    """The sentence of a refusal, and a check box for each way to fix or allow it.

    Signals
    -------
    changed
        Another way is checked.

    Attributes
    ----------
    boxes : dict of str to QCheckBox
        Boxes that accept a column, by its name, or by name and kind if it is refused again;
        boxes that fix, by setting and value.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.sentence = label("", "error", wrap=True, name="score_refusal")
        self.boxes: dict[str, QCheckBox] = {}
        self._meanings: dict[str, tuple[str, str]] = {}
        self._remedies: dict[str, tuple[str, Remedy]] = {}
        self._inner = QWidget()
        self._grid = QGridLayout(self._inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self._area = scrolled(self._inner, "allowed_columns", "Ways to score the table")
        what = label("To score the table, tick what applies:")
        self.setLayout(down(self.sentence, what, self._area, gap=4))
        self.hide()

    def accepted(self) -> Accepted:
        """Return the checked ways."""
        checked = {key for key, box in self.boxes.items() if box.isChecked()}
        allowed = {
            kind: tuple(n for key, (k, n) in self._meanings.items() if key in checked and k == kind)
            for kind in KINDS
        }
        remedies = [self._remedies[key] for key in self._remedies if key in checked]
        written = {name: remedy.value for name, remedy in remedies if remedy.setting == "written"}
        scale = {
            name: float(remedy.value) for name, remedy in remedies if remedy.setting == "scale"
        }
        marks = [remedy.value for _, remedy in remedies if remedy.setting == "decimal"]
        words = tuple(remedy.value for _, remedy in remedies if remedy.setting == "missing")
        dialect: dict[str, Any] = {"decimal": marks[-1]} if marks else {}
        return Accepted(allowed, written, scale, dialect | ({"missing": words} if words else {}))

    def refuse(self, sentence: str, refusals: Mapping[str, Refusal]) -> None:
        """Show a refusal; checked boxes stay checked."""
        show_note(self.sentence, sentence, "error")
        for name, refusal in refusals.items():
            if (remedy := refusal.remedy) is not None:
                self._offer(name, remedy)
        for name, refusal in refusals.items():
            key = name if name not in self._meanings else f"{name} ({refusal.kind})"
            if (refusal.kind, name) not in self._meanings.values():
                self._meanings[key] = refusal.kind, name
                taken = "its numbers as they are" if refusal.kind == RANGE else "as missing"
                words = f"Score with {name} {taken}"
                self._add(key, f"{name}: {taken}", f"{words}: {refusal.reason}", refusal.reason)
        self._area.setFixedHeight(_ROW * min(_MOST_ROWS, len(self.boxes)))
        self.show()

    def _offer(self, name: str, remedy: Remedy) -> None:
        """Offer a remedy; one for the whole file is offered once."""
        key = f"{remedy.setting} {name if remedy.is_of_column else remedy.value}"
        if key in self.boxes:
            return
        self._remedies[key] = name, remedy
        text, reason = {
            "decimal": (f"Decimal {_MARKS.get(remedy.value, '')}", "in the whole table"),
            "missing": (f"{remedy.value!r} means missing", "in the whole table"),
            "written": (f"{name}: written as {remedy.value}", "in all of its cells"),
            "scale": (f"{name}: multiply by {remedy.value}", "in all of its cells"),
        }[remedy.setting]
        self._add(key, text, f"{text}, {reason}", reason)

    def _add(self, key: str, text: str, words: str, reason: str) -> None:
        row = len(self.boxes)
        before = list(self.boxes.values())[-1] if self.boxes else self._area
        box = QCheckBox(elided(text, _LONGEST, len).replace("&", "&&"))
        named(box, f"allow_column_{row}", words)
        plain_tooltip(box, text)
        box.toggled.connect(self.changed)
        box.setFixedHeight(_ROW)
        self.boxes[key] = box
        why = ElidedLabel(reason)
        set_role(why, "muted")
        plain_tooltip(why, reason)
        self._grid.addWidget(box, row, 0)
        self._grid.addWidget(why, row, 1)
        # Without an order, Tab would reach new boxes after the buttons of the dialog.
        QWidget.setTabOrder(before, box)

    def accept_all(self) -> None:
        """Hide the sentence once the table is scored; checked boxes stay."""
        show_note(self.sentence, "")

    def clear(self) -> None:
        """Remove all boxes, as for another table or model."""
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self.boxes, self._meanings, self._remedies = {}, {}, {}
        show_note(self.sentence, "")
        self.hide()


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
        return f"AUC 95 % {report.auc.interval}"
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
