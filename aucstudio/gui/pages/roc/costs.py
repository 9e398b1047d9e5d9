"""Prior and cost: controls, the line of equal cost, the point of least cost."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QSlider, QWidget

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.inference import Interval, cost_threshold_interval
from aucstudio.engine.params import read_decimal
from aucstudio.gui.common.buttons import push_button
from aucstudio.gui.common.curve_figures import Trace
from aucstudio.gui.common.layouts import across, down, grid
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.rate_axes import place, placed
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.theme import current_theme, fix_width
from aucstudio.gui.common.threshold import CARD_WIDTH
from aucstudio.gui.common.widgets import label, make_buddy, named, show_note
from aucstudio.gui.pages.roc.operating_point import FocusedPoint
from aucstudio.gui.pages.roc.overlays import Layer, Scene
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.notices.words import score_words
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import ranking
from aucstudio.project.results.thresholds import (
    LEAST_PRIOR,
    amount_words,
    data_prior,
    draws_for,
    expected_cost,
    read_share,
    share_words,
)

_STEPS = 600  # of a slider, a hundred for each power of ten
_MOST_PRIOR = 0.99  # on the slider; the field takes more
_MOST_MISS = 1e6
_ROWS = ("best", "point", "nobody", "everybody")


class CostPanel(QWidget):
    """Form of prior and cost of a miss; shows costs per 10,000 cases.

    Attributes
    ----------
    prior_field, miss_field : QLineEdit
    prior_slider, miss_slider : QSlider
    table_button, best_button : QPushButton
    costs : dict of str to QLabel
        Of the keys "best", "point", "nobody" and "everybody".
    """

    best_asked = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "cost_panel", "Prior and cost")
        fix_width(self, CARD_WIDTH)
        self._session = session
        self._prior = 0.5
        self.problem = label("", "error", wrap=True, name="stakes_problem")
        self.problem.hide()
        self._make_fields()
        prior = _line("Positi&ves", self.prior_field, self.table_button)
        miss = _line("A miss &costs", self.miss_field, self.alarms)
        parts = prior, self.prior_slider, self.whose, miss, self.miss_slider, self.problem
        costs = self._make_costs(), self.sure, self.best_button
        self.setLayout(down(label("PRIOR AND COST", "heading"), *parts, *costs, gap=4))
        self._connect()

    def _make_fields(self) -> None:
        self.prior_field = named(QLineEdit(), "prior_field", "Share of positives")
        plain_tooltip(self.prior_field, text("prior_field"))
        self.table_button = push_button(
            "prior_data_button", verb=lambda: self._session.weigh(prior=None)
        )
        self.prior_slider = _slider("prior_slider", "Share of positives, logarithmic")
        self.whose = label("", "muted", name="prior_whose")
        self.miss_field = named(QLineEdit(), "miss_field", "Cost of a miss in false alarms")
        plain_tooltip(self.miss_field, text("miss_field"))
        self.miss_slider = _slider("miss_slider", "Cost of a miss, logarithmic")
        self.alarms = label("", name="miss_unit")
        self.sure = label("", "muted", wrap=True, name="best_threshold_words")
        self.best_button = push_button("best_point_button", verb=self.best_asked.emit)

    def _make_costs(self) -> QGridLayout:
        made = grid(gaps=(6, 1), wide=0, top=4)
        head, *words = text("cost_rows").strip().splitlines()
        made.addWidget(label(head, "muted"), 0, 0, 1, 2)
        self.costs = {key: label("", name=f"cost_{key}") for key in _ROWS}
        for k, (cost, row) in enumerate(zip(self.costs.values(), words, strict=True), start=1):
            made.addWidget(label(row, "muted"), k, 0)
            made.addWidget(cost, k, 1, Qt.AlignmentFlag.AlignRight)
        return made

    def _connect(self) -> None:
        self.prior_field.editingFinished.connect(self._on_prior)
        self.miss_field.editingFinished.connect(self._on_miss)
        self.prior_slider.valueChanged.connect(
            lambda k: self._session.weigh(prior=_rounded(prior_at(k)))
        )
        self.miss_slider.valueChanged.connect(
            lambda k: self._session.weigh(miss=_rounded(_MOST_MISS ** (2 * k / _STEPS - 1)))
        )

    # ------------------------------------------------------------- reading and showing

    def show_stakes(self, prior: float) -> None:
        """Show the stakes in force; ``prior`` is the chosen one or that of the data."""
        stakes = self._session.stakes
        self._prior = prior
        with QSignalBlocker(self.prior_slider), QSignalBlocker(self.miss_slider):
            self.prior_slider.setValue(prior_step(prior))
            place = (math.log(stakes.miss, _MOST_MISS) + 1) / 2
            self.miss_slider.setValue(round(_STEPS * place))
        self.prior_field.setText(share_words(prior))
        self.miss_field.setText(f"{stakes.miss:.10g}")
        self.alarms.setText("false alarm" if stakes.miss == 1 else "false alarms")
        self.table_button.setEnabled(stakes.prior is not None)
        self.whose.setText("as in the data" if stakes.prior is None else "chosen, not of the data")

    def show_costs(self, *costs: float) -> None:
        """Show expected costs in the order of the rows."""
        for key, cost in zip(_ROWS, costs, strict=True):
            self.costs[key].setText(amount_words(cost))

    def _on_prior(self) -> None:
        if self.prior_field.text() != share_words(self._prior):
            self._weigh("prior", lambda: read_share(self.prior_field.text()))

    def _on_miss(self) -> None:
        self._weigh("miss", lambda: _read_miss(self.miss_field.text()))

    def _weigh(self, stake: str, read: Callable[[], float]) -> None:
        """Set a stake that was typed, or state what is wrong with it."""
        try:
            value = read()
        except InputError as error:
            show_note(self.problem, str(error), "error")
        else:
            show_note(self.problem, "")
            self._session.weigh(**{stake: value})


def _read_miss(typed: str) -> float:
    with contextlib.suppress(ValueError):
        if 1 / _MOST_MISS <= (miss := read_decimal(typed)) <= _MOST_MISS:
            return miss
    raise InputError(text("miss_out_of_range", typed=repr(typed)))


def prior_at(step: int) -> float:
    """Return the prior at a step of the slider."""
    return float(LEAST_PRIOR * (_MOST_PRIOR / LEAST_PRIOR) ** (step / _STEPS))


def prior_step(prior: float) -> int:
    """Return the step of the slider nearest to a prior."""
    place = math.log(prior / LEAST_PRIOR) / math.log(_MOST_PRIOR / LEAST_PRIOR)
    return min(round(_STEPS * place), _STEPS)


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")


def _slider(name: str, accessible: str) -> QSlider:
    made = named(QSlider(Qt.Orientation.Horizontal), name, accessible)
    made.setRange(0, _STEPS)
    made.setPageStep(_STEPS // 6)
    plain_tooltip(made, accessible)
    return made


def _line(text: str, field: QLineEdit, last: QWidget) -> QHBoxLayout:
    return across(make_buddy(text, field), (field, 1), last)


_PAUSE = 250  # milliseconds that the sliders rest before resampling starts


@dataclasses.dataclass(frozen=True)
class Best:
    """The cheapest point of a line, and what else costs what.

    Attributes
    ----------
    fpr, tpr : float
    cost, nobody, everybody : float
        Expected cost of 10,000 cases there, and of calling none or all positive.
    """

    fpr: float
    tpr: float
    cost: float
    nobody: float
    everybody: float

    @classmethod
    def of(cls, fpr: Array, tpr: Array, prior: float, miss: float) -> Best:
        """Find it among the vertices of a hull; of equally cheap ones that of the lowest FPR."""
        costs = expected_cost(tpr, fpr, prior, miss)
        k = int(costs.argmin())
        ends = float(costs[0]), float(costs[-1])
        return cls(float(fpr[k]), float(tpr[k]), float(costs[k]), *ends)


class CostLayer(Layer):
    """The convex hull of the chosen curve, where it costs least, and the line of that cost.

    Attributes
    ----------
    panel : CostPanel
        Shown next to the plot while the layer is on.
    best : Best or None
    """

    def __init__(self, plot: Plot, session: Session) -> None:
        self.hull, self.line = (pg.PlotCurveItem(antialias=True) for _ in range(2))
        self.mark = pg.ScatterPlotItem(size=13, symbol="d", antialias=True)
        super().__init__(plot, (self.hull, self.line, self.mark), 40)
        self.panel = CostPanel(session)
        self.best: Best | None = None
        self._session = session
        self._point: FocusedPoint | None = None
        self._outline: tuple[Trace | None, Array, Array] = (None, np.empty(0), np.empty(0))
        self._answer = Answer(self, self._show_interval, self.panel.sure.setText)
        self.panel.best_asked.connect(self.go_to_best)
        self.apply_theme()

    def show(self, scene: Scene) -> None:
        self._point = FocusedPoint.of(scene) if self.enabled else None
        self.panel.setVisible(self._point is not None)
        self.show_items(self._point is not None)
        self.words = ""
        if self._point is not None:
            self._show_point(scene, self._point)
        else:
            self._answer.drop()

    def prior(self) -> float:
        """Return the prior in force."""
        point, stakes = self._point, self._session.stakes
        if stakes.prior is not None or point is None:
            return stakes.prior or 0.5
        return data_prior(point.run.record, self._session.table)

    def _show_point(self, scene: Scene, point: FocusedPoint) -> None:
        prior, miss = self.prior(), self._session.stakes.miss
        if self._outline[0] is not point.trace:
            self._outline = (point.trace, *hull_of(point.trace))
        self.best = best = Best.of(*self._outline[1:], prior, miss)
        here = float(expected_cost(point.tpr, point.fpr, prior, miss))
        line = roc.cost_line(best.tpr, best.fpr, prior, cost_fn=miss)
        for item, rates in ((self.hull, self._outline[1:]), (self.line, line.segment())):
            item.setData(*placed(*rates, scene.x, scene.y))
        self.mark.setData([place(scene.x, best.fpr)], [place(scene.y, best.tpr)])
        self.panel.show_stakes(prior)
        self.panel.show_costs(best.cost, here, best.nobody, best.everybody)
        self.words = text(
            "least_cost",
            share=share_words(prior),
            miss=miss,
            best=best,
            cost=amount_words(best.cost),
            here=amount_words(here),
        )
        self._resample(point, prior, miss)

    def apply_theme(self) -> None:
        theme = current_theme()
        self.hull.setPen(pen(theme.muted, 1.0, (3.0, 3.0)))
        self.line.setPen(pen(theme.text, 1.5, (10.0, 4.0)))
        self.mark.setPen(pen(theme.card, 1.0))
        self.mark.setBrush(theme.text)

    # ------------------------------------------------------------- the best threshold

    def best_threshold(self) -> float:
        """Return the threshold of the focused split at the best point."""
        assert self._point is not None
        assert self.best is not None
        return self._point.cut_for(self.best.fpr)

    def go_to_best(self) -> None:
        """Move the operating point there."""
        if self._point is not None:
            self._session.set_threshold(threshold=self.best_threshold())

    def _threshold_words(self, digits: str = ".3g") -> str:
        point = self._point
        of = f"Split {point.split + 1}: best" if point and point.trace.splits > 1 else "Best"
        return f"{of} threshold {score_words(self.best_threshold(), digits)}"

    def _resample(self, point: FocusedPoint, prior: float, miss: float) -> None:
        key = (point.run.record, point.split, prior, miss)
        if key == self._answer.key:
            return
        split = point.run.record.splits[point.split]
        draws = draws_for(len(split.test_rows))

        def work(post: Callable[[float], bool]) -> Interval:
            costs = 1.0, miss, prior
            return cost_threshold_interval(ranking(split), *costs, draws=draws, progress=post)

        self.panel.sure.setText(f"{self._threshold_words()}: resampling…")
        self._answer.ask(key, work, pause=_PAUSE)

    def _show_interval(self, found: Interval) -> None:
        digits = _digits(found.high - found.low)
        bounds = f"{score_words(found.low, digits)} to {score_words(found.high, digits)}"
        known = f"{100 * found.level:.0f} % {bounds}; {found.method}"
        self.panel.sure.setText(f"{self._threshold_words(digits)} ({known})")


def hull_of(trace: Trace) -> tuple[Array, Array]:
    """Return the vertices of a line's upper convex hull, from (0, 0) to (1, 1)."""
    if trace.curve is not None:
        outline = roc.hull(trace.curve)
        return outline.fpr, outline.tpr
    x, y = trace.x, trace.y
    while True:
        dx, dy = np.diff(x), np.diff(y)
        bends_down = dx[:-1] * dy[1:] - dy[:-1] * dx[1:] < 0
        kept = np.concatenate([[True], bends_down, [True]])
        if kept.all():
            return x, y
        x, y = x[kept], y[kept]


def _digits(width: float) -> str:
    """Return the format that shows an interval of a width with three digits of it."""
    if not (math.isfinite(width) and width > 0):
        return ".3g"
    return f".{max(0, 2 - math.floor(math.log10(width)))}f"
