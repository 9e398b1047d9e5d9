"""Results of a search along one setting or over two."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QPen
from PySide6.QtWidgets import (
    QGraphicsRectItem,
)

from aucstudio.engine.types import Array, Index
from aucstudio.gui.common.plain_text import plot_title
from aucstudio.gui.common.plotting import faded, finite_range, make_plot, pen, style_plot
from aucstudio.gui.common.theme import Theme, current_theme, mixed
from aucstudio.gui.pages.search.results import CandidateStanding, Setting
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.tuning import METRICS, PAUC, Search


@dataclasses.dataclass(frozen=True, eq=False)
class SearchAxes:
    """What a picture needs besides the ranked candidates.

    Attributes
    ----------
    along : list of Setting
        That of the horizontal axis first.
    title : str
        The measure.
    unit : {"fold", "split"}
        What each area comes from.
    colour : QColor
        The run's.
    """

    along: list[Setting]
    title: str
    unit: str
    colour: QColor


class TitledPlot:
    """A plot whose axes and key are written only when they change."""

    def __init__(self, name: str) -> None:
        self.plot = make_plot(name, "", "")
        self._named: object = None

    def name_axes(self, key: str, **titles: str) -> None:
        """Write the titles of the axes, and the meaning of the marks."""
        theme = current_theme()
        named = (theme, key, tuple(titles.items()))
        if named == self._named:
            return
        self._named = named
        style_plot(self.plot)
        for side, title in titles.items():
            self.plot.setLabel(side, title, color=theme.muted)
        plot_title(self.plot, key, color=theme.muted, size="9pt")


def area_title(experiment: Experiment, search: Search) -> str:
    """Name the measure for an axis."""
    if search.metric == PAUC:
        low, high = experiment.band
        return f"pAUC, FPR {low:g} … {high:g}"
    return METRICS[search.metric][0].upper() + METRICS[search.metric][1:]


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
        """Draw the candidates as points."""
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
        spread = np.nan_to_num(standing.errors)
        heights = standing.means - spread, standing.means + spread, np.asarray(dots[1])
        self.plot.set_whole(finite_range(setting.places), finite_range(np.concatenate(heights)))
        ticks = setting.ticks()
        self.plot.getAxis("bottom").setTicks(None if ticks is None else [ticks])
        parts = ["diamond: best", "ring: chosen"]
        parts[:0] = [f"dots: {shown.unit}s"] if dotted else []
        parts[:0] = ["bars: one standard error either way"] if len(barred) else []
        parts[:0] = [] if alone else ["line: best at each value"]
        self.name_axes(" · ".join(parts).capitalize(), bottom=setting.title, left=shown.title)

    def _draw_spread(self, standing: CandidateStanding, barred: Index, colour: QColor) -> None:
        x, bars = self._places[barred, 0], standing.errors[barred]
        # An empty item would pull the axes to the origin.
        ends = (x, standing.means[barred]) if len(barred) else (None, None)
        stroke = pen(faded(colour, 170), 1.5)
        self.spread.setData(x=ends[0], y=ends[1], top=bars, bottom=bars, pen=stroke)

    def _draw_means(
        self, standing: CandidateStanding, high: Index, colour: QColor, *, alone: bool
    ) -> None:
        theme, known = current_theme(), np.flatnonzero(standing.counts)
        # Points of one look share its pen and brush: each look is painted once and stamped.
        shades = (colour, faded(colour, 110))
        pens, hollow = [pen(shade, 1.5) for shade in shades], QBrush(QColor(theme.card))
        fills = [QBrush(shade) for shade in shades]
        far = np.zeros(len(known), dtype=int) if alone else 1 - np.isin(known, high)
        level = standing.ranks[known] > 0
        # A candidate tested on fewer folds is hollow: its mean is not comparable yet.
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


def _fold_points(places: Array, areas: Array) -> tuple[Array, Array]:
    x, y = np.repeat(places, areas.shape[1]), areas.ravel()
    known = np.isfinite(y)
    return x[known], y[known]


class HeatMap(TitledPlot):
    """Mean areas over the grid of two settings.

    Attributes
    ----------
    cells : BarGraphItem
        The tested cells.
    values : ndarray of shape (n_across, n_up)
        Their means; NaN for a cell that was not tested.
    hatch, best : PlotCurveItem
        Cells that were not tested, and the outline of the best.
    ring : ScatterPlotItem
        In the chosen cell.
    scale : QGraphicsRectItem
        Colour scale next to the cells; the right axis has its numbers.
    """

    def __init__(self) -> None:
        super().__init__("search_heat_plot")
        self.plot.showGrid(x=False, y=False)
        self.cells = pg.BarGraphItem(x0=[], y0=[], width=1, height=1)
        self.hatch = pg.PlotCurveItem(connect="pairs", antialias=True)
        self.best, self.ring = pg.PlotCurveItem(antialias=True), pg.ScatterPlotItem(size=12)
        for item in (self.cells, self.hatch, self.best, self.ring):
            self.plot.addItem(item)
        self.scale = QGraphicsRectItem()
        self.scale.setPen(QPen(Qt.PenStyle.NoPen))
        self.plot.addItem(self.scale)
        self.plot.showAxis("right")
        self.values = np.empty((0, 0))
        self._of = np.empty((0, 2), dtype=np.intp)

    def draw(self, standing: CandidateStanding, shown: SearchAxes) -> None:
        """Draw the candidates as cells."""
        across, up = shown.along
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
        gaps = " · hatched: not tested" if np.isnan(self.values).any() else ""
        self.name_axes(
            f"Outlined: best · ring: chosen{gaps}",
            bottom=across.title,
            left=up.title,
            right=shown.title,
        )

    def _draw_cells(self, standing: CandidateStanding) -> None:
        theme = current_theme()
        shades, levels = sequential(theme), _levels(self.values)
        judged = np.argwhere(np.isfinite(self.values))
        share = (self.values[judged[:, 0], judged[:, 1]] - levels[0]) / (levels[1] - levels[0])
        self.cells.setOpts(
            x0=judged[:, 0] - 0.5,
            y0=judged[:, 1] - 0.5,
            pen=pen(theme.card, 2.0),
            brushes=shades.map(share, mode=shades.QCOLOR),
        )
        blank = _hatching(np.argwhere(np.isnan(self.values)))
        self.hatch.setData(*blank, pen=pen(theme.grid, 1.0))
        outline = ([], []) if standing.top is None else _outline(self._of[standing.top])
        self.best.setData(*outline, pen=pen(theme.text, 2.5))
        self._draw_scale(theme, shades, levels)

    def _draw_scale(self, theme: Theme, shades: pg.ColorMap, levels: tuple[float, float]) -> None:
        across, up = self.values.shape
        self.scale.setRect(across - 0.5 + 0.04 * across, -0.5, 0.03 * across, up)
        self.scale.setBrush(shades.getBrush((-0.5, up - 0.5)))
        axis, span = self.plot.getAxis("right"), levels[1] - levels[0]
        places = [(up * (value - levels[0]) / span - 0.5, text) for value, text in _round(*levels)]
        axis.setTicks([places])
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


def _levels(values: Array) -> tuple[float, float]:
    """Return the ends of the colour scale, at least 0.002 apart."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    return (low, high) if high - low > 1e-9 else (low - 0.001, low + 0.001)


def _round(low: float, high: float) -> list[tuple[float, str]]:
    """List round numbers from low to high, about five, with the digits they need."""
    power = math.floor(math.log10((high - low) / 5.0))
    steps = [times * 10.0**power for times in (1, 2, 5, 10)]
    step = next(step for step in steps if (high - low) / step <= 6.0)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [(k * step, f"{k * step:.{digits}f}") for k in range(first, last + 1)]


def _outline(cell: Index) -> tuple[Array, Array]:
    return (
        cell[0] + np.array([-0.5, 0.5, 0.5, -0.5, -0.5]),
        cell[1] + np.array([-0.5, -0.5, 0.5, 0.5, -0.5]),
    )


def _hatching(cells: Index) -> tuple[Array, Array]:
    """Return strokes across each cell, as pairs of ends."""
    rise = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) / 3.0
    start, end = np.maximum(-0.5, -0.5 - rise), np.minimum(0.5, 0.5 - rise)
    x = np.column_stack([start, end]).ravel()
    y = x + np.repeat(rise, 2)
    return (cells[:, :1] + x).ravel(), (cells[:, 1:] + y).ravel()
