"""What is shown of a scored table: its highest scores, its input check, and pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QWidget

from aucstudio.gui.common.layouts import STRETCH, across, down, empty, grid, scrolled
from aucstudio.gui.common.plain_text import elided, menu_text, plain_tooltip
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.roc_sketch import RocSketch
from aucstudio.gui.common.plotting import class_steps, finite_range, make_plot, pen, style_classes
from aucstudio.gui.common.table import Row, SheetTable
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.gui.common.widgets import label, named, show_note
from aucstudio.gui.dialogs.scored import Scored, ScoreSummary, TableRanking
from aucstudio.notices import text
from aucstudio.notices.words import as_sentence, class_words, figure_words, score_words
from aucstudio.project.data.preparing.acceptance import KINDS, RANGE, Refusal
from aucstudio.project.runs.input_check import ScoringReport, some_names
from aucstudio.project.runs.model import Model

_ROW, _MOST_ROWS = 22, 5
_LONGEST = 48  # characters of a name and what is done about it
_MARKS = {".": "point", ",": "comma"}


@dataclasses.dataclass(frozen=True)
class Way:
    """A way to score a refused table.

    Attributes
    ----------
    setting : str
        What it sets: "written" or "scale" of a column, "decimal" or "missing" of the table; or
        the kind of a refusal, of which the column is accepted.
    column : str
        Empty for the whole table.
    value : str
    """

    setting: str
    column: str
    value: str = ""


class AllowedColumns(QWidget):
    """The sentence of a refusal, and a check box for each way to fix or allow it.

    Signals
    -------
    changed
        Another way is checked.

    Attributes
    ----------
    boxes : dict of Way to QCheckBox
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.sentence = label("", "error", wrap=True, name="score_refusal")
        self.boxes: dict[Way, QCheckBox] = {}
        self._grid = grid(gaps=(16, 0), wide=1)
        self._area = scrolled(self._grid, "allowed_columns", "Ways to score the table")
        what = label("To score the table, tick what applies:")
        self.setLayout(down(self.sentence, what, self._area, gap=4))
        self.hide()

    def accepted(self) -> dict[str, Any]:
        """Return the arguments of scoring that follow from the checked boxes."""
        ways = [way for way, box in self.boxes.items() if box.isChecked()]

        def of(setting: str) -> list[Way]:
            return [way for way in ways if way.setting == setting]

        dialect: dict[str, Any] = {way.setting: way.value for way in of("decimal")}
        if words := tuple(way.value for way in of("missing")):
            dialect["missing"] = words
        return {
            "allowed": {kind: tuple(way.column for way in of(kind)) for kind in KINDS},
            "written": {way.column: way.value for way in of("written")},
            "scale": {way.column: float(way.value) for way in of("scale")},
            "dialect": dialect,
        }

    def refuse(self, sentence: str, refusals: Mapping[str, Refusal]) -> None:
        """Show a refusal, and boxes for its columns below those of earlier refusals."""
        show_note(self.sentence, sentence, "error")
        for name, refusal in refusals.items():
            if (remedy := refusal.remedy) is not None:
                mark = _MARKS.get(remedy.value, repr(remedy.value))
                values = {"column": name, "value": remedy.value, "mark": mark}
                words = text(f"remedy_{remedy.setting}", **values)
                where = "all of its cells" if remedy.is_of_column else "the whole table"
                way = Way(remedy.setting, name if remedy.is_of_column else "", remedy.value)
                self._offer(way, words, f"in {where}", f"{words}, in {where}")
        for name, refusal in refusals.items():
            taken = "its numbers as they are" if refusal.kind == RANGE else "as missing"
            words = f"Score with {name} {taken}: {refusal.reason}"
            self._offer(Way(refusal.kind, name), f"{name}: {taken}", refusal.reason, words)
        self.show()
        self._fit()

    def _fit(self) -> None:
        room = self._grid.heightForWidth(self._area.viewport().width())
        self._area.setFixedHeight(min(scaled(_ROW) * _MOST_ROWS, room))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _offer(self, way: Way, title: str, reason: str, words: str) -> None:
        """Add the box of a way, unless there is one."""
        if way in self.boxes:
            return
        row = len(self.boxes)
        before = list(self.boxes.values())[-1] if self.boxes else self._area
        box = self.boxes[way] = QCheckBox(menu_text(elided(title, _LONGEST, len)))
        named(box, f"allow_column_{row}", words)
        plain_tooltip(box, title)
        box.toggled.connect(self.changed)
        box.setFixedHeight(scaled(_ROW))
        self._grid.addWidget(box, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(label(reason, "muted", wrap=True), row, 1)
        # Without an order, Tab would reach new boxes after the buttons of the dialog.
        QWidget.setTabOrder(before, box)

    def accept_all(self) -> None:
        """Hide the sentence once the table is scored; checked boxes stay."""
        show_note(self.sentence, "")

    def clear(self) -> None:
        """Remove all boxes, as for another table or model."""
        empty(self._grid)
        self.boxes = {}
        show_note(self.sentence, "")
        self.hide()


_SIDE, _HISTOGRAM = 260, 150


class _Picture(QWidget):
    """A plot of a fixed size above words about it."""

    def __init__(self, name: str, plot: Plot, height: int) -> None:
        super().__init__()
        named(self, name)
        plot.setFixedSize(scaled(_SIDE), scaled(height))
        plot.getViewBox().setMouseEnabled(x=False, y=False)
        self.words = label("", "muted", wrap=True, name=f"{name}_words")
        self.setLayout(down(plot, self.words, gap=4))
        self.setFixedWidth(scaled(_SIDE))


class CurvePreview(_Picture):
    """ROC curve with the FPR range and the model's threshold."""

    def __init__(self) -> None:
        sketch = RocSketch("score_roc_plot")
        super().__init__("score_curve", sketch.plot, _SIDE)
        self.sketch, self.point = sketch, pg.ScatterPlotItem(size=9)
        sketch.plot.addItem(self.point)

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


class ScoreHistogram(_Picture):
    """Histogram of the scores by predicted class, with the threshold.

    Attributes
    ----------
    plot : Plot
    classes : list of two PlotCurveItem
        Rows predicted positive, and the others.
    """

    def __init__(self) -> None:
        plot = make_plot("score_histogram_plot", "Score", "Rows")
        super().__init__("score_histogram", plot, _HISTOGRAM)
        self.plot = plot
        self.classes = [class_steps(), class_steps()]
        self.threshold = pg.InfiniteLine(angle=90)
        plot.addItem(*self.classes, self.threshold, ignoreBounds=True)

    def show_scores(self, scores: ScoreSummary) -> None:
        """Draw the scores of a table."""
        theme = current_theme()
        for item, rows in zip(self.classes, scores.rows, strict=True):
            item.setData(scores.edges, rows)
        style_classes(self.classes)
        self.threshold.setPen(pen(theme.text, 1.5))
        self.threshold.setPos(scores.threshold)
        low, high = finite_range(np.append(scores.edges, scores.threshold), 0.02)
        self.plot.set_whole((low, high), (0.0, 1.05 * (scores.rows.max() or 1.0)), air=0.0)
        (positive, negative), (positives, negatives) = scores.classes, scores.predicted
        words = text(
            "predicted_classes",
            positive=positive,
            negative=negative,
            positives=positives,
            negatives=negatives,
            threshold=score_words(scores.threshold),
        )
        lowest, highest = scores.ends
        if lowest < scores.edges[0] or highest > scores.edges[-1]:
            ends = {"lowest": score_words(lowest), "highest": score_words(highest)}
            words = f"{words} {text('scores_beyond_axis', **ends)}"
        self.words.setText(words)


_HEADS = ("Input check", "Count", "Which")
_OF_ROWS = ("Row", "Identifier", "Score", "Threshold", "Predicted", "Probability")
_HEIGHT, _LEAST_ROWS, _SEEN_ROWS = 28, 6, 5
_NOTHING = "–"
_INDENT = "    "

Line = tuple[str, str, str]


class ScoreReport(QWidget):
    """Shows a report of scoring."""

    def __init__(self) -> None:
        super().__init__()
        self.figure = label("", "figure", name="score_auc")
        self.sentence = label("", wrap=True, name="score_sentence")
        self.facts = label("", "muted", wrap=True, name="score_facts")
        self.view = SheetTable("score_report", "Input check", _HEADS, _HEIGHT, 2, words=(0, 2))
        self.view.setMinimumHeight(_LEAST_ROWS * _HEIGHT)
        self.rows = SheetTable("scored_rows", "Highest scores", _OF_ROWS, _HEIGHT, 4, words=(1, 4))
        self.rows.offer_sorting()
        self.curve, self.histogram = CurvePreview(), ScoreHistogram()
        first = (self.sentence, self.facts, self.rows, 4, (self.view, 1))
        words, pictures = (
            down(self.figure, *first, gap=4),
            down(self.curve, self.histogram, STRETCH),
        )
        self.setLayout(across((words, 1), pictures, gap=16))

    def show_columns(
        self, model: Model, columns: Sequence[str], label: str | None, *identifiers: str
    ) -> None:
        """Show which columns of a table the model uses, before any row is read."""
        known = model.feature_columns
        matched = tuple(name for name in columns if name in known)
        absent = tuple(name for name in known if name not in columns)
        used = {*known, label, *identifiers}
        others = tuple(name for name in columns if name not in used)
        show_note(self.figure, "")
        show_note(self.facts, "")
        self.curve.show_ranking(None)
        self.rows.hide()
        self.histogram.hide()
        at_hand = f"the label is {label!r}" if label is not None else "there is no label"
        self.sentence.setText(
            f"{len(matched):,} of the model's {len(known):,} columns found; {at_hand}."
        )
        lines = [_columns("Columns matched", matched), _columns("Columns ignored", others)]
        lines += [_columns("Columns absent", absent)] if absent else []
        self.view.show_rows([Row(cells) for cells in lines])

    def show_report(self, found: Scored) -> None:
        """Show the scores of a table and the report on it."""
        report, scores = found.report, found.scores
        self.curve.show_ranking(found.ranking)
        self.histogram.show_scores(scores)
        self.histogram.show()
        self._show_rows(scores)
        area = report.auc
        show_note(self.figure, "" if area is None else f"AUC {figure_words(area.value)}", "figure")
        sentence = text(
            "table_scored",
            scored=report.scored,
            rows=report.rows,
            predicted=f"{scores.predicted[0]:,} predicted {class_words(scores.classes[0])}",
            interval=None if area is None else (area.low, area.high),
            without=None if area is not None else report.without_auc or "the table has no label",
            unseen=[f"{met.count:,} in {name}" for name, met in report.unseen.items()] or None,
            missing=sum(report.empty.values()) or None,
            also=found.note,
        )
        self.sentence.setText(sentence)
        groups = map(as_sentence, report.about_groups())
        show_note(self.facts, "\n".join(filter(None, (found.facts, *groups))))
        self.view.show_rows([Row(cells) for cells in _lines(report)])

    def _show_rows(self, scores: ScoreSummary) -> None:
        self.rows.show_rows(list(scores.highest))
        for place, cells in enumerate(zip(*(row.cells for row in scores.highest), strict=True)):
            self.rows.setColumnHidden(place, not any(cells))
        self.rows.fit_rows(1, _SEEN_ROWS)
        self.rows.setVisible(bool(scores.highest))


def _lines(report: ScoringReport) -> Iterator[Line]:
    yield _columns("Columns matched", report.matched)
    yield _columns("Columns ignored", report.ignored)
    if report.missing:
        yield _columns("Absent columns, as allowed", report.missing)
    for name, late in report.later.items():
        which = f"{name}: after {late.last_day}"
        yield "Rows after the last training day", f"{late.count:,}", which
    for what, columns in _cells(report).items():
        total = sum(count for _, count, _ in columns)
        yield what, f"{total:,}", "" if columns else _NOTHING
        for name, count, which in columns:
            yield f"{_INDENT}{name}", f"{count:,}", " ".join(which.split())
    left_out = report.rows - report.scored
    yield "Rows left out", f"{left_out:,}", _NOTHING if not left_out else ""
    for row in report.left_out:
        yield (
            f"{_INDENT}row {row.row:,}{'' if row.line == row.row else f', {row.where}'}",
            "",
            " ".join(row.reason.split()),
        )
    if more := left_out - len(report.left_out):
        yield f"{_INDENT}and {more:,} more", "", ""


def _columns(what: str, names: tuple[str, ...]) -> Line:
    return what, f"{len(names):,}", some_names(names) if names else _NOTHING


def _cells(report: ScoringReport) -> dict[str, list[tuple[str, int, str]]]:
    """List the columns with cells of each kind: name, count and which."""
    unread = {
        name: f"{bad.text!r}{'' if bad.line is None else f' in line {bad.line:,}'}"
        for name, bad in report.unreadable.items()
    }
    return {
        "Unseen levels": [
            (name, met.count, some_names(met.values)) for name, met in report.unseen.items()
        ],
        "Non-numeric cells": [
            (name, bad.count, f"{unread[name]}; treated as missing")
            for name, bad in report.unreadable.items()
        ],
        "Values beyond a limit": [
            (name, count, text("score_way", way=way))
            for name, (count, way) in report.limited.items()
        ],
        "Cells far outside the training range": [
            (far.column, far.count, f"{far.value:.6g} in row {far.row:,}; treated as missing")
            for far in report.far
        ]
        + [
            (far.column, far.count, f"{far.value:.6g} in row {far.row:,}; scored as it is")
            for far in report.outside
        ],
        "Missing cells, handled as in training": [
            (name, count, "a larger share than in training" if name in report.gaps else "")
            for name, count in report.empty.items()
            if count
        ],
    }
