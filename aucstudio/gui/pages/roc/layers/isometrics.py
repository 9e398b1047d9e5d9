"""Isometric lines of accuracy, precision, F and weighted relative accuracy."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject

from aucstudio.engine import roc
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.roc.picture.line_labels import Crowd, LineLabels
from aucstudio.gui.pages.roc.picture.scene import Points, Scene, seen_places, seen_rates
from aucstudio.gui.state.session import Session
from aucstudio.project.results.thresholds import data_prior, share_words

MEASURES = {
    "accuracy": roc.accuracy,
    "precision": roc.precision,
    "f": roc.f_measure,
    "wra": roc.weighted_relative_accuracy,
}
_GRID = 41  # points of the window along each axis at which the measure is looked at
_MOST = 9  # lines
_WIDE = 50.0  # greatest over least value from which the levels are in powers of ten


class IsometricLayer(QObject):
    """Lines of equal value of one measure, at the prior in force, through the window.

    Attributes
    ----------
    enabled : bool
    measure : str
        A key of :data:`MEASURES`.
    levels : list of float
        The values that are drawn.
    labels : LineLabels
    words : str
        What it adds to the sentence.
    """

    def __init__(
        self, plot: pg.PlotWidget, session: Session, crowd: Crowd = lambda _place: 0.0
    ) -> None:
        super().__init__(plot)
        self.enabled = False
        self.measure = "accuracy"
        self.levels: list[float] = []
        self.words = ""
        self._drawn: tuple[object, ...] = ()
        self._session = session
        self.lines = pg.PlotCurveItem(antialias=True, connect="finite")
        self.lines.setZValue(2)
        plot.addItem(self.lines, ignoreBounds=True)
        self.labels = LineLabels(plot, crowd)
        self.apply_theme()

    def show(self, scene: Scene) -> None:
        prior = self._prior(scene) if self.enabled and scene.face == "roc" else None
        drawn = (prior, self.measure, scene.x, scene.y, scene.window)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        if prior is None:
            self._draw([], [])
            self.levels, self.words = [], ""
            return
        measure, skew = MEASURES[self.measure], roc.skew_of(prior)
        found = [
            (level, seen_places(scene, measure.isometric(level, skew)))
            for level in levels_of(scene, measure, skew)
        ]
        seen = [(level, places) for level, places in found if len(places[0]) > 1]
        self.levels = [level for level, _ in seen]
        self._draw([places for _, places in seen], [_level_words(level) for level in self.levels])
        self.words = f"Thin lines: equal {measure.name} at {share_words(prior)} positives."

    def _prior(self, scene: Scene) -> float | None:
        """Return the prior in force; None where there is no run to take it from."""
        stakes = self._session.stakes
        if stakes.prior is not None:
            return stakes.prior
        run = scene.chosen or next(iter(scene.runs), None)
        return None if run is None else data_prior(run.record, self._session.table)

    def _draw(self, lines: list[Points], words: list[str]) -> None:
        gap = np.array([np.nan])
        parts = [
            np.concatenate([part for line in lines for part in (line[k], gap)] or [gap[:0]])
            for k in (0, 1)
        ]
        self.lines.setData(*parts)
        self.labels.show(lines, words)
        self.apply_theme()

    def apply_theme(self) -> None:
        self.lines.setPen(pen(current_theme().neutral, 0.8))
        self.labels.apply_theme()


def levels_of(scene: Scene, measure: roc.PointMeasure, skew: float) -> list[float]:
    """Choose round values of the measure in the window, above chance if visible."""
    left, right, bottom, top = seen_rates(scene)
    fpr, tpr = np.meshgrid(np.linspace(left, right, _GRID), np.linspace(bottom, top, _GRID))
    values, above = measure(tpr, fpr, skew), tpr >= fpr
    values = values[np.isfinite(values) & (above if above.any() else True)]
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    return round_levels(low, high, float(np.quantile(values, 0.1)))


def round_levels(low: float, high: float, common: float) -> list[float]:
    """Return round values strictly between two ends: 1, 2 and 5 of powers of ten, or even steps.

    Powers of ten where a tenth of the window lies below a fiftieth of the highest value:
    ``common`` is the value below which that tenth lies.
    """
    if not high > low:
        return []
    if 0 < common < high / _WIDE:
        first = math.floor(math.log10(max(common / 10, low, 1e-12)))
        last = math.ceil(math.log10(high))
        steps = [m * 10.0**k for k in range(first, last + 1) for m in (1, 2, 5)]
        return [s for s in steps if low < s < high][-_MOST:]
    rough = (high - low) / _MOST
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    found = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
    return [float(f"{level:.10g}") for level in found if low < level < high]


def _level_words(level: float) -> str:
    text = f"{level:.3g}" if abs(level) >= 1e-4 or level == 0 else f"{level:.0e}"
    return text.replace("-", "−")
