"""Effect curves: the score against one column, for every split."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QComboBox

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.choices import fill_combo
from aucstudio.gui.common.eliding import elided
from aucstudio.gui.common.plots.date_ticks import date_ticks
from aucstudio.gui.common.plotting import faded, finite_range, make_plot, pen
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.theme import current_theme, run_colour, run_dash, run_symbol
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.table import Table
from aucstudio.project.data.text import dates
from aucstudio.project.explain.effects import ROWS, ScoreCurve, rough_spans, score_curve
from aucstudio.project.explain.trees import plain_number
from aucstudio.project.geometry.sampling import thinned
from aucstudio.project.runs.record import RunRecord

_ROWS = 2_000  # of which quantiles and dependences are taken
_MOST_LEVELS = 12
_FAINT = 90
_NAME_WIDTH = 96
_COLUMN_LETTERS = 18


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreCurves:
    """What the picture shows.

    Attributes
    ----------
    spans : dict
        How far each column moves the score, roughly.
    column : str
    curves : list of ScoreCurve
        One a split.
    deciles : ndarray
        Of the column in the training rows of the split that is pointed at; empty for a category.
    """

    spans: dict[str, float]
    column: str
    curves: list[ScoreCurve]
    deciles: NDArray[np.float64]


class ShapesPart(ModelPicture):
    """The curve of the split that is pointed at, the others faintly behind it."""

    key: ClassVar = "curves"
    title: ClassVar = "Score curves"
    tip: ClassVar = (
        "How the score changes with one column: its term, if the score is a sum of terms. For "
        "other scores, the partial dependence: a mean over training rows with this column alone "
        "changed. Only its shape has a meaning, not its level"
    )
    of_one_split: ClassVar = True

    def __init__(self) -> None:
        super().__init__(make_plot("model_curves_plot", "Column", "Score"))
        self.found: ScoreCurves | None = None
        self._of: tuple[Any, ...] = ()  # the fit whose curves are shown
        self._answer = self.answer(self._on_found, self._show_none)
        tip = "Columns with the largest effect come first"
        self.column_combo = self.row.choice(
            "model_column_combo", "C&olumn", tip, verb=self._ask, elided=True
        )
        self.column_combo.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.column_combo.setMinimumContentsLength(_COLUMN_LETTERS)

    def suits(self, run: ShownRun) -> bool:
        return any(split.coef is None for split in run.record.splits)

    # ------------------------------------------------------------- computing

    def show_subject(self, subject: ModelSubject) -> None:
        self.subject = subject
        self._ask()

    def _ask(self) -> None:
        subject = self.subject
        if subject is None:
            return
        if subject.table is None:
            self._show_none("Open the table of this run to see how its score changes.")
            return
        of_split = (subject.run.record.id, subject.run.record.created, subject.index)
        column = self.column_combo.currentData() if self._of[:2] == of_split[:2] else None
        found = self.found if self._of == of_split else None
        if found is not None and found.column == column:
            self._draw()
            return
        spans = {} if found is None else found.spans
        record, index, table = subject.run.record, subject.index, subject.table

        def work(post: Callable[[None], bool]) -> ScoreCurves:
            return _shapes(record, index, table, spans, column, post)

        if self._answer.ask((of_split, column), work):
            self.told.emit(f"Computing how the score of {subject.name} changes…")

    def _on_found(self, found: ScoreCurves) -> None:
        assert self.subject is not None
        record = self.subject.run.record
        self.found, self._of = found, (record.id, record.created, self.subject.index)
        self._fill_columns(found)
        self._draw()

    def _fill_columns(self, found: ScoreCurves) -> None:
        """List the columns by their spans; the list stays where only the split is another one."""
        names = sorted(found.spans, key=lambda name: -found.spans[name])
        listed = [self.column_combo.itemData(k) for k in range(self.column_combo.count())]
        if set(listed) != set(names):
            fill_combo(self.column_combo, [(name, name) for name in names])
        quietly(self.column_combo.setCurrentIndex, self.column_combo.findData(found.column))

    # ------------------------------------------------------------- drawing

    def _show_none(self, sentence: str) -> None:
        self._answer.drop()
        self.found = None
        self.plot.clear()
        self.told.emit(sentence)

    def _draw(self) -> None:
        found, subject = self.found, self.subject
        if found is None or subject is None:
            return
        self.plot.clear()
        own, theme = found.curves[subject.index], current_theme()
        look = subject.run.look
        colour = run_colour(theme, look.colour)
        for curve in found.curves:
            if curve is not own:
                self._add(curve, own, faded(colour, _FAINT), 1.0, look)
        self._add(own, own, colour, 2.5, look)
        y = np.concatenate([curve.y for curve in found.curves])
        low, high = finite_range(y)
        if len(found.deciles):
            marks = pg.ScatterPlotItem(symbol="|", size=10, pen=pen(theme.muted, 1.5))
            marks.setData(found.deciles, np.full(len(found.deciles), low))
            self.plot.addItem(marks)
        shown = min(len(own.levels), _MOST_LEVELS)
        self._name_levels(own.levels[:shown])
        x_range = (-0.5, shown - 0.5) if shown else finite_range(own.x, 0.02)
        if own.layout:
            ticks_at = date_ticks(float(own.x.min()), float(own.x.max()), own.layout)
            self.plot.getAxis("bottom").setTicks([ticks_at])
        self.plot.set_whole(x_range, (low, high))
        self.plot.show_whole()
        ticks = " (marks: deciles)" if len(found.deciles) else ""
        self.plot.setLabel("bottom", found.column + ticks)
        what = "Term of the score" if own.exact else f"Mean score over {ROWS} rows"
        self.plot.setLabel("left", what)
        self.told.emit(_sentence(subject, found, own))

    def _add(
        self, curve: ScoreCurve, own: ScoreCurve, colour: QColor, width: float, look: RunLook
    ) -> None:
        if not curve.levels:
            drawn = pen(colour, width, run_dash(look.colour))
            self.plot.addItem(pg.PlotCurveItem(curve.x, curve.y, pen=drawn))
            return
        # Levels have no order to draw a line along, and other splits may list them otherwise.
        place = {level: k for k, level in enumerate(own.levels[:_MOST_LEVELS])}
        at = [
            (place[level], y)
            for level, y in zip(curve.levels, curve.y, strict=True)
            if level in place
        ]
        size = 11 if curve is own else 6
        symbol, edge = run_symbol(look.colour), pen(colour, 0.5)
        self.plot.addItem(
            pg.ScatterPlotItem(pos=np.array(at), size=size, symbol=symbol, brush=colour, pen=edge)
        )

    def _name_levels(self, levels: tuple[str, ...]) -> None:
        axis, metrics = self.plot.getAxis("bottom"), QFontMetrics(self.font())
        names = [elided(level, _NAME_WIDTH, metrics.horizontalAdvance) for level in levels]
        axis.setTicks([list(enumerate(names))] if levels else None)

    def data(self) -> Columns:
        found = self.found
        if found is None:
            return {}
        sizes = [len(curve.x) for curve in found.curves]
        x: list[object] = []
        for curve in found.curves:
            spelled = (dates.spell(value, curve.layout) for value in curve.x.tolist())
            x += curve.levels or (spelled if curve.layout else list(curve.x))
        return {
            "column": [found.column] * sum(sizes),
            "split": np.repeat(np.arange(1, len(sizes) + 1), sizes),
            "value": x,
            "score": np.concatenate([curve.y for curve in found.curves]),
        }


def _shapes(
    record: RunRecord,
    index: int,
    table: Table,
    spans: dict[str, float],
    column: str | None,
    post: Callable[[None], bool],
) -> ScoreCurves:
    def pulse(_what: str, _fraction: float) -> None:
        if post(None):
            raise Stopped("curves")

    prepared, table = [], record.experiment.data.with_scores(table)
    for split in record.splits:
        rows = split.train_rows[thinned(split.train_positive, _ROWS)]
        prepared.append(split.model.preparation.apply(table, rows))
        pulse("rows", 0.0)
    model = record.splits[index].model
    spans = spans or rough_spans(model, prepared[index], pulse)
    column = column or max(spans, key=lambda name: spans[name])
    curves = [
        score_curve(split.model, X, column, pulse=pulse)
        for split, X in zip(record.splits, prepared, strict=True)
    ]
    deciles = np.empty(0)
    if column in model.preparation.numbers:
        k = model.preparation.numbers.index(column)
        cells = model.preparation.in_own_unit(k, prepared[index][:, k])
        known = cells[~np.isnan(cells)]
        deciles = np.quantile(known, np.arange(1, 10) / 10) if len(known) else deciles
    return ScoreCurves(spans, column, curves, deciles)


def _told(curve: ScoreCurve, value: float) -> str:
    if not curve.layout:
        return plain_number(value, 3)
    told = dates.spell(value, curve.layout)
    return told if np.ptp(curve.x) < 2 else told[:10]  # days, not their times


def _sentence(subject: ModelSubject, found: ScoreCurves, own: ScoreCurve) -> Statement:
    if own.span == 0:
        return Statement(f"The score of {subject.name} does not change with {found.column}.")
    low, high = int(own.y.argmin()), int(own.y.argmax())
    at = [own.levels[k] if own.levels else _told(own, float(own.x[k])) for k in (low, high)]
    words = (
        f"With {found.column} the score of {subject.name} moves by {plain_number(own.span, 3)}: "
        f"it is lowest at {at[0]} and highest at {at[1]}."
    )
    if len(own.levels) > _MOST_LEVELS:
        drawn = f"The {_MOST_LEVELS} most frequent of {len(own.levels)} levels are drawn."
        return Statement(words, drawn)
    return Statement(words)
