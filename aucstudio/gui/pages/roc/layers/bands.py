"""Confidence bands of ROC curves, computed in the background."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyqtgraph as pg
import scipy
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGraphicsPathItem

from aucstudio.engine import inference, roc
from aucstudio.engine.types import Array
from aucstudio.gui.common.curves import run_curves
from aucstudio.gui.common.plotting import faded
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.roc.picture.axes import draw
from aucstudio.gui.pages.roc.picture.scene import Axis
from aucstudio.gui.state.answer import Asker
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.results.summary import LEVEL, ranking
from aucstudio.project.runs.record import RunRecord

NONE = "none"
KINDS = {
    NONE: ("None", "Curves alone"),
    "pointwise": ("Pointwise", "Holds the true TPR at any one FPR with 95 %"),
    "simultaneous": ("Simultaneous", "Holds the whole true curve with 95 %, by the bootstrap"),
    "kolmogorov": ("Simultaneous, exact", "Kolmogorov bounds: wider, valid for any sample size"),
}
MOST_RUNS = 3  # more bands over each other say nothing

_ALPHA = 40
_LOW_END = 60  # points between half a negative and 1, for logarithmic axes


@dataclasses.dataclass(frozen=True, eq=False)
class Bounds:
    """A confidence band of one run's curve, at FPRs ascending from 0 to 1."""

    fpr: Array
    low: Array
    high: Array
    words: str


_known: WeakKeyDictionary[RunRecord, dict[str, Bounds]] = WeakKeyDictionary()


class ConfidenceBands:
    """The bands in the picture.

    Parameters
    ----------
    parent : QObject
        Lives as long as the bands are computed.
    box : ViewBox
        They are drawn in it.
    landed : callable
        Called when bands have come.
    """

    def __init__(self, page: Asker, box: Any, landed: Callable[[], object]) -> None:
        self._box = box
        self._items: list[QGraphicsPathItem] = []
        self._answer = page.answer(lambda _done: landed())
        self.words = ""

    def show(self, runs: Sequence[ShownRun], kind: str, along: Axis, up: Axis) -> None:
        """Draw the bands of some runs, once they are there."""
        missing = [r.record for r in runs if kind not in _known.get(r.record, {})]
        wanted = (kind, tuple(run.record.id for run in runs))
        self.words = ""
        self._clear()
        if kind == NONE or not missing:
            self._answer.forget()
        else:
            self._answer.ask(wanted, lambda post: _bound_all(missing, kind, post))
        if kind != NONE and runs and not self._answer.busy:
            self._draw(runs, kind, along, up)

    def _clear(self) -> None:
        for item in self._items:
            self._box.removeItem(item)
        self._items = []

    def _draw(self, runs: Sequence[ShownRun], kind: str, along: Axis, up: Axis) -> None:
        self._clear()
        for run in runs:
            bounds = _known.get(run.record, {}).get(kind)
            if bounds is None:
                continue
            self.words = bounds.words
            if not len(bounds.fpr):
                continue
            lower = draw(bounds.fpr, bounds.low, along, up)
            upper = draw(bounds.fpr, bounds.high, along, up)
            outline = [np.r_[a, b[::-1]] for a, b in zip(lower, upper, strict=True)]
            item = QGraphicsPathItem(pg.arrayToQPath(*outline))
            item.setPen(Qt.PenStyle.NoPen)
            item.setBrush(faded(run_colour(current_theme(), run.look.colour), _ALPHA))
            item.setZValue(-4)
            self._box.addItem(item, ignoreBounds=True)
            self._items.append(item)


def _bound_all(records: Sequence[RunRecord], kind: str, post: Callable[[Any], bool]) -> bool:
    for record in records:
        _known.setdefault(record, {})[kind] = bounds_of(record, kind, post)
    return True


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
    return np.unique(np.concatenate([inference.bands.GRID, low_end]).clip(0.0, 1.0))


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
