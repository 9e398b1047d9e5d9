"""The areas of a search over the grid of two settings."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import (
    QGraphicsRectItem,
)

from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.theme import Theme, current_theme, mixed
from aucstudio.gui.pages.search.picture import SearchAxes, TitledPlot
from aucstudio.gui.pages.search.standing import CandidateStanding

Array = NDArray[np.float64]
Counts = NDArray[np.intp]


class HeatMap(TitledPlot):
    """Mean areas over the grid of two settings.

    Attributes
    ----------
    cells : BarGraphItem
        The judged cells.
    values : ndarray of shape (n_across, n_up)
        Their means; NaN where a cell was not judged.
    hatch, best : PlotCurveItem
        Cells that were not judged, and the outline of the best.
    ring : ScatterPlotItem
        In the chosen cell.
    scale : QGraphicsRectItem
        Colours of low to high, beside the cells; the right axis has their numbers.
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
        """Hand the candidates to the items; the run's colour stays with its lines elsewhere."""
        across, up = shown.along
        found = standing.search.candidates
        self._of = np.column_stack([across.index(found), up.index(found)])
        self.values = np.full((len(across.values), len(up.values)), np.nan)
        self.values[self._of[:, 0], self._of[:, 1]] = standing.means
        for side, setting in (("bottom", across), ("left", up)):
            texts = [setting.tick(value) for value in setting.values]
            self.plot.getAxis(side).setTicks([list(enumerate(texts))])
        self._draw_cells(standing)
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

    def candidate_at(self, position: QPointF) -> int | None:
        """Return the candidate of the cell at a place of the scene."""
        box = self.plot.getViewBox()
        if not box.sceneBoundingRect().contains(position):
            return None
        point = box.mapSceneToView(position)
        cell = (math.floor(point.x() + 0.5), math.floor(point.y() + 0.5))
        hits = np.flatnonzero((self._of == cell).all(axis=1))
        return int(hits[0]) if len(hits) else None


def sequential(theme: Theme) -> pg.ColorMap:
    """Make the colours of low to high: one hue, its lightness going one way."""
    low, high = mixed(theme.card, theme.positive, 0.18), mixed(theme.positive, theme.text, 0.45)
    return pg.ColorMap((0.0, 0.55, 1.0), (low, QColor(theme.positive), high))


def _levels(values: Array) -> tuple[float, float]:
    """Return the ends of the colours; equal areas get some room."""
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


def _outline(cell: Counts) -> tuple[Array, Array]:
    return (
        cell[0] + np.array([-0.5, 0.5, 0.5, -0.5, -0.5]),
        cell[1] + np.array([-0.5, -0.5, 0.5, 0.5, -0.5]),
    )


def _hatching(cells: Counts) -> tuple[Array, Array]:
    """Return strokes across each cell, as pairs of ends."""
    rise = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]) / 3.0
    start, end = np.maximum(-0.5, -0.5 - rise), np.minimum(0.5, 0.5 - rise)
    x = np.column_stack([start, end]).ravel()
    y = x + np.repeat(rise, 2)
    return (cells[:, :1] + x).ravel(), (cells[:, 1:] + y).ravel()
