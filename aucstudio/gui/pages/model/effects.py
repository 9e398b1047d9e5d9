"""Effect curves: the score against one column, for every split."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QComboBox

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.controls import fill_combo
from aucstudio.gui.common.plain_text import elided
from aucstudio.gui.common.plots.axes import date_ticks
from aucstudio.gui.common.plotting import faded, finite_range, make_plot, pen
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.theme import current_theme, run_colour, run_dash, run_symbol
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject, Post
from aucstudio.gui.state.background import Work
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.table import Table
from aucstudio.project.data.text import dates
from aucstudio.project.explain.effects import ROWS, ScoreCurve, rough_spans, score_curve
from aucstudio.project.explain.trees import plain_number
from aucstudio.project.geometry.planes import thinned
from aucstudio.project.runs.record import RunRecord

_ROWS = 2_000  # of which quantiles and dependences are taken
_MOST_LEVELS = 12
_FAINT = 90
_NAME_WIDTH = 96
_COLUMN_LETTERS = 18


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreCurves:
    """Score against one column.

    Attributes
    ----------
    spans : dict
        Approximate effect of each column on the score.
    column : str
    curves : list of ScoreCurve
        One per split.
    deciles : ndarray
        Of the column in the training rows of the selected split; empty for a category.
    """

    spans: dict[str, float]
    column: str
    curves: list[ScoreCurve]
    deciles: NDArray[np.float64]


class ShapesPart(ModelPicture[ScoreCurves]):
    """The curve of the selected split, with the others faintly behind it."""

    key: ClassVar = "curves"
    title: ClassVar = "Score curves"
    tip: ClassVar = (
        "How the score changes with one column: its term, if the score is a sum of terms. For "
        "other scores, the partial dependence: a mean over training rows with this column alone "
        "changed. Only its shape has a meaning, not its level"
    )
    of_one_split: ClassVar = True
    table_shows: ClassVar = "see how its score changes"

    def __init__(self) -> None:
        super().__init__(make_plot("model_curves_plot", "Column", "Score"))
        self._of: tuple[object, ...] = ()  # the fit whose columns are listed
        tip = "Columns with the largest effect come first"
        self.column_combo = self.row.choice(
            "model_column_combo", "C&olumn", tip, verb=self.ask, elided=True
        )
        self.column_combo.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.column_combo.setMinimumContentsLength(_COLUMN_LETTERS)

    def suits(self, run: ShownRun) -> bool:
        return any(split.coef is None for split in run.record.splits)

    # ------------------------------------------------------------- computing

    def ask(self) -> None:
        subject, found = self.subject, self.found
        same = found is not None and subject is not None and self._of == self._fit(subject)
        if same and found is not None and found.column == self.column_combo.currentData():
            self.redraw()
        else:
            super().ask()

    def request_key(self, subject: ModelSubject) -> tuple[object, ...]:
        column = self.column_combo.currentData() if self._of[:2] == subject.key else None
        return *self._fit(subject), column

    def work(self, subject: ModelSubject) -> tuple[Work[ScoreCurves], str]:
        record, index, table = subject.record, subject.index, subject.table
        column = self.request_key(subject)[-1]
        is_same = self.found is not None and self._of == self._fit(subject)
        spans = self.found.spans if is_same and self.found is not None else {}
        assert table is not None

        def work(post: Post) -> ScoreCurves:
            return _shapes(record, index, table, spans, column, post)

        return work, f"Computing how the score of {subject.name} changes…"

    @staticmethod
    def _fit(subject: ModelSubject) -> tuple[object, ...]:
        return *subject.key, subject.index

    def _on_found(self, found: ScoreCurves) -> None:
        assert self.subject is not None
        self._of = self._fit(self.subject)
        self._fill_columns(found)
        super()._on_found(found)

    def _fill_columns(self, found: ScoreCurves) -> None:
        """List the columns by their spans; the list stays where only the split is another one."""
        names = sorted(found.spans, key=lambda name: -found.spans[name])
        listed = [self.column_combo.itemData(k) for k in range(self.column_combo.count())]
        if set(listed) != set(names):
            fill_combo(self.column_combo, [(name, name) for name in names])
        quietly(self.column_combo.setCurrentIndex, self.column_combo.findData(found.column))

    # ------------------------------------------------------------- drawing

    def draw(self, subject: ModelSubject, found: ScoreCurves) -> None:
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
        self.message.emit(_sentence(subject, found, own))

    def _add(
        self, curve: ScoreCurve, own: ScoreCurve, colour: QColor, width: float, look: RunLook
    ) -> None:
        if not curve.levels:
            drawn = pen(colour, width, run_dash(look.colour))
            self.plot.addItem(pg.PlotCurveItem(curve.x, curve.y, pen=drawn))
            return
        # Levels have no order, and other splits may list them in another one.
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
    column: Any,
    post: Post,
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
    text = dates.spell(value, curve.layout)
    return text if np.ptp(curve.x) < 2 else text[:10]  # days, not their times


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
