"""The stages of a fit as light regions of a plot, each with its name."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg

from aucstudio.gui.common.plain import line_label
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.project.runs.trajectory import Stage

_AIR = 8.0  # pixels


class StageRegions:
    """Regions of one plot, behind everything else.

    Parameters
    ----------
    plot : PlotWidget
    named : bool
        Whether names are written.

    Attributes
    ----------
    items : list of LinearRegionItem
    """

    def __init__(self, plot: pg.PlotWidget, *, named: bool) -> None:
        self.items: list[pg.LinearRegionItem] = []
        self._plot, self._named = plot, named
        self._shown: object = None
        self._names: list[tuple[pg.InfLineLabel, float]] = []
        self._box = plot.getPlotItem().getViewBox()
        self._box.sigXRangeChanged.connect(self._fit_names)
        self._box.sigResized.connect(self._fit_names)

    def show(self, stages: Sequence[Stage], end: float) -> None:
        """Show these stages, the last until ``end``; nothing where there is one alone."""
        stages = stages if len(stages) > 1 else ()
        shown = tuple(stages), current_theme().name
        if shown == self._shown:
            self._prolong(end)
            return
        self._shown = shown
        for item in self.items:
            self._plot.removeItem(item)
        self.items, self._names = [], []
        ends = [*(stage.seconds for stage in stages[1:]), end][: len(stages)]
        for k, (stage, until) in enumerate(zip(stages, ends, strict=True)):
            self._add(stage, max(until, stage.seconds), k)
        self._fit_names()

    def _prolong(self, end: float) -> None:
        """Extend the last stage until ``end``."""
        if self.items:
            start = self.items[-1].getRegion()[0]
            self.items[-1].setRegion((start, max(start, end)))
            if self._names:
                self._names[-1] = self._names[-1][0], max(start, end) - start
            self._fit_names()

    def _fit_names(self) -> None:
        """Write the names that their regions have room for."""
        pixel = self._box.viewPixelSize()[0]
        for name, length in self._names:
            name.setVisible(length / pixel > name.boundingRect().width() + _AIR)

    def _add(self, stage: Stage, until: float, k: int) -> None:
        theme = current_theme()
        fill = faded(theme.neutral, 28 if k % 2 == 0 else 10)
        item = _Region((stage.seconds, until), movable=False, brush=fill, pen=pen(theme.grid, 1.0))
        item.setZValue(-10)
        if self._named:
            name = pg.InfLineLabel(
                item.lines[0],
                line_label(stage.name),
                position=0.94,
                anchors=[(0.0, 0.5), (0.0, 0.5)],
                color=theme.muted,
            )
            self._names.append((name, until - stage.seconds))
        self._plot.addItem(item)
        self.items.append(item)


class _Region(pg.LinearRegionItem):
    """A region that is in view where the whole picture is, and has no height of its own."""

    def dataBounds(self, axis: int, **_share: object) -> tuple[float, float] | None:
        return self.getRegion() if axis == 0 else None
