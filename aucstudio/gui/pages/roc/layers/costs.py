"""Line of equal cost, and the point of least cost."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject

from aucstudio.engine import roc
from aucstudio.engine.inference import Interval, cost_threshold_interval
from aucstudio.engine.types import Array
from aucstudio.gui.common.curves import Trace
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.roc.layers.cost_panel import CostPanel
from aucstudio.gui.pages.roc.layers.operating_point import FocusedPoint
from aucstudio.gui.pages.roc.picture.scene import Scene, bent, line_places
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.project.results.operating_points import (
    amount_words,
    data_prior,
    draws_for,
    expected_cost,
    share_words,
)
from aucstudio.project.results.summary import ranking

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


class CostLayer(QObject):
    """The convex hull of the chosen curve, where it costs least, and the line of that cost.

    Attributes
    ----------
    enabled : bool
    panel : CostPanel
        Shown next to the plot while the layer is on.
    best : Best or None
    words : str
        What it adds to the sentence.
    """

    def __init__(self, plot: pg.PlotWidget, session: Session) -> None:
        super().__init__(plot)
        self.enabled = False
        self.panel = CostPanel(session)
        self.best: Best | None = None
        self.words = ""
        self._session = session
        self._point: FocusedPoint | None = None
        self._outline: tuple[Trace | None, Array, Array] = (None, np.empty(0), np.empty(0))
        self._answer = Answer(self, self._show_interval, self.panel.sure.setText)
        self.hull = pg.PlotCurveItem(antialias=True)
        self.line = pg.PlotCurveItem(antialias=True)
        self.mark = pg.ScatterPlotItem(size=13, symbol="d", antialias=True)
        for depth, item in enumerate((self.hull, self.line, self.mark)):
            item.setZValue(40 + depth)
            plot.addItem(item, ignoreBounds=True)
        self.panel.best_asked.connect(self.go_to_best)
        self.apply_theme()

    def show(self, scene: Scene) -> None:
        self._point = FocusedPoint.of(scene) if self.enabled and scene.face == "roc" else None
        seen = self._point is not None
        self.panel.setVisible(seen)
        for item in (self.hull, self.line, self.mark):
            item.setVisible(seen)
        self.words = ""
        if self._point is not None:
            self._show_point(scene, self._point)
        else:
            self._answer.drop()

    @property
    def busy(self) -> bool:
        """Whether the best threshold is still being resampled."""
        return self._answer.busy

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
        self.best = Best.of(*self._outline[1:], prior, miss)
        here = float(expected_cost(point.tpr, point.fpr, prior, miss))
        self._draw(scene, point, self.best)
        best = self.best
        self.panel.show_stakes(prior)
        self.panel.show_costs(
            best=best.cost, point=here, nobody=best.nobody, everybody=best.everybody
        )
        alarms = "one false alarm" if miss == 1 else f"{miss:g} false alarms"
        self.words = (
            f"With {share_words(prior)} positives and a miss worth {alarms}, FPR "
            f"{best.fpr:.3g} and TPR {best.tpr:.3f} cost least: {amount_words(best.cost)} per "
            f"10,000 cases; the operating point costs {amount_words(here)}."
        )
        self._resample(point, prior, miss)

    def _draw(self, scene: Scene, point: FocusedPoint, best: Best) -> None:
        prior, miss = self.prior(), self._session.stakes.miss
        self.hull.setData(*bent(scene, *self._outline[1:]))
        line = roc.cost_line(best.tpr, best.fpr, prior, cost_fn=miss)
        self.line.setData(*line_places(scene, line))
        self.mark.setData(
            scene.x.forward(np.array([best.fpr])), scene.y.forward(np.array([best.tpr]))
        )

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
        return f"{of} threshold {_number(self.best_threshold(), digits)}"

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
        bounds = f"{_number(found.low, digits)} to {_number(found.high, digits)}"
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


def _number(value: float, digits: str) -> str:
    return f"{value:{digits}}".replace("-", "−")
