"""Results of a search along one setting or over two."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QPen
from PySide6.QtWidgets import QGraphicsRectItem

from aucstudio.engine.arrays import Array, Index
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import faded, finite_range, make_plot, pen, style_plot
from aucstudio.gui.common.theme import Theme, current_theme, mixed
from aucstudio.gui.pages.search.results import CandidateStanding, Setting
from aucstudio.notices import text
from aucstudio.notices.words import figure_words

_REACH = 24.0  # pixels from the pointer within which a point answers
_NARROWEST = 0.002  # span of the colour scale


def _name_axes(plot: Plot, key: str, **titles: str) -> None:
    """Write the titles of the axes, and the meaning of the marks."""
    muted = current_theme().muted
    style_plot(plot)
    for side, title in titles.items():
        plot.setLabel(side, title, color=muted)
    plot.frame.show_title(key, color=muted, size="9pt")


class Profile:
    """Mean areas along one setting.

    Attributes
    ----------
    plot : Plot
    line : PlotDataItem
        Through the best mean at each value.
    spread : ErrorBarItem
        One standard error to either side.
    folds, means, best, ring : ScatterPlotItem
        Areas in each fold, means, the best and the chosen candidate.
    """

    def __init__(self) -> None:
        self.plot = make_plot("search_plot", "", "")
        self.spread = pg.ErrorBarItem()
        self.folds, self.means = pg.ScatterPlotItem(size=5), pg.ScatterPlotItem(size=8)
        self.best, self.ring = pg.ScatterPlotItem(symbol="d"), pg.ScatterPlotItem(size=18)
        self.line = pg.PlotDataItem(connect="finite", antialias=True)
        items = self.folds, self.line, self.spread, self.means, self.best, self.ring
        self.plot.addItem(*items)
        self._places = np.empty((0, 2))

    def draw(
        self,
        standing: CandidateStanding,
        along: list[Setting],
        title: str,
        unit: str,
        colour: QColor,
    ) -> None:
        """Draw the candidates as points along the first setting, in the colour of the run."""
        setting, alone = along[0], len(along) == 1
        areas, errors, theme = standing.search.areas, standing.errors, current_theme()
        places = setting.places[setting.index(standing.search.candidates)]
        self._places = np.column_stack([places, standing.means])
        high = _highest(places, standing.means)
        line = self._places[high] if setting.is_numeric else np.empty((0, 2))
        self.line.setData(line, pen=pen(colour, 2.0))
        barred = high[np.isfinite(errors[high])]
        # An empty item would pull the axes to the origin.
        x, y = self._places[barred].T if len(barred) else (None, None)
        stroke, bars = pen(faded(colour, 170), 1.5), errors[barred]
        self.spread.setData(x=x, y=y, top=bars, bottom=bars, pen=stroke)
        dots = np.empty((0, 2))
        if alone and areas.shape[1] > 1:
            dots = np.column_stack([np.repeat(places, areas.shape[1]), areas.ravel()])
            dots = dots[np.isfinite(dots[:, 1])]
        self.folds.setData(pos=dots, pen=None, brush=faded(colour, 90))
        self._draw_means(standing, high, colour, alone=alone)
        top = self._places[[] if standing.top is None else [standing.top]]
        self.best.setData(pos=top, size=15, pen=pen(theme.card, 1.5), brush=theme.text)
        heights = np.concatenate([self._places[barred, 1] + bars, self._places[barred, 1] - bars])
        heights = np.concatenate([heights, standing.means, dots[:, 1]])
        self.plot.set_whole(finite_range(setting.places), finite_range(heights))
        ticks = setting.ticks()
        self.plot.getAxis("bottom").setTicks(None if ticks is None else [ticks])
        dotted = unit if len(dots) else None
        key = text("tuned_profile_key", several=not alone, bars=len(barred) > 0, dots=dotted)
        _name_axes(self.plot, key, bottom=setting.title, left=title)

    def _draw_means(
        self, standing: CandidateStanding, high: Index, colour: QColor, *, alone: bool
    ) -> None:
        known = np.flatnonzero(standing.counts)
        # Points of one look share its pen and brush: each look is painted once and stamped.
        shades = (colour, faded(colour, 110))
        pens, fills = [pen(shade, 1.5) for shade in shades], [QBrush(shade) for shade in shades]
        hollow = QBrush(QColor(current_theme().card))
        far = np.zeros(len(known), dtype=int) if alone else 1 - np.isin(known, high)
        level = standing.ranks[known] > 0
        # A candidate tested on fewer folds is hollow: its mean is not comparable yet.
        self.means.setData(
            pos=self._places[known],
            pen=[pens[k] for k in far],
            brush=[fills[k] if full else hollow for k, full in zip(far, level, strict=True)],
        )

    def mark(self, candidate: int | None) -> None:
        """Circle a candidate."""
        shown = [] if candidate is None or np.isnan(self._places[candidate, 1]) else [candidate]
        ring = pen(current_theme().accent, 2.0)
        self.ring.setData(pos=self._places[shown], pen=ring, brush=None)

    def candidate_at(self, place: QPointF) -> int | None:
        """Return the candidate whose point is nearest to a place, within reach."""
        return self.plot.nearest(self._places, place, _REACH)


def _highest(places: Array, means: Array) -> Index:
    """Return the best candidate at each place, from left to right; the first among equals."""
    known = np.flatnonzero(np.isfinite(means))
    order = known[np.lexsort((known, -means[known], places[known]))]
    _, first = np.unique(places[order], return_index=True)
    best: Index = order[first]
    return best


class HeatMap:
    """Mean areas over the grid of two settings.

    Attributes
    ----------
    plot : Plot
    cells : ImageItem
        The means; a cell that was not tested is blank.
    values : ndarray of shape (n_across, n_up)
        NaN for a cell that was not tested.
    best : PlotCurveItem
        The outline of the best.
    ring : ScatterPlotItem
        In the chosen cell.
    scale : QGraphicsRectItem
        Colour scale next to the cells; the right axis has its numbers.
    """

    def __init__(self) -> None:
        self.plot = make_plot("search_heat_plot", "", "", [pg.AxisItem("right")])
        self.plot.frame.show_grid(x=False, y=False)
        self.cells = pg.ImageItem()
        self.best, self.ring = pg.PlotCurveItem(antialias=True), pg.ScatterPlotItem(size=12)
        self.scale = QGraphicsRectItem()
        self.scale.setPen(QPen(Qt.PenStyle.NoPen))
        self.plot.addItem(self.cells, self.best, self.ring, self.scale)
        self.values = np.empty((0, 0))
        self._of = np.empty((0, 2), dtype=np.intp)

    def draw(self, standing: CandidateStanding, along: list[Setting], title: str) -> None:
        """Draw the candidates as cells."""
        across, up = along
        found = standing.search.candidates
        self._of = np.column_stack([across.index(found), up.index(found)])
        self.values = np.full((len(across.values), len(up.values)), np.nan)
        self.values[self._of[:, 0], self._of[:, 1]] = standing.means
        for side, setting in (("bottom", across), ("left", up)):
            texts = [setting.tick(value) for value in setting.values]
            self.plot.getAxis(side).setTicks([list(enumerate(texts))])
        self._draw_cells(standing)
        right, top = self.values.shape
        self.plot.set_whole((-0.55, 1.1 * right - 0.45), (-0.55, top - 0.45))
        key = text("tuned_heat_key", blank=bool(np.isnan(self.values).any()))
        _name_axes(self.plot, key, bottom=across.title, left=up.title, right=title)

    def _draw_cells(self, standing: CandidateStanding) -> None:
        theme, (right, top) = current_theme(), self.values.shape
        shades, known = sequential(theme), self.values[np.isfinite(self.values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        if high - low < _NARROWEST:
            low, high = low - _NARROWEST / 2, high + _NARROWEST / 2
        self.cells.setImage(self.values, levels=(low, high), lut=shades.getLookupTable(nPts=256))
        self.cells.setRect(-0.5, -0.5, right, top)
        outline = self._of[[] if standing.top is None else 5 * [standing.top]]
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) / 2
        self.best.setData(*(outline + corners[: len(outline)]).T, pen=pen(theme.text, 2.5))
        self.scale.setRect(right - 0.5 + 0.04 * right, -0.5, 0.03 * right, top)
        self.scale.setBrush(shades.getBrush((-0.5, top - 0.5)))
        values = np.linspace(low, high, 5).tolist()
        places = np.linspace(-0.5, top - 0.5, 5).tolist()
        axis = self.plot.getAxis("right")
        axis.setTicks([list(zip(places, map(figure_words, values), strict=True))])
        axis.setPen(None)
        axis.setTextPen(theme.muted)

    def mark(self, candidate: int | None) -> None:
        """Circle a candidate."""
        theme = current_theme()
        place = self._of[[] if candidate is None else [candidate]]
        self.ring.setData(pos=place, pen=pen(theme.accent, 2.5), brush=theme.card)

    def candidate_at(self, place: QPointF) -> int | None:
        """Return the candidate of the cell at a place."""
        cell = (math.floor(place.x() + 0.5), math.floor(place.y() + 0.5))
        hits = np.flatnonzero((self._of == cell).all(axis=1))
        return int(hits[0]) if len(hits) else None


def sequential(theme: Theme) -> pg.ColorMap:
    """Make a sequential colour map of one hue."""
    low, high = mixed(theme.card, theme.positive, 0.18), mixed(theme.positive, theme.text, 0.45)
    return pg.ColorMap((0.0, 0.55, 1.0), (low, QColor(theme.positive), high))
