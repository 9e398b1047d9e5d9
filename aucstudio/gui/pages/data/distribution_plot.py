"""Distribution of a column by class, and its ROC curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QFontMetrics

from aucstudio.gui.common.plain_text import elided
from aucstudio.gui.common.plots.axes import date_ticks
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import faded, make_plot, pen, style_plot
from aucstudio.gui.common.theme import current_theme, scaled
from aucstudio.project.data.text import dates
from aucstudio.project.survey.columns import ColumnSummary

_HEIGHT, _ROC_HEIGHT, _BAR = 150, 170, 20
_NAME_WIDTH = 84
_FILL = 56


class DistributionPlot:
    """Histograms by class, or a bar per value.

    Attributes
    ----------
    plot : Plot
    summary : ColumnSummary or None
    """

    def __init__(self) -> None:
        self.plot: Plot = make_plot("data_distribution_plot", "", "")
        self.summary: ColumnSummary | None = None
        self._drawn: list[Any] = []

    def show(self, summary: ColumnSummary | None) -> None:
        """Draw another column, or none."""
        self.summary = summary
        style_plot(self.plot)
        for item in self._drawn:
            self.plot.removeItem(item)
        self._drawn = []
        found = None if summary is None else summary.distribution
        empty = found is None or not found.shares.size
        self.plot.setVisible(not empty)
        if found is None or summary is None or empty:
            return
        theme = current_theme()
        inks = [theme.positive, theme.negative] if summary.class_names else [theme.neutral]
        bars = found.edges is None
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setTicks(None)
        self.plot.showGrid(x=bars, y=not bars, alpha=0.18)
        if bars:
            self._draw_bars(found.names, found.shares, inks)
        else:
            self._draw_bins(found.edges, found.shares, inks)
        self.plot.setFixedHeight(
            scaled(max(_HEIGHT, _BAR * len(found.names) + 40) if bars else _HEIGHT)
        )

    def _draw_bins(
        self, edges: NDArray[np.float64] | None, shares: NDArray[np.float64], inks: Sequence[str]
    ) -> None:
        assert edges is not None
        for line, ink in zip(shares, inks, strict=True):
            item = pg.PlotCurveItem(
                edges,
                line,
                stepMode="center",
                fillLevel=0.0,
                pen=pen(ink, 1.5),
                brush=faded(ink, _FILL),
            )
            self._add(item)
        self.plot.setLabel("left", "Share of the class" if len(inks) > 1 else "Share of the rows")
        self.plot.setLabel("bottom", "")
        if self.summary is not None and self.summary.layout:
            low, high = float(edges[0]), float(edges[-1])
            self.plot.getAxis("bottom").setTicks([date_ticks(low, high, self.summary.layout)])
        top = float(shares.max()) or 1.0
        self.plot.set_whole((float(edges[0]), float(edges[-1])), (0.0, 1.05 * top))

    def _draw_bars(
        self, names: Sequence[str], shares: NDArray[np.float64], inks: Sequence[str]
    ) -> None:
        groups, height = len(inks), 0.8 / len(inks)
        # The first value on top, and in it the positives.
        places = np.arange(len(names))[::-1].astype(float)
        for k, (line, ink) in enumerate(zip(shares, inks, strict=True)):
            middle = places + height * ((groups - 1) / 2 - k)
            item = pg.BarGraphItem(
                x0=np.zeros(len(line)),
                y0=middle - height / 2,
                width=line,
                height=np.full(len(line), height),
                pen=pen(ink, 1.0),
                brush=faded(ink, 3 * _FILL),
            )
            self._add(item)
        metrics = QFontMetrics(self.plot.font())
        cut = [elided(name, scaled(_NAME_WIDTH), metrics.horizontalAdvance) for name in names]
        self.plot.getAxis("left").setTicks([list(zip(places, cut, strict=True))])
        self.plot.setLabel("left", "")
        self.plot.setLabel("bottom", "Share of the class" if groups > 1 else "Share of the rows")
        self.plot.set_whole((0.0, 1.05 * (float(shares.max()) or 1.0)), (-0.6, len(names) - 0.4))

    def _add(self, item: Any) -> None:
        self.plot.addItem(item)
        self._drawn.append(item)

    def data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        """Return the numbers of the picture."""
        if self.summary is None:
            return {}
        found, names = self.summary.distribution, self.summary.class_names or ("all rows",)
        count = found.shares.shape[1]
        columns: dict[str, Sequence[object] | NDArray[Any]] = {
            "column": [self.summary.name] * count * len(names),
            "class": [name for name in names for _ in range(count)],
        }
        if found.edges is None:
            columns["value"] = list(found.names) * len(names)
        else:
            edges: Sequence[object] = found.edges.tolist()
            if self.summary.layout:
                edges = [dates.spell(edge, self.summary.layout) for edge in found.edges.tolist()]
            columns["from"] = [*edges[:-1]] * len(names)
            columns["to"] = [*edges[1:]] * len(names)
        columns["share"] = found.shares.ravel()
        return columns


class ColumnRoc:
    """The ROC curve of a column as a score."""

    def __init__(self) -> None:
        self.plot: Plot = make_plot(
            "data_column_roc_plot", "False-positive rate", "True-positive rate"
        )
        self.plot.setFixedHeight(scaled(_ROC_HEIGHT))
        self.chance, self.curve = pg.PlotCurveItem([0.0, 1.0], [0.0, 1.0]), pg.PlotCurveItem()
        for item in (self.chance, self.curve):
            self.plot.addItem(item)
        self.plot.set_whole((0.0, 1.0), (0.0, 1.0))

    def show(self, summary: ColumnSummary | None) -> None:
        """Draw the curve of another column, or none."""
        theme = current_theme()
        style_plot(self.plot)
        curve = None if summary is None else summary.curve
        self.plot.setVisible(curve is not None)
        if curve is None:
            return
        # Differences below a pixel are invisible.
        kept = np.unique(np.linspace(0, len(curve.fpr) - 1, 2_000).astype(np.intp))
        self.chance.setPen(pen(theme.grid, 1.0, (4.0, 4.0)))
        self.curve.setData(curve.fpr[kept], curve.tpr[kept], pen=pen(theme.accent, 2.0))
