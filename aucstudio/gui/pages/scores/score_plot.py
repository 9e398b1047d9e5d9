"""Histograms of scores with threshold and FPR range."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.plain_text import line_label
from aucstudio.gui.common.plots.axes import NumberAxis
from aucstudio.gui.common.plots.legend import Legend, square_sample
from aucstudio.gui.common.plotting import (
    class_steps,
    faded,
    finite_range,
    make_plot,
    pen,
    style_classes,
)
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import quietly
from aucstudio.project.results.score_distribution import ScoreDistribution


class HeightAxis(NumberAxis):
    """Marks densities at round numbers, and counts at 1, 2, 5, 10 … rows."""

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        if not self.logMode:
            return super().tickValues(low, high, size)
        # There is no part of a row.
        decades = np.arange(max(0, math.ceil(low) - 1), math.floor(high) + 1, dtype=np.float64)
        between = np.sort(np.concatenate([decades + math.log10(2), decades + math.log10(5)]))
        seen = [level[(level >= low) & (level <= high)] for level in (decades, between)]
        return [(1.0, seen[0].tolist()), (0.3, seen[1].tolist())]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if not self.logMode:
            return super().tickStrings(values, scale, spacing)
        return [f"{round(10.0**value):,}" for value in values]


FEW_ROWS = 60  # in a class: each then also has a mark of its own
_WRONG_FILL = 150
_FLOOR = 0.7  # rows, the start of a logarithmic axis: below one row
_RUGS = ((0.0, 0.03), (0.035, 0.065))  # positives and negatives, as shares of the height


@dataclasses.dataclass(frozen=True)
class HeightScale:
    """The scale of heights: densities or counts.

    Attributes
    ----------
    floor : float
        The base of the bars.
    logarithmic : bool
        Heights are logarithms of counts; else densities within the class.
    """

    floor: float
    logarithmic: bool

    def heights(self, densities: Array, widths: Array, rows: int) -> Array:
        """Return the heights of a class with so many rows."""
        if not self.logarithmic:
            return densities
        return np.asarray(np.log10(np.maximum(densities * widths * rows, _FLOOR)), np.float64)


DENSITY = HeightScale(0.0, False)
COUNTS = HeightScale(float(np.log10(_FLOOR)), True)


class ScorePlot:
    """Plot of score distributions and its overlays.

    Attributes
    ----------
    plot : Plot
    curves, wrong_curves : list of two PlotCurveItem
        Positives and negatives; their parts on the wrong side.
    rugs : list of two PlotCurveItem
        A mark for each row of a class of few.
    line, own_line : InfiniteLine
        The threshold; the model's own, 0.
    band_item : LinearRegionItem
        Scores between the thresholds of the FPR range's ends.
    row_line : InfiniteLine
        The selected row.
    legend : Legend
    """

    def __init__(self, name: str) -> None:
        self.plot = make_plot(name, "Score", "", axes=[HeightAxis("left")])
        self.scale = DENSITY
        self._distribution: ScoreDistribution | None = None
        self.band_item = pg.LinearRegionItem((0.0, 1.0), movable=False)
        self.band_item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.band_item.setZValue(-10)
        self.wrong_curves, self.curves = ([class_steps(), class_steps()] for _ in range(2))
        self.rugs = [pg.PlotCurveItem(connect="pairs") for _ in range(2)]
        self.own_line = pg.InfiniteLine(0.0, angle=90)
        self.row_line = pg.InfiniteLine(0.0, angle=90, label="", labelOpts={"position": 0.94})
        self.line = pg.InfiniteLine(0.0, angle=90, movable=True)
        self.line.setCursor(Qt.CursorShape.SizeHorCursor)
        self.legend = Legend(self.plot)
        self._full = square_sample(self.plot)
        self.plot.addItem(*self.curves)
        over = (self.band_item, *self.wrong_curves, *self.rugs, self.own_line, self.row_line)
        self.plot.addItem(*over, self.line, ignoreBounds=True)
        self.show_scale(DENSITY)

    def show_scale(self, scale: HeightScale) -> None:
        """Change the scale of heights."""
        self.scale = scale
        axis = self.plot.getAxis("left")
        axis.setLogMode(x=False, y=scale.logarithmic)
        words = "Rows in a bin, logarithmic" if scale.logarithmic else "Density within the class"
        axis.setLabel(words, color=current_theme().muted)
        for item in (*self.curves, *self.wrong_curves):
            item.setFillLevel(scale.floor)
        if self._distribution is not None:
            self.show(self._distribution)

    def show(self, distribution: ScoreDistribution) -> None:
        """Draw both classes."""
        self._distribution = distribution
        widths = np.diff(distribution.edges)
        tops = []
        for k, item in enumerate(self.curves):
            tall = self.scale.heights(distribution.heights[k], widths, self._rows(k))
            item.setData(distribution.edges, tall)
            tops.append(float(tall.max()))
        floor = self.scale.floor
        top = floor + 1.05 * (max(tops) - floor)
        self.plot.set_whole(finite_range(distribution.edges), (floor, top), air=0.0)
        for k, rug in enumerate(self.rugs):
            scores = (distribution.positives, distribution.negatives)[k]
            scores = scores if len(scores) <= FEW_ROWS else scores[:0]
            ends = floor + (top - floor) * np.array(_RUGS[k])
            rug.setData(np.repeat(scores, 2), np.tile(ends, len(scores)))

    def _rows(self, k: int) -> int:
        assert self._distribution is not None
        return len((self._distribution.positives, self._distribution.negatives)[k])

    def show_threshold(self, threshold: float) -> None:
        """Move the line, and fill the errors of both classes."""
        quietly(self.line.setValue, threshold)
        if self._distribution is None:
            return
        parts = self._distribution.wrong_parts(threshold)
        whole = np.diff(self._distribution.edges)
        for k, (item, (edges, tall)) in enumerate(zip(self.wrong_curves, parts, strict=True)):
            # The bin that is cut keeps its height: its own width counts, not that of the part.
            widths = whole[: len(tall)] if k == 0 else whole[len(whole) - len(tall) :]
            item.setData(edges, self.scale.heights(tall, widths, self._rows(k)))

    def show_band(self, low: float, high: float) -> None:
        """Shade the scores between two thresholds; infinite ones reach beyond the scores."""
        assert self._distribution is not None
        edges = self._distribution.edges
        beyond = float(edges[-1] - edges[0])
        ends = max(low, float(edges[0]) - beyond), min(high, float(edges[-1]) + beyond)
        self.band_item.setRegion(ends)

    def show_row(self, score: float | None, words: str = "") -> None:
        """Mark the score of a row, or of none."""
        self.row_line.setVisible(score is not None)
        if score is not None:
            self.row_line.setValue(score)
            self.row_line.label.setFormat(line_label(words))

    def show_parts(self, decided: bool) -> None:
        """Show what belongs to a finished run, or only the distributions."""
        over = (self.line, self.own_line, self.row_line, self.band_item)
        for item in (*over, *self.rugs, *self.wrong_curves):
            item.setVisible(decided)

    def name_classes(self, names: tuple[str, str]) -> None:
        """Show the classes and the meaning of the filled areas in the legend."""
        lines = zip(names, (item.opts["pen"] for item in self.curves), strict=True)
        self.legend.explain([*lines, ("wrong side", self._full)])

    def apply_theme(self) -> None:
        """Apply the current theme."""
        theme = current_theme()
        self._full.setBrush(theme.muted)
        style_classes(self.curves)
        for k, colour in enumerate((theme.positive, theme.negative)):
            self.wrong_curves[k].setPen(pen(QColor(0, 0, 0, 0), 0.0))
            self.wrong_curves[k].setBrush(faded(colour, _WRONG_FILL))
            self.rugs[k].setPen(pen(colour, 1.0))
        self.line.setPen(pen(theme.accent, 2.0))
        self.line.setHoverPen(pen(theme.accent, 4.0))
        self.own_line.setPen(pen(theme.neutral, 1.2, (1.5, 3.0)))
        self.row_line.setPen(pen(theme.text, 1.2, (2.0, 2.0)))
        self.row_line.label.setColor(theme.text)
        self.row_line.label.fill = pg.mkBrush(faded(theme.card, 215))
        self.band_item.setBrush(faded(theme.band, 24))
        for edge in self.band_item.lines:
            edge.setPen(pen(faded(theme.band, 90), 1.0))
