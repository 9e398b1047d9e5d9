"""Confidence bands of ROC curves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGraphicsPathItem

from aucstudio.engine import inference
from aucstudio.engine.arrays import Array
from aucstudio.engine.inference.bands import GRID
from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.curve_figures import run_curves
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import faded
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.roc.overlays import Layer, Scene
from aucstudio.gui.state.background import Answer
from aucstudio.notices import text
from aucstudio.project.results.summary import LEVEL, ranking, tpr_summary
from aucstudio.project.runs.record import RunRecord

NONE = "none"
MOST_RUNS = 3  # more overlapping bands are unreadable

_ALPHA = 40
_KEPT = 32
_LOW_END = 60  # points between half a negative and 1, for non-linear axes
_FEW = 12  # of them where each point takes longer: over splits


@dataclasses.dataclass(frozen=True, eq=False)
class Bounds:
    """A confidence band of one run's curve, at FPRs ascending from 0 to 1."""

    fpr: Array
    low: Array
    high: Array
    words: str


class BandLayer(Layer):
    """Confidence bands of a few runs, or that of the selected run.

    Attributes
    ----------
    kind : str
        As :func:`bounds_of` takes it, or "none".
    areas : list of QGraphicsPathItem
    found : sequence of Bounds
        The bands that are drawn.
    """

    def __init__(self, plot: Plot) -> None:
        self.areas = [QGraphicsPathItem() for _ in range(MOST_RUNS)]
        super().__init__(plot, self.areas, -4)
        self.kind = NONE
        self.found: Sequence[Bounds] = ()
        self._answer = Answer(self, self._on_found, keep=_KEPT)
        for item in self.areas:
            item.setPen(Qt.PenStyle.NoPen)

    def show(self, scene: Scene) -> None:
        runs = scene.runs if scene.is_roc and self.kind != NONE else ()
        if len(runs) > MOST_RUNS:
            runs = () if scene.chosen is None else (scene.chosen,)
        key = self.kind, tuple(run.record for run in runs)
        if not runs:
            self.found = ()
            self._answer.drop()
        elif key != self._answer.key:
            self.found = ()
            self._answer.ask(key, lambda post: [bounds_of(one, key[0], post) for one in key[1]])
        self.words = text("band_drawn", words=self.found[0].words) if self.found else ""
        self.show_items(False)
        for item, run, bounds in zip(self.areas, runs, self.found, strict=False):
            x = scene.x.forward(bounds.fpr)
            low, high = (scene.y.forward(rates) for rates in (bounds.low, bounds.high))
            item.setPath(pg.arrayToQPath(np.append(x, x[::-1]), np.append(low, high[::-1])))
            item.setBrush(faded(run_colour(current_theme(), run.look.colour), _ALPHA))
            item.setVisible(len(x) > 0)

    def _on_found(self, found: Sequence[Bounds]) -> None:
        self.found = found
        self.changed.emit()


def bounds_of(
    record: RunRecord, kind: str, post: Callable[[Any], bool] = lambda _: False
) -> Bounds:
    """Compute a band: "pointwise", "simultaneous" or "kolmogorov".

    Over several splits it is always the spread of their mean.
    """
    if len(record.splits) > 1:
        return _of_splits(record, post)
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


def _grid(negatives: int, low_end: int = _LOW_END) -> Array:
    near = np.geomspace(0.5 / negatives, 1.0, low_end)
    return np.unique(np.concatenate([GRID[:: _LOW_END // low_end], near, 1.0 - near]).clip(0, 1))


def _of_splits(record: RunRecord, post: Callable[[Any], bool]) -> Bounds:
    """Bound the mean TPR at each FPR as the card of the run does."""
    count = len(record.splits)
    fpr = _grid(min(curve.rows[1] for curve in run_curves(record).curves), _FEW)
    found = []
    for k, x in enumerate(fpr.tolist()):
        found.append(tpr_summary(record, x))
        if post(k / len(fpr)):
            raise Stopped("bounding a curve")
    low, high = np.array([one.bounds for one in found]).T
    known = np.isfinite(low)
    if not known.any():
        return Bounds(fpr[known], fpr[known], fpr[known], f"none: {found[0].reason}")
    known[-1], low[-1], high[-1] = True, 1.0, 1.0  # at FPR 1
    words = f"95 % pointwise, mean of {count} splits: holds at any one FPR"
    return Bounds(fpr[known], low[known], high[known], words)
