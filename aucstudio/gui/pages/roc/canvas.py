"""The ROC plot: axes, FPR range, legend and inset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, QSignalBlocker, Qt, Signal

from aucstudio.gui.common.plots.curves import PlacedLine, Window
from aucstudio.gui.common.plotting import faded, make_plot, pen
from aucstudio.gui.common.theme import current_theme, run_colour, run_symbol
from aucstudio.gui.pages.roc.axes import (
    LINEAR,
    Axis,
    RateAxis,
    chance_line,
    draw,
    ends,
    place,
    rate_at,
)
from aucstudio.gui.pages.roc.cards import CARD, Inset, RunLegend
from aucstudio.gui.pages.roc.lines import FACES, Face, Lines, Points
from aucstudio.project.runs.experiment import Band


class RangeItem(pg.LinearRegionItem):
    """The FPR range on any axis; a range that is dragged keeps its width at the ends.

    Attributes
    ----------
    axis : Axis
        Of the FPR.

    Signals
    -------
    released
        The range or one of its edges was released.
    """

    released = Signal()

    def __init__(self, band: Band) -> None:
        super().__init__(band, bounds=(0.0, 1.0), swapMode="block")
        self.axis = LINEAR
        for line in self.lines:
            line.setCursor(Qt.CursorShape.SizeHorCursor)
            line.sigPositionChangeFinished.connect(self.released)

    def band(self) -> Band:
        """Return the rates at the edges."""
        low, high = (rate_at(self.axis, edge) for edge in self.getRegion())
        return low, high

    def show_band(self, band: Band) -> None:
        """Move without emitting a signal."""
        blockers = [QSignalBlocker(item) for item in (self, *self.lines)]
        self.setRegion([place(self.axis, edge) for edge in band])
        del blockers
        self.prepareGeometryChange()

    def show_axis(self, axis: Axis, band: Band) -> None:
        """Move to another axis, over the same rates, without a signal."""
        self.axis = axis
        blockers = [QSignalBlocker(item) for item in (self, *self.lines)]
        self.setBounds(ends(axis))
        del blockers
        self.show_band(band)

    def set_colour(self, colour: str) -> None:
        self.setBrush(faded(colour, 24))
        self.setHoverBrush(faded(colour, 40))
        for line in self.lines:
            line.setPen(pen(colour, 1.5))
            line.setHoverPen(pen(colour, 3.0))

    def mouseDragEvent(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        event.accept()
        if event.isStart():
            self._grabbed = self.getRegion()
        (low, high), (left, right) = self._grabbed, ends(self.axis)
        moved = event.pos().x() - event.buttonDownPos().x()
        shift = float(np.clip(moved, left - low, right - high))
        self.setRegion((low + shift, high + shift))
        if event.isFinish():
            self.released.emit()


_AIR = 0.02
_LOOKS = 9  # across a card, at the heights of the lines that may pass under it
_TITLES = {"log": ", logarithmic", "probit": ", probit"}


class Canvas:
    """The plot, without the curves of finished runs drawn in it.

    Attributes
    ----------
    plot : PlotWidget
    box : ViewBox
    along, up : Axis
    band_item : RangeItem
    shade_item, chance_item, live_item, marker, hint : plot items
        Area of the chosen run in the range; line of chance; curve of the run in progress; point
        pointed at; words where nothing is drawn yet.
    legend : RunLegend
    inset : Inset
    """

    def __init__(self, band: Band) -> None:
        self._bottom, self._left = RateAxis("bottom"), RateAxis("left")
        self.plot = make_plot("roc_plot", "", "", axes=[self._bottom, self._left])
        for side in ("top", "right"):  # never shown, but laid out again for each range
            self.plot.getAxis(side).unlinkFromView()
        self.box: Any = self.plot.getPlotItem().getViewBox()
        self.face, self.along, self.up = FACES["roc"], LINEAR, LINEAR
        self.whole = (0.0, 1.0), (0.0, 1.0)
        self.band_item = RangeItem(band)
        self.shade_item = pg.PlotCurveItem(pen=None, fillLevel=0.0)
        self._shaded: PlacedLine | None = None
        self.chance_item = pg.PlotCurveItem(antialias=True)
        self.live_item = pg.PlotCurveItem(antialias=True)
        self.marker = pg.ScatterPlotItem(size=9, antialias=True)
        self.hint = pg.TextItem(anchor=(0.5, 0.5))
        below = (self.band_item, self.shade_item, self.chance_item)
        for depth, item in enumerate((*below, self.live_item, self.marker, self.hint)):
            item.setZValue(depth - len(below) if item in below else 50 + depth)
            self.plot.addItem(item, ignoreBounds=True)
        self.legend, self.inset = RunLegend(self.box), Inset(self.box)

    def show_axes(
        self, face: Face, axes: tuple[Axis, Axis], top: float, share: float, band: Band
    ) -> bool:
        """Set the axes up to ``top``; return whether anything moved.

        ``share`` is that of the positives, on which the line of chance depends in some faces.
        """
        whole = ends(axes[0]), (ends(axes[1]) if face.key == "roc" else (0.0, top))
        self.chance_item.setData(*(chance_line(*axes) if face.key == "roc" else face.chance(share)))
        if (face, whole, axes[0].key) == (self.face, self.whole, self.along.key) and (
            self._bottom.labelText
        ):
            return False
        self.face, self.whole, (self.along, self.up) = face, whole, axes
        self._bottom.show_axis(self.along)
        self._left.show_axis(self.up)
        for side, title, axis in (
            ("bottom", face.x_title, self.along),
            ("left", face.y_title, self.up),
        ):
            self.plot.setLabel(side, title + _TITLES.get(axis.key, ""), color=current_theme().muted)
        self.plot.set_whole(*(_with_air(*side, _AIR) for side in whole), air=0.0)
        self.band_item.setVisible(face.key == "roc")
        self.band_item.show_axis(self.along, band)
        self.shade_item.setFillLevel(whole[1][0])
        self.hint.setPos(sum(whole[0]) / 2, sum(whole[1]) / 2)
        return True

    def show_part(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Show these places, with some air."""
        sides = []
        for part, whole in zip((x, y), self.whole, strict=True):
            (low, high), (least, most) = _with_air(*part, 0.08), _with_air(*whole, _AIR)
            sides.append((max(low, least), min(high, most)))
        self.box.setRange(xRange=sides[0], yRange=sides[1], padding=0)

    def shade(self, part: Points | None, colour: int) -> None:
        """Shade the area under a part of a curve, given as rates."""
        if part is None:
            self._shaded = None
            return
        self.shade_item.setBrush(faded(run_colour(current_theme(), colour), 56))
        x, y = draw(*part, self.along, self.up)
        # Its interpolated ends may be off by rounding; a line that rises is thinned faster.
        self._shaded = PlacedLine(x, np.maximum.accumulate(y))

    def thin(self, window: Window, pixels: tuple[int, int]) -> None:
        """Draw the shaded area in a window of so many device pixels."""
        shaded = self._shaded
        self.shade_item.setData(*(([], []) if shaded is None else shaded.seen(window, pixels)))

    def mark(self, place: tuple[float, float] | None, colour: int = 0) -> None:
        """Mark a place as the run of that colour is marked, or none."""
        self.marker.setVisible(place is not None)  # without points it is painted all the same
        if place is None:
            self.marker.setData([], [])
            return
        theme = current_theme()
        self.marker.setPen(pg.mkPen(theme.card, width=1.5))
        self.marker.setBrush(run_colour(theme, colour))
        self.marker.setData([place[0]], [place[1]], symbol=run_symbol(colour))

    def apply_theme(self) -> None:
        """Apply the current theme."""
        theme = current_theme()
        self.band_item.set_colour(theme.band)
        self.chance_item.setPen(pen(theme.neutral, 1.2, (1.5, 3.0)))
        self.hint.setColor(theme.muted)
        self.hint.fill = pg.mkBrush(theme.card)

    def place_cards(self, lines: Lines) -> None:
        """Put legend and inset where they cover the fewest curves, and not each other."""
        taken: list[QRectF] = []
        self.legend.fit(self.box.rect(), lambda place: not self.count_under(place, lines))
        self.plot.hidden_legend = self.legend.hidden_rows()
        for card in (self.legend, self.inset):
            if card.isVisible():
                places = card.places(self.box.rect())
                cost = [self._cost(place, lines, taken) for place in places]
                best = places[cost.index(min(cost))]
                card.setPos(best.topLeft())
                taken.append(best)

    def crowd(self, place: QRectF, lines: Lines) -> int:
        """Compute the cost of covering a part of the plot with the present cards."""
        cards = [card for card in (self.legend, self.inset) if card.isVisible()]
        return self._cost(place, lines, [c.mapRectToParent(c.boundingRect()) for c in cards])

    def _cost(self, place: QRectF, lines: Lines, taken: list[QRectF]) -> int:
        over = sum(place.intersects(other) for other in taken)
        return self.count_under(place, lines) + CARD * over

    def count_under(self, place: QRectF, lines: Lines) -> int:
        """Count the lines that pass under a part of the plot."""
        (left, bottom), (right, top) = (
            (p.x(), p.y())
            for p in (self.box.mapToView(c) for c in (place.bottomLeft(), place.topRight()))
        )
        across = np.linspace(left, right, _LOOKS)
        heights = [np.interp(across, d.line.x, d.line.y) for d in lines.drawn]
        sides = [(np.minimum(h[1:], h[:-1]), np.maximum(h[1:], h[:-1])) for h in heights]
        return sum(bool(((high >= bottom) & (low <= top)).any()) for low, high in sides)


def _with_air(low: float, high: float, share: float) -> tuple[float, float]:
    air = share * (high - low)
    return low - air, high + air
