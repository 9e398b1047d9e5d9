"""Confidence bands of ROC curves, computed in the background."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
import scipy
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGraphicsPathItem

from aucstudio.engine import inference, roc
from aucstudio.engine.inference.bands import GRID
from aucstudio.engine.types import Array
from aucstudio.gui.common.curves import run_curves
from aucstudio.gui.common.plotting import faded
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.roc.axes import Axis, draw
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.results.summary import LEVEL, ranking
from aucstudio.project.runs.record import RunRecord

NONE = "none"
KINDS = (NONE, "pointwise", "simultaneous", "kolmogorov")
MOST_RUNS = 3  # more overlapping bands are unreadable

_ALPHA = 40
_KEPT = 32
_LOW_END = 60  # points between half a negative and 1, for logarithmic axes


@dataclasses.dataclass(frozen=True, eq=False)
class Bounds:
    """A confidence band of one run's curve, at FPRs ascending from 0 to 1."""

    fpr: Array
    low: Array
    high: Array
    words: str


class ConfidenceBands:
    """The bands in the picture.

    Parameters
    ----------
    plot : PlotWidget
    computed : callable
        Called when bands were computed in the background.

    Attributes
    ----------
    items : list of QGraphicsPathItem
    found : sequence of Bounds or None
        The bands of the runs, None until they are computed.
    words : str
        What the drawn bands mean.
    """

    def __init__(self, plot: pg.PlotWidget, computed: Callable[[], object]) -> None:
        self._box: Any = plot.getPlotItem().getViewBox()
        self._computed = computed
        self.items: list[QGraphicsPathItem] = []
        self.found: Sequence[Bounds] | None = None
        self._answer = Answer(plot, self._on_found, keep=_KEPT)
        self.words = ""

    def show(self, runs: Sequence[ShownRun], kind: str, along: Axis, up: Axis) -> None:
        """Draw the bands of some runs when they are computed."""
        for item in self.items:
            self._box.removeItem(item)
        self.items, self.words = [], ""
        key = kind, tuple(run.record for run in runs)
        if kind == NONE or not runs:
            self._answer.drop()
            return
        if key != self._answer.key:
            self.found = None
            self._answer.ask(key, lambda post: [bounds_of(record, kind, post) for record in key[1]])
            return  # drawn when it is computed, which may be now
        for run, bounds in zip(runs, self.found or (), strict=False):
            self.words = bounds.words
            if len(bounds.fpr):
                self._add(run, bounds, along, up)

    def _on_found(self, found: Sequence[Bounds]) -> None:
        self.found = found
        self._computed()

    def _add(self, run: ShownRun, bounds: Bounds, along: Axis, up: Axis) -> None:
        lower = draw(bounds.fpr, bounds.low, along, up)
        upper = draw(bounds.fpr, bounds.high, along, up)
        outline = [np.r_[a, b[::-1]] for a, b in zip(lower, upper, strict=True)]
        item = QGraphicsPathItem(pg.arrayToQPath(*outline))
        item.setPen(Qt.PenStyle.NoPen)
        item.setBrush(faded(run_colour(current_theme(), run.look.colour), _ALPHA))
        item.setZValue(-4)
        self._box.addItem(item, ignoreBounds=True)
        self.items.append(item)


def bounds_of(
    record: RunRecord, kind: str, post: Callable[[Any], bool] = lambda _: False
) -> Bounds:
    """Compute a band of one of ``KINDS``; over several splits always the spread of their mean."""
    if len(record.splits) > 1:
        return _of_splits(record)
    split = record.splits[0]
    rows = ranking(split)
    grid = _grid(int(np.count_nonzero(~split.test_positive)))
    if kind == "pointwise":
        found = inference.pointwise_band(rows, LEVEL, grid=grid)
        words = "95 % pointwise: holds at any one FPR"
    elif kind == "kolmogorov":
        found = inference.kolmogorov_band(rows, LEVEL, grid=grid)
        words = "95 % simultaneous: Kolmogorov’s bounds"
    else:
        found = inference.bootstrap_band(rows, LEVEL, grid=grid, progress=post)
        words = "95 % simultaneous: fixed width, bootstrap"
    return Bounds(found.fpr, found.low, found.high, words)


def _grid(negatives: int) -> Array:
    low_end = np.geomspace(0.5 / negatives, 1.0, _LOW_END)
    return np.unique(np.concatenate([GRID, low_end]).clip(0.0, 1.0))


def _of_splits(record: RunRecord) -> Bounds:
    """Bound the mean TPR at each FPR by the corrected resampled t statistic."""
    known, (train, test) = run_curves(record), record.sizes
    count = len(known.curves)
    if count < inference.LEAST_SPLITS:
        none = np.empty(0)
        return Bounds(none, none, none, f"none: fewer than {inference.LEAST_SPLITS} splits")
    fpr = _grid(min(curve.rows[1] for curve in known.curves))
    _, mean, spread = roc.vertical_average(known.curves, fpr)
    share = test / (train + test)
    once = record.experiment.validation.disjoint
    factor = inference.variance_factor(count, share, disjoint=once)
    reach = scipy.special.stdtrit(count - 1, (1 + LEVEL) / 2) * np.sqrt(factor) * spread
    low, high = np.clip([mean - reach, mean + reach], 0.0, 1.0)
    return Bounds(fpr, low, high, f"95 % pointwise, corrected t over {count} splits")
