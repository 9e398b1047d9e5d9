"""The ROC picture: the checked runs over each other, the FPR band, and what it decides."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSignalBlocker, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout

from aucstudio.engine import METHODS, roc
from aucstudio.gui import curves
from aucstudio.gui.plotting import make_plot, pen, run_pen
from aucstudio.gui.roc_items import (
    BandItem,
    LegendRow,
    RunLegend,
    legend_row,
    make_buddy,
    make_combo,
    make_edge_box,
    shortened,
)
from aucstudio.gui.session import Session, ShownRun
from aucstudio.gui.theme import current_theme, run_colour
from aucstudio.gui.view import View
from aucstudio.gui.widgets import named

__all__ = ["LegendRow", "RocView", "RunLegend"]

_WHOLE = (-0.02, 1.02)
_HINT = "Point at a curve to read threshold, rates and counts."


@dataclasses.dataclass(frozen=True, eq=False)
class _Drawn:
    """A line of the picture with what it stands for."""

    run: ShownRun
    trace: curves.Trace
    item: Any


class RocView(View):
    """ROC curves of the checked runs and of the run in flight.

    Attributes
    ----------
    plot : PlotWidget
    band_item : LinearRegionItem
        The FPR range, draggable by its edges and as a whole.
    legend : RunLegend
    live_item, shade_item, marker : plot items
        Curve of the run in flight; area of the selected run in the band; vertex pointed at.
    readout : QLabel
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, "roc_view", "ROC")
        self._drawn: list[_Drawn] = []
        self._live: tuple[object, roc.Curve] | None = None
        self._zoomed = False
        self._make_controls()
        self._make_plot()
        self._connect()
        self._dress()
        self._show_range()

    # ------------------------------------------------------------- making

    def _make_controls(self) -> None:
        self.curve_combo = make_combo("curve_combo", "Which curves of several splits")
        self.curve_combo.addItem("Average", "average")
        self.curve_combo.addItem("Every split", "every")
        self.curve_label = make_buddy("C&urve", self.curve_combo)
        self.area_combo = make_combo("area_combo", "Scale of the partial area in the legend")
        for scale, title, meaning in (
            ("normalized", "Normalised", "Mean TPR over the range: area divided by its width"),
            ("raw", "Raw", "The area itself; at most the width of the range"),
            ("mcclish", "McClish", "Standardised: 0.5 for chance, 1 for a perfect ranking"),
        ):
            self.area_combo.addItem(title, scale)
            last = self.area_combo.count() - 1
            self.area_combo.setItemData(last, meaning, Qt.ItemDataRole.ToolTipRole)
        self.area_combo.setToolTip("How the legend gives the area within the FPR range")
        self.band_low = make_edge_box("band_low", "Lower end of the FPR range", 0.0, 0.999)
        self.band_high = make_edge_box("band_high", "Upper end of the FPR range", 0.001, 1.0)
        self.zoom_button = QPushButton("&Zoom in")
        named(self.zoom_button, "zoom_band_button", "Zoom to the FPR range or back")
        self.zoom_button.setToolTip("Show the FPR range alone, or the whole curve")
        low_label = make_buddy("F&PR", self.band_low)
        low_label.setToolTip("False-positive range that the partial area is read in")
        self.controls.addWidget(self.curve_label)
        self.controls.addWidget(self.curve_combo)
        self.controls.addWidget(make_buddy("&Area", self.area_combo))
        self.controls.addWidget(self.area_combo)
        self.controls.addWidget(low_label)
        self.controls.addWidget(self.band_low)
        self.controls.addWidget(make_buddy("…", self.band_high))
        self.controls.addWidget(self.band_high)
        self.controls.addStretch(1)
        self.controls.addWidget(self.zoom_button)

    def _make_plot(self) -> None:
        self.plot = make_plot("roc_plot", "False-positive rate", "True-positive rate")
        for side in ("left", "bottom"):
            self.plot.getAxis(side).enableAutoSIPrefix(False)
        self._box: Any = self.plot.getPlotItem().getViewBox()
        low, high = _WHOLE
        self._box.setLimits(
            xMin=low, xMax=high, yMin=low, yMax=high, minXRange=2e-3, minYRange=1e-2
        )
        self.band_item = BandItem(self.session.plan.band)
        self.shade_item = pg.PlotCurveItem(pen=None, fillLevel=0.0)
        self.diagonal = pg.PlotCurveItem([0.0, 1.0], [0.0, 1.0], antialias=True)
        self.live_item = pg.PlotCurveItem(antialias=True)
        self.marker = pg.ScatterPlotItem(size=9, antialias=True)
        self.hint = pg.TextItem(anchor=(0.5, 0.5))
        self.hint.setPos(0.5, 0.5)
        layers = (self.band_item, self.shade_item, self.diagonal)
        for depth, item in enumerate((*layers, self.live_item, self.marker, self.hint)):
            item.setZValue(depth - len(layers) if item in layers else 50 + depth)
            self.plot.addItem(item, ignoreBounds=True)
        self.legend = RunLegend(self._box)
        self.readout = QLabel()
        named(self.readout, "roc_readout", "Curve at the pointer")
        self.readout.setProperty("role", "muted")
        self.readout.setWordWrap(True)
        self.readout.setTextFormat(Qt.TextFormat.PlainText)
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(self.readout)
        column.addWidget(self.plot, stretch=1)
        self.body.addLayout(column)
        self.clear_readout()

    def _connect(self) -> None:
        self.session.band_changed.connect(self.refresh_band)
        self.session.plan_changed.connect(self._tell)
        self.curve_combo.currentIndexChanged.connect(self.mark_stale)
        self.area_combo.currentIndexChanged.connect(self.refresh_band)
        self.band_item.sigRegionChanged.connect(self._on_drag)
        self.band_item.sigRegionChangeFinished.connect(self._on_drag)
        self.band_low.valueChanged.connect(self._on_low)
        self.band_high.valueChanged.connect(self._on_high)
        self.zoom_button.clicked.connect(lambda: self._zoom(not self._zoomed))
        self._box.sigRangeChanged.connect(self._on_range)
        self._box.sigResized.connect(self._on_range)
        self.plot.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.plot.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self.plot.viewport().installEventFilter(self)

    def figure(self) -> pg.PlotWidget:
        return self.plot

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        runs = self.session.checked_runs()
        several = any(len(run.record.splits) > 1 for run in runs)
        self.curve_label.setVisible(several)
        self.curve_combo.setVisible(several)
        self._dress()
        self._draw(runs)
        self._show_live()
        self._show_band()

    def refresh_band(self) -> None:
        """Show the FPR range and the areas in it; the curves stay."""
        if self.isVisible():
            self._show_band()
        else:
            self.mark_stale()

    def _show_band(self) -> None:
        band = self.session.plan.band
        with QSignalBlocker(self.band_low), QSignalBlocker(self.band_high):
            self.band_low.setValue(band[0])
            self.band_high.setValue(band[1])
        # A band being dragged may differ by rounding; moving it then would fight the hand.
        if np.abs(np.subtract(self.band_item.getRegion(), band)).max() > 6e-5:
            self.band_item.show_band(band)
        self._shade(band)
        self._fill_legend()
        self._tell()

    def refresh_live(self) -> None:
        self._show_live()
        self._fill_legend()
        if not self._drawn:
            self._tell()

    def _dress(self) -> None:
        theme = current_theme()
        self.band_item.dress(theme.band)
        self.diagonal.setPen(pen(theme.neutral, 1.2, (1.5, 3.0)))
        self.hint.setColor(theme.muted)
        self.hint.fill = pg.mkBrush(theme.card)

    def _draw(self, runs: list[ShownRun]) -> None:
        for drawn in self._drawn:
            self.plot.removeItem(drawn.item)
        self._drawn = []
        every = self.curve_combo.currentData() == "every"
        for run in runs:
            known = curves.run_curves(run.record)
            thin = every and len(known.curves) > 1
            for trace in known.every if thin else [known.average]:
                self._add(run, trace, thin)
        self.clear_readout()

    def _add(self, run: ShownRun, trace: curves.Trace, thin: bool) -> None:
        colours = run_pen(run.look, 1.0 if thin else 2.0)
        item = pg.PlotCurveItem(pen=colours, antialias=True)
        item.setZValue(30 if run.record.id == self.session.selected else 10)
        item.setOpacity(0.65 if thin else 1.0)
        item.setData(*curves.thin(*trace.corners, self._window()))
        self.plot.addItem(item, ignoreBounds=True)
        self._drawn.append(_Drawn(run, trace, item))

    def _window(self) -> tuple[float, float, float, float]:
        (left, right), (bottom, top) = self._box.viewRange()
        return left, right, bottom, top

    def _show_live(self) -> None:
        live = self.session.live
        picture = live.picture if live is not None else None
        if live is None or picture is None:
            self._live = None
            self.live_item.setData([], [])
        elif self._live is None or self._live[0] is not picture:
            curve = roc.roc_curve(picture.positive, picture.scores)
            self._live = (picture, curve)
            bends = curve.corners()
            self.live_item.setPen(run_pen(live.look, 1.2))
            self.live_item.setData(*curves.thin(bends.fpr, bends.tpr, (*_WHOLE, *_WHOLE)))

    def _shade(self, band: tuple[float, float]) -> None:
        run = next((d.run for d in self._drawn if d.run.record.id == self.session.selected), None)
        if run is None:
            self.shade_item.setData([], [])
            return
        colour = run_colour(current_theme(), run.look.colour)
        colour.setAlpha(56)
        self.shade_item.setBrush(colour)
        x, y = curves.within_band(curves.run_curves(run.record).average, band)
        self.shade_item.setData(*curves.thin(x, y, self._window()))

    def _tell(self) -> None:
        runs = self.session.checked_runs()
        empty = "" if runs else self._what_next()
        self.sentence.setText(empty or curves.roc_sentence(runs, self.session.plan.band))
        self.hint.setText(empty)
        self.hint.setVisible(bool(empty) and self._live is None)

    def _what_next(self) -> str:
        if self.session.live is not None:
            return f"{self.session.live.look.name} is training; its ROC curve moves as it learns."
        if any(run.record.splits for run in self.session.shown_runs()):
            return "No run is checked: tick a run in the list, and its ROC curve appears here."
        if self.session.table is None:
            return "Open a table first; the ROC curves of its runs appear here."
        title = METHODS[self.session.plan.method].title
        return f"Press Run to train {title}; its ROC curve appears here."

    # ------------------------------------------------------------- legend

    def _fill_legend(self) -> None:
        band, scale = self.session.plan.band, self.area_combo.currentData()
        rows = [legend_row(run, band, scale) for run in self._runs()]
        live = self.session.live
        if live is not None and self._live is not None:
            curve = self._live[1]
            split = f", split {live.split + 1} of {live.splits}" if live.splits > 1 else ""
            area = getattr(roc.partial_auc_of(curve, *band), scale)
            words = (f"{roc.auc_of(curve):.3f}", "", curves.area_words(area, scale))
            rows.append(LegendRow(live.look, (f"{live.look.name} training{split}", *words), 1.2))
        self.legend.show_rows(("", "AUC", "95 %", curves.SCALES[scale]), rows)
        self._place_legend()

    def _runs(self) -> list[ShownRun]:
        return list({d.run.record.id: d.run for d in self._drawn}.values())

    def _place_legend(self) -> None:
        """Put the legend where it covers the fewest curves; the lower right if it may choose."""
        places = self.legend.places(self._box.rect())
        covered = [self._count_under(place) for place in places]
        self.legend.setPos(places[covered.index(min(covered))].topLeft())

    def _count_under(self, place: QRectF) -> int:
        corners = (place.bottomLeft(), place.topRight())
        (left, bottom), (right, top) = (
            (p.x(), p.y()) for p in (self._box.mapToView(c) for c in corners)
        )
        heights = [np.interp([left, right], *drawn.trace.corners) for drawn in self._drawn]
        return sum(bool(low <= top and high >= bottom) for low, high in heights)

    # ------------------------------------------------------------- band and zoom

    def _on_drag(self) -> None:
        low, high = self.band_item.getRegion()
        self.session.set_band(*curves.fit_band(low, high, self.session.plan.band))

    def _on_low(self, low: float) -> None:
        old_low, high = self.session.plan.band
        if high - low < 0.001 - 1e-9:
            high = min(low + high - old_low, 1.0)
        self.session.set_band(low, round(high, 4))

    def _on_high(self, high: float) -> None:
        low, old_high = self.session.plan.band
        if high - low < 0.001 - 1e-9:
            low = max(high - (old_high - low), 0.0)
        self.session.set_band(round(low, 4), high)

    def _zoom(self, to_band: bool) -> None:
        self._zoomed = to_band
        self.zoom_button.setText("&Zoom out" if to_band else "&Zoom in")
        self._show_range()

    def _show_range(self) -> None:
        x, y = _WHOLE, _WHOLE
        if self._zoomed:
            low, high = self.session.plan.band
            x = _with_air(low, high)
            y = _with_air(*self._heights(low, high))
        self._box.setRange(xRange=x, yRange=y, padding=0)

    def _heights(self, low: float, high: float) -> tuple[float, float]:
        """Lowest and highest TPR of the drawn curves within the band."""
        parts = [curves.within_band(drawn.trace, (low, high))[1] for drawn in self._drawn]
        if not parts:
            return 0.0, 1.0
        return min(float(y[0]) for y in parts), max(float(y[-1]) for y in parts)

    def _on_range(self) -> None:
        for drawn in self._drawn:
            drawn.item.setData(*curves.thin(*drawn.trace.corners, self._window()))
        self._place_legend()

    # ------------------------------------------------------------- pointing

    def _on_mouse_moved(self, position: QPointF) -> None:
        if self._box.sceneBoundingRect().contains(position):
            point = self._box.mapSceneToView(position)
            self.point_at(point.x(), point.y())
        else:
            self.clear_readout()

    def _on_mouse_clicked(self, event: Any) -> None:
        if event.double():
            self._zoom(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.clear_readout()
        return super().eventFilter(watched, event)

    def point_at(self, x: float, y: float) -> None:
        """Read out the curve vertex nearest to a point of the plot."""
        pixel = self._box.viewPixelSize()
        found = [curves.nearest_vertex(drawn.trace, x, y, pixel) for drawn in self._drawn]
        if not found:
            return
        nearest = min(range(len(found)), key=lambda k: found[k][0])
        drawn, vertex = self._drawn[nearest], found[nearest][1]
        theme = current_theme()
        self.marker.setPen(pg.mkPen(theme.card, width=1.5))
        self.marker.setBrush(run_colour(theme, drawn.run.look.colour))
        self.marker.setData([drawn.trace.x[vertex]], [drawn.trace.y[vertex]])
        words = curves.vertex_words(drawn.trace, vertex)
        self.readout.setText(f"{shortened(drawn.run.look.name)}   {words}")

    def clear_readout(self) -> None:
        """Read out nothing."""
        self.marker.setData([], [])
        self.readout.setText(_HINT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # One line where it fits, else two; never a height that depends on what is pointed at.
        line = self.readout.fontMetrics().lineSpacing()
        self.readout.setFixedHeight(line + 2 if self.width() > 780 else 2 * line + 2)


def _with_air(low: float, high: float) -> tuple[float, float]:
    air = 0.08 * (high - low)
    return low - air, high + air
