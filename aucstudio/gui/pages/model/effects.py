"""Effect curves: the score against one column, for every split."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QComboBox, QStackedWidget

from aucstudio.engine.arrays import Array
from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.controls import fill_combo
from aucstudio.gui.common.plotting import faded, finite_range, make_plot, pen
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme, run_colour, run_dash
from aucstudio.gui.common.whiskers import WhiskerChart, Whiskers
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject, Post
from aucstudio.gui.state.background import Work
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text
from aucstudio.project.data.text import dates
from aucstudio.project.explain.effects import ROWS, ScoreCurve, rough_spans, score_curve
from aucstudio.project.explain.trees import plain_number
from aucstudio.project.geometry.planes import thinned

_ROWS = 2_000  # of which quantiles and dependences are taken
_FAINT = 90
_COLUMN_LETTERS = 18


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreCurves:
    """Score against one column.

    Attributes
    ----------
    fit : tuple
        The run and the split whose columns are listed.
    spans : dict
        Approximate effect of each column on the score.
    column : str
    curves : list of ScoreCurve
        One per split.
    deciles : ndarray
        Of the column in the training rows of the selected split; empty for a category.
    """

    fit: tuple[object, ...]
    spans: dict[str, float]
    column: str
    curves: list[ScoreCurve]
    deciles: Array


class ShapesPart(ModelPicture[ScoreCurves]):
    """The curve of the selected split, with the others faintly behind it; a row for each level."""

    key: ClassVar = "curves"
    title: ClassVar = "Score curves"
    tip: ClassVar = "model_curves_tip"
    table: ClassVar = "model_curves_table"
    busy: ClassVar = "model_curves_busy"
    of_one_split: ClassVar = True

    def __init__(self) -> None:
        self._stack = QStackedWidget()
        super().__init__(make_plot("model_curves_plot", "Column", "Score"), self._stack)
        self.chart = WhiskerChart("model_levels_plot", "Score")
        for shown in (self.plot, self.chart):
            self._stack.addWidget(shown)
        self._latest: ScoreCurves | None = None
        self.column_combo = self.row.choice("model_column_combo", verb=self.ask, elided=True)
        self.column_combo.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.column_combo.setMinimumContentsLength(_COLUMN_LETTERS)

    def suits(self, run: ShownRun) -> bool:
        return any(split.coef is None for split in run.record.splits)

    # ------------------------------------------------------------- computing

    def known(self, subject: ModelSubject) -> ScoreCurves | None:
        found = self.found
        if found is None or found.fit != _fit(subject):
            return None
        return found if found.column == self.column_combo.currentData() else None

    def request_key(self, subject: ModelSubject) -> tuple[object, ...]:
        same_run = self._latest is not None and self._latest.fit[:-1] == subject.key
        return *_fit(subject), self.column_combo.currentData() if same_run else None

    def work(self, subject: ModelSubject) -> Work[ScoreCurves]:
        # The list of columns belongs to the window's thread.
        column, latest = self.request_key(subject)[-1], self._latest
        spans = latest.spans if latest is not None and latest.fit == _fit(subject) else {}
        return lambda post: _score_curves(subject, spans, column, post)

    def _on_found(self, found: ScoreCurves) -> None:
        self._latest = found
        # The list stays where only the split is another one.
        names = sorted(found.spans, key=lambda name: -found.spans[name])
        listed = [self.column_combo.itemData(k) for k in range(self.column_combo.count())]
        if set(listed) != set(names):
            fill_combo(self.column_combo, [(name, name) for name in names])
        quietly(self.column_combo.setCurrentIndex, self.column_combo.findData(found.column))
        super()._on_found(found)

    # ------------------------------------------------------------- drawing

    def draw(self, subject: ModelSubject, found: ScoreCurves) -> None:
        own = found.curves[subject.index]
        self._stack.setCurrentWidget(self.chart if own.levels else self.plot)
        if own.levels:
            self.chart.show_rows(_levels(found, own), subject.run.look)
        else:
            self._draw_curves(found, own, subject.run.look)
        rows = None if own.exact else ROWS
        score = text("model_curves_axis", exact=own.exact, rows=rows)
        self.chart.plot.setLabel("bottom", score)
        self.plot.setLabel("left", score)
        self.message.emit(_sentence(subject, found, own))

    def _draw_curves(self, found: ScoreCurves, own: ScoreCurve, look: RunLook) -> None:
        self.plot.clear()
        theme, dash = current_theme(), run_dash(look.colour)
        colour = run_colour(theme, look.colour)
        for curve in sorted(found.curves, key=lambda curve: curve is own):
            drawn = (
                pen(colour, 2.5, dash) if curve is own else pen(faded(colour, _FAINT), 1.0, dash)
            )
            self.plot.addItem(pg.PlotCurveItem(curve.x, curve.y, pen=drawn))
        low, high = finite_range(np.concatenate([curve.y for curve in found.curves]))
        if len(found.deciles):
            marks = pg.ScatterPlotItem(symbol="|", size=10, pen=pen(theme.muted, 1.5))
            marks.setData(found.deciles, np.full(len(found.deciles), low))
            self.plot.addItem(marks)
        self.plot.getAxis("bottom").show_dates(own.layout)
        self.plot.set_whole(finite_range(own.x, 0.02), (low, high))
        self.plot.show_whole()
        ticks = " (marks: deciles)" if len(found.deciles) else ""
        self.plot.setLabel("bottom", found.column + ticks)

    def clear(self) -> None:
        super().clear()
        if self.subject is not None:
            self.chart.show_rows([], self.subject.run.look)

    def columns(self, found: ScoreCurves) -> Columns:
        sizes = [len(curve.x) for curve in found.curves]
        x: list[object] = []
        for curve in found.curves:
            spelled = (dates.date_text(value, curve.layout) for value in curve.x.tolist())
            x += curve.levels or (spelled if curve.layout else list(curve.x))
        return {
            "column": [found.column] * sum(sizes),
            "split": np.repeat(np.arange(1, len(sizes) + 1), sizes),
            "value": x,
            "score": np.concatenate([curve.y for curve in found.curves]),
        }


def _fit(subject: ModelSubject) -> tuple[object, ...]:
    return *subject.key, subject.index


def _score_curves(
    subject: ModelSubject, spans: dict[str, float], chosen: object, post: Post
) -> ScoreCurves:
    def pulse(_what: str, _fraction: float) -> None:
        if post(None):
            raise Stopped("curves")

    prepared, table, splits = [], subject.data, subject.record.splits
    for split in splits:
        rows = split.train_rows[thinned(split.train_positive, _ROWS)]
        prepared.append(split.model.preparation.apply(table, rows))
        pulse("rows", 0.0)
    own, own_rows = subject.split.model, prepared[subject.index]
    spans = spans or rough_spans(own, own_rows, pulse)
    column = str(chosen or max(spans, key=lambda name: spans[name]))
    pairs = zip(splits, prepared, strict=True)
    curves = [score_curve(split.model, cells, column, pulse=pulse) for split, cells in pairs]
    deciles = np.empty(0)
    if column in own.preparation.numbers:
        k = own.preparation.numbers.index(column)
        cells = own.preparation.in_own_unit(k, own_rows[:, k])
        known = cells[~np.isnan(cells)]
        deciles = np.quantile(known, np.arange(1, 10) / 10) if len(known) else deciles
    return ScoreCurves(_fit(subject), spans, column, curves, deciles)


def _sentence(subject: ModelSubject, found: ScoreCurves, own: ScoreCurve) -> Statement:
    if own.span == 0:
        return Statement(text("model_curves_flat", name=subject.name, column=found.column))
    low, high = (_place(own, int(k)) for k in (own.y.argmin(), own.y.argmax()))
    ends = {"span": plain_number(own.span, 3), "low": low, "high": high}
    return Statement(text("model_curves_span", column=found.column, name=subject.name, **ends))


def _levels(found: ScoreCurves, own: ScoreCurve) -> Whiskers:
    """Return a row for each level, that of the highest score first, with the other splits."""
    # Levels have no order, and other splits may list them in another one.
    heights = [dict(zip(curve.levels, curve.y, strict=True)) for curve in found.curves]
    splits = np.array([[one.get(level, np.nan) for level in own.levels] for one in heights])
    none = np.full(len(own.y), np.nan)
    several = splits if len(splits) > 1 else None
    return Whiskers(own.levels, own.y, none, none, lambda k: own.levels[k], several).ranked()


def _place(curve: ScoreCurve, k: int) -> str:
    """Write a value of the column: a level, a number or a date."""
    if curve.levels:
        return str(curve.levels[k])
    value = float(curve.x[k])
    if not curve.layout:
        return plain_number(value, 3)
    whole = dates.date_text(value, curve.layout)
    return whole if np.ptp(curve.x) < 2 else whole[:10]  # days, not their times
