"""The areas of a search along one setting."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QBrush, QColor

from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.search.picture import SearchAxes, TitledPlot
from aucstudio.gui.pages.search.standing import CandidateStanding

Array = NDArray[np.float64]
Counts = NDArray[np.intp]
_REACH = 24.0  # pixels from the pointer within which a point answers


class Profile(TitledPlot):
    """Mean areas along one setting.

    Attributes
    ----------
    line : PlotDataItem
        Through the best mean at each value.
    spread : ErrorBarItem
        One standard error to either side.
    folds, means, best, ring : ScatterPlotItem
        Areas in each fold, means, the best and the chosen candidate.
    """

    def __init__(self) -> None:
        super().__init__("search_plot")
        self.spread = pg.ErrorBarItem()
        self.folds, self.means = pg.ScatterPlotItem(size=5), pg.ScatterPlotItem(size=8)
        self.best, self.ring = pg.ScatterPlotItem(symbol="d"), pg.ScatterPlotItem(size=18)
        self.line = pg.PlotDataItem(connect="finite", antialias=True)
        for item in (self.folds, self.line, self.spread, self.means, self.best, self.ring):
            self.plot.addItem(item)
        self._places = np.empty((0, 2))

    def draw(self, standing: CandidateStanding, shown: SearchAxes) -> None:
        """Hand the candidates to the items."""
        setting, alone, colour = shown.along[0], len(shown.along) == 1, shown.colour
        places = setting.places[setting.index(standing.search.candidates)]
        self._places = np.column_stack([places, standing.means])
        high = _highest(places, standing.means)
        line = self._places[high] if setting.is_numeric else np.empty((0, 2))
        self.line.setData(line, pen=pen(colour, 2.0))
        barred = high[np.isfinite(standing.errors[high])]
        self._draw_spread(standing, barred, colour)
        areas = standing.search.areas
        dotted = alone and areas.shape[1] > 1
        dots = _fold_points(places, areas) if dotted else ([], [])
        self.folds.setData(*dots, pen=None, brush=faded(colour, 90))
        self._draw_means(standing, high, colour, alone=alone)
        ticks = setting.ticks()
        self.plot.getAxis("bottom").setTicks(None if ticks is None else [ticks])
        parts = ["diamond: best", "ring: chosen"]
        parts[:0] = [f"dots: {shown.unit}s"] if dotted else []
        parts[:0] = ["bars: one standard error either way"] if len(barred) else []
        parts[:0] = [] if alone else ["line: best at each value"]
        self.name_axes(" · ".join(parts).capitalize(), bottom=setting.title, left=shown.title)

    def _draw_spread(self, standing: CandidateStanding, barred: Counts, colour: QColor) -> None:
        x, bars = self._places[barred, 0], standing.errors[barred]
        # An empty item would pull the axes to the origin.
        ends = (x, standing.means[barred]) if len(barred) else (None, None)
        stroke = pen(faded(colour, 170), 1.5)
        self.spread.setData(x=ends[0], y=ends[1], top=bars, bottom=bars, pen=stroke)

    def _draw_means(
        self, standing: CandidateStanding, high: Counts, colour: QColor, *, alone: bool
    ) -> None:
        theme, known = current_theme(), np.flatnonzero(standing.counts)
        # Points of one look share its pen and brush: each look is painted once and stamped.
        shades = (colour, faded(colour, 110))
        pens, hollow = [pen(shade, 1.5) for shade in shades], QBrush(QColor(theme.card))
        fills = [QBrush(shade) for shade in shades]
        far = np.zeros(len(known), dtype=int) if alone else 1 - np.isin(known, high)
        level = standing.ranks[known] > 0
        # Judged less often than others is hollow: such a mean cannot be compared yet.
        self.means.setData(
            pos=self._places[known],
            pen=[pens[k] for k in far],
            brush=[fills[k] if full else hollow for k, full in zip(far, level, strict=True)],
        )
        top = self._places[[] if standing.top is None else [standing.top]]
        self.best.setData(pos=top, size=15, pen=pen(theme.card, 1.5), brush=theme.text)

    def mark(self, candidate: int | None) -> None:
        """Circle a candidate."""
        shown = [] if candidate is None or np.isnan(self._places[candidate, 1]) else [candidate]
        ring = pen(current_theme().accent, 2.0)
        self.ring.setData(pos=self._places[shown], pen=ring, brush=None)

    def candidate_at(self, position: QPointF) -> int | None:
        """Return the candidate whose point is nearest to a place of the scene, within reach."""
        box = self.plot.getViewBox()
        if not len(self._places) or not box.sceneBoundingRect().contains(position):
            return None
        point, pixel = box.mapSceneToView(position), box.viewPixelSize()
        apart = (self._places - (point.x(), point.y())) / pixel
        distance = np.hypot(apart[:, 0], apart[:, 1])
        if np.isnan(distance).all() or np.nanmin(distance) > _REACH:
            return None
        return int(np.nanargmin(distance))


def _highest(places: Array, means: Array) -> Counts:
    """Return the best candidate at each place, from left to right; the first among equals."""
    known = np.flatnonzero(np.isfinite(means))
    order = known[np.lexsort((known, -means[known], places[known]))]
    _, first = np.unique(places[order], return_index=True)
    best: Counts = order[first]
    return best


def _fold_points(places: Array, areas: Array) -> tuple[Array, Array]:
    x, y = np.repeat(places, areas.shape[1]), areas.ravel()
    known = np.isfinite(y)
    return x[known], y[known]
