"""The ROC plot: axes, FPR range, legend and inset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QTransform
from PySide6.QtWidgets import QApplication, QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from aucstudio.engine import roc
from aucstudio.gui.common import curve_figures
from aucstudio.gui.common.plots.curves import PlacedLine, Window
from aucstudio.gui.common.plots.legend import CornerLegend
from aucstudio.gui.common.plots.rate_axes import (
    LINEAR,
    Axis,
    Points,
    RateAxis,
    ends,
    place,
    placed,
    rate_at,
)
from aucstudio.gui.common.plotting import faded, make_plot, pen, run_pen
from aucstudio.gui.common.theme import current_theme, run_colour, run_symbol
from aucstudio.gui.pages.roc.lines import FACES, Drawn, Face
from aucstudio.gui.state.runner import LiveRun
from aucstudio.notices import text
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


_RIM = 6.0  # pixels above and below the lines of the inset, which would lie on its frame


def _small() -> QFont:
    """Return the font of the numbers of the inset."""
    made = QFont(QApplication.font())
    made.setPointSizeF(made.pointSizeF() * 0.9)
    return made


class Inset(QGraphicsItem):
    """The curves within the FPR range on a card; live, and not to be touched.

    Attributes
    ----------
    seen : (float, float, float, float)
        Left, right, bottom and top of the magnified window, as places, with a margin.
    lines : sequence of Drawn
    """

    _SIZE = QRectF(0, 0, 232, 176)
    _MARGIN = 14.0

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.seen: Window = (0.0, 1.0, 0.0, 1.0)
        self.lines: Sequence[Drawn] = ()
        self._ends = ("", "", "", "")
        self.setZValue(95)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.hide()

    def show_lines(
        self, window: Window, lines: Sequence[Drawn], ends: tuple[str, str, str, str]
    ) -> None:
        """Magnify a window; ``ends`` are the rates at its left, right, bottom and top."""
        left, right, bottom, top = window
        air = (top - bottom) * _RIM / (self.plot_rect().height() - 2 * _RIM)
        self.seen = left, right, bottom - air, top + air
        self.lines, self._ends = lines, ends
        self.show()
        self.update()

    def place(self, area: QRectF, below: float) -> bool:
        """Lie at the right of an area, above what takes its lower end; return whether it fits."""
        left = area.right() - self._SIZE.width() - self._MARGIN
        top = area.bottom() - below - self._SIZE.height() - self._MARGIN
        self.setPos(left, top)
        return bool(area.width() > 1.5 * self._SIZE.width() and top >= 0)

    def boundingRect(self) -> QRectF:
        return self._SIZE

    def plot_rect(self) -> QRectF:
        """Return where on the card the lines are."""
        metrics = QFontMetricsF(_small())
        side = max(metrics.horizontalAdvance(text) for text in self._ends[2:]) + 12
        return self._SIZE.adjusted(side, 12, -14, -metrics.height() - 10)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme, plot = current_theme(), self.plot_rect()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(QColor(theme.card))
        painter.setPen(pen(theme.line, 1.0))
        painter.drawRoundedRect(self._SIZE.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme.band, 1.0))
        painter.drawRect(plot)
        self._paint_ends(painter, plot)
        painter.setClipRect(plot, Qt.ClipOperation.IntersectClip)
        left, right, bottom, top = self.seen
        scale = painter.deviceTransform().m11() or 1.0
        pixels = (max(1, round(plot.width() * scale)), max(1, round(plot.height() * scale)))
        onto = QTransform.fromTranslate(plot.left(), plot.bottom())
        onto.scale(plot.width() / (right - left), -plot.height() / (top - bottom))
        onto.translate(-left, -bottom)
        for drawn in self.lines:
            painter.setPen(drawn.item.opts["pen"])
            path = pg.arrayToQPath(*drawn.line.seen(self.seen, pixels))
            painter.drawPath(onto.map(path))

    def _paint_ends(self, painter: QPainter, plot: QRectF) -> None:
        painter.setFont(_small())
        painter.setPen(QColor(current_theme().muted))
        height = QFontMetricsF(_small()).height()
        low = QRectF(plot.left(), plot.bottom() + 3, plot.width(), height)
        painter.drawText(low, Qt.AlignmentFlag.AlignLeft, self._ends[0])
        painter.drawText(low, Qt.AlignmentFlag.AlignRight, self._ends[1])
        for end, at in ((self._ends[2], plot.bottom() - _RIM), (self._ends[3], plot.top() + _RIM)):
            top = at - height / 2
            side = QRectF(QPointF(0, top), QPointF(plot.left() - 5, top + height))
            painter.drawText(side, Qt.AlignmentFlag.AlignRight, end)


_AIR = 0.02
_LEGEND_MARGIN = 14.0  # pixels below the legend
_TITLES = {"log": ", logarithmic", "probit": ", probit"}


class Canvas:
    """The plot, without the curves of finished runs drawn in it.

    Attributes
    ----------
    plot : Plot
    box : ViewBox
    along, up : Axis
    band_item : RangeItem
    shade_item, chance_item, live_item, marker, hint : plot items
        Area of the chosen run in the range; line of chance; curve of the run in progress; point
        pointed at; words where nothing is drawn yet.
    legend : CornerLegend
    inset : Inset
    """

    def __init__(self, band: Band) -> None:
        self._bottom, self._left = RateAxis("bottom"), RateAxis("left")
        self.plot = make_plot("roc_plot", "", "", axes=[self._bottom, self._left])
        self.box: Any = self.plot.getViewBox()
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
        self.legend, self.inset = CornerLegend(self.plot), Inset(self.box)

    def show_axes(
        self, face: Face, axes: tuple[Axis, Axis], top: float, share: float, band: Band
    ) -> bool:
        """Set the axes up to ``top``; return whether anything moved.

        ``share`` is that of the positives, on which the line of chance depends in some faces.
        """
        whole = ends(axes[0]), (ends(axes[1]) if face.key == "roc" else (0.0, top))
        self.chance_item.setData(*placed(*face.chance(share), *axes))
        if (face.key, whole, axes[0].key) == (self.face.key, self.whole, self.along.key) and (
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
        self.legend.corner = self.corner
        return True

    def place_inset(self) -> bool:
        """Place the inset above the legend, if that is below it; return whether there is room."""
        below = self.legend.isVisible() and self.corner == (1, 1)
        taken = self.legend.mapRectToParent(self.legend.boundingRect()).height() if below else 0.0
        return self.inset.place(self.box.rect(), taken + (_LEGEND_MARGIN if below else 0.0))

    @property
    def corner(self) -> tuple[int, int]:
        """The corner that the curves leave free."""
        return (0, 0) if self.along.key == "log" else self.face.corner

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
        x, y = placed(*part, self.along, self.up)
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


def _with_air(low: float, high: float, share: float) -> tuple[float, float]:
    air = share * (high - low)
    return low - air, high + air


class LiveLine:
    """The line of the run in progress.

    Attributes
    ----------
    live : LiveRun or None
    curve : RocCurve or None
        Its ROC curve at the latest look.
    """

    def __init__(self, item: Any) -> None:
        self._item = item
        self.live: LiveRun | None = None
        self._picture: object = None
        self._doing = ""
        self.curve: roc.RocCurve | None = None

    def is_behind(self, live: LiveRun | None) -> bool:
        """Return whether a newer scorer is to be drawn or described, or a line to be removed."""
        if live is None or live is not self.live:
            return live is not self.live
        is_waiting = self.curve is None and live.words != self._doing
        return is_waiting or live.picture is not self._picture

    def show(
        self,
        live: LiveRun | None,
        face: Face,
        axes: tuple[Axis, Axis],
        window: Window,
        pixels: tuple[int, int],
    ) -> None:
        """Draw the latest scorer, or nothing."""
        picture = live.picture if live is not None else None
        self.live = live
        if live is None or picture is None or not np.ptp(picture.scores):
            # Equal scores, as before the first step, rank nothing and are no result.
            self._picture, self.curve = picture, None
            self._item.setData([], [])
            return
        if picture is not self._picture or self.curve is None:
            self._picture = picture
            rows = picture.positive, picture.scores
            self.curve = roc.roc_curve(*rows, weights=picture.weights)
        bends = self.curve.corners() if face.key == "roc" else self.curve
        line = PlacedLine(*placed(*face.path(bends), *axes))
        self._item.setPen(run_pen(live.look, 1.2))
        self._item.setData(*line.seen(window, pixels))

    def words(self, face: Face, band: Band, scale: str) -> str:
        """State its figures so far, or without a curve what it does; empty without a run."""
        live, curve = self.live, self.curve
        if live is None:
            return ""
        if curve is None:
            self._doing = live.words
            return text("live_before_curve", name=live.look.name, doing=self._doing)
        area = None
        if face.key == "roc":
            value = getattr(roc.partial_auc_of(curve, *band), scale)
            area = f"{curve_figures.SCALES[scale]} {curve_figures.area_words(value, scale)}"
        return text(
            "live_curve",
            name=live.look.name,
            split=live.split + 1 if live.splits > 1 else None,
            splits=live.splits,
            figure=face.figure_title,
            value=face.figure(curve),
            area=area,
        )
