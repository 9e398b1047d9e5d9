"""Confidence bands of ROC curves."""

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
from aucstudio.engine.arrays import Array
from aucstudio.engine.inference.bands import GRID
from aucstudio.gui.common.curve_figures import run_curves
from aucstudio.gui.common.plotting import faded
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.roc.overlays import Layer, Scene
from aucstudio.gui.state.background import Answer
from aucstudio.notices import text
from aucstudio.project.results.summary import LEVEL, ranking
from aucstudio.project.runs.record import RunRecord

NONE = "none"
MOST_RUNS = 3  # more overlapping bands are unreadable

_ALPHA = 40
_KEPT = 32
_LOW_END = 60  # points between half a negative and 1, for non-linear axes


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

    def __init__(self, plot: pg.PlotWidget) -> None:
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
    return np.unique(np.concatenate([GRID, low_end, 1.0 - low_end]).clip(0.0, 1.0))


def _of_splits(record: RunRecord) -> Bounds:
    """Bound the mean TPR at each FPR by the corrected resampled t statistic."""
    known = run_curves(record)
    count = len(known.curves)
    if count < inference.LEAST_SPLITS:
        none = np.empty(0)
        return Bounds(none, none, none, f"none: fewer than {inference.LEAST_SPLITS} splits")
    fpr = _grid(min(curve.rows[1] for curve in known.curves))
    _, mean, spread = roc.vertical_average(known.curves, fpr)
    share = record.test_fraction
    once = record.experiment.validation.disjoint
    factor = inference.variance_factor(count, share, disjoint=once)
    reach = scipy.special.stdtrit(count - 1, (1 + LEVEL) / 2) * np.sqrt(factor) * spread
    low, high = np.clip([mean - reach, mean + reach], 0.0, 1.0)
    return Bounds(fpr, low, high, f"95 % pointwise, corrected t over {count} splits")
