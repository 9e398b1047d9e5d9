"""Marked pairs: misranked, support and selected ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from aucstudio.engine.types import Index
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.differences.pairs import NO_PAIRS
from aucstudio.gui.pages.planes.marks import add_marks
from aucstudio.project.geometry.pairs import PairCloud

REACH = 10.0  # pixels
_FEW = 200


@dataclasses.dataclass(eq=False)
class Kind:
    """Pairs of one kind, with their marks and name."""

    marks: pg.ScatterPlotItem
    words: str
    rows: Index = dataclasses.field(default_factory=NO_PAIRS.copy)


class MarkedPairs:
    """Support pairs, misranked pairs, the pairs of one row, and the selected pair."""

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self.of_row = Kind(add_marks(plot, "s", 4, 19), "pairs of the row")
        self.support = Kind(add_marks(plot, "o", 9, 8), "support pairs: the fit rests on them")
        self.wrong = Kind(add_marks(plot, "o", 5, 9), "single misranked pairs")
        self.in_band = Kind(add_marks(plot, "t1", 8, 10), "… with a negative in the FPR range")
        self.hovered = add_marks(plot, "o", 14, 24)
        self.chosen = add_marks(plot, "o", 18, 25)
        self._cloud: PairCloud | None = None
        self._rows, self._places = NO_PAIRS, np.empty((0, 2))

    def kinds(self) -> Iterator[Kind]:
        """List the kinds, those drawn last first."""
        yield from (self.of_row, self.in_band, self.wrong, self.support)

    def draw(self, cloud: PairCloud, support: Index, ring: QColor) -> None:
        """Draw the support pairs of a cloud, given by the places of their rows."""
        self._cloud = cloud
        self._put(self.support, support, pen(faded(ring, 190), 1.0), None)
        self.hovered.clear()

    def draw_errors(self, wrong: Index, in_band: Index, shown: bool) -> None:
        """Draw the misranked pairs outside and inside the FPR range, if shown."""
        if not shown:
            wrong = in_band = NO_PAIRS
        theme = current_theme()
        self._put(self.wrong, wrong, None, faded(theme.wrong, _alpha(wrong, 190)))
        inside = faded(theme.wrong, _alpha(in_band, 235))
        few = in_band.shape[1] <= _FEW
        outline = pen(faded(theme.card, inside.alpha()), 0.8) if few else None
        self.in_band.marks.setSize(8 if few else 6, update=False)
        self._put(self.in_band, in_band, outline, inside)
        self._gather()

    def draw_row(self, rows: Index) -> None:
        """Draw the pairs of the selected row."""
        theme = current_theme()
        self._put(self.of_row, rows, None, faded(theme.accent, _alpha(rows, 200)))
        self._gather()

    def choose(self, rows: Index) -> None:
        """Circle the pair under the pointer, if there is one."""
        self._ring(self.chosen, rows, 2.5)

    def hover(self, rows: Index) -> None:
        """Circle the pair under the pointer, if there is one."""
        self._ring(self.hovered, rows, 1.5)

    def _ring(self, marks: pg.ScatterPlotItem, rows: Index, width: float) -> None:
        if self._cloud is not None:
            colour = current_theme().text
            marks.setData(pos=self._cloud.differences(rows), pen=pen(colour, width), brush=None)

    def _put(self, kind: Kind, rows: Index, outline: object, fill: object) -> None:
        assert self._cloud is not None
        kind.rows = rows
        kind.marks.setData(pos=self._cloud.differences(rows), pen=outline, brush=fill)

    def _gather(self) -> None:
        """Collect the pairs that can be selected."""
        assert self._cloud is not None
        parts = [kind.rows for kind in self.kinds()]
        if self._cloud.rows is not None:
            parts.append(self._cloud.rows)
        self._rows = np.concatenate(parts, axis=1)
        self._places = self._cloud.differences(self._rows)

    def nearest(self, place: QPointF) -> Index:
        """Return the pair nearest to a place, as one column; none out of reach."""
        found = self._plot.nearest(self._places, place, REACH)
        return NO_PAIRS if found is None else self._rows[:, [found]]

    def forget(self) -> None:
        """Clear the rows."""
        self._rows, self._places = NO_PAIRS, np.empty((0, 2))

    def entries(self) -> list[Entry]:
        """List the visible marks for the legend."""
        kinds = self.wrong, self.in_band, self.support
        return [(kind.words, kind.marks) for kind in kinds if kind.rows.size]


def _alpha(rows: Index, most: int) -> int:
    """Return the opacity of marks, lower for many."""
    return int(np.clip(most * (_FEW / max(rows.shape[1], 1)) ** 0.5, 0.35 * most, most))
