"""The operating point on the curve of the selected run."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.roc import cut_at
from aucstudio.gui.common.curve_figures import Trace, run_curves
from aucstudio.gui.common.layouts import down
from aucstudio.gui.common.plain_text import plain_tooltip, shortened
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.rate_axes import nearest, place
from aucstudio.gui.common.plotting import pen
from aucstudio.gui.common.theme import current_theme, run_colour, run_symbol
from aucstudio.gui.common.threshold import Chosen, ThresholdChooser
from aucstudio.gui.common.widgets import label, named
from aucstudio.gui.pages.roc.overlays import Layer, Scene, average
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.notices.words import score_words
from aucstudio.project.results.thresholds import Confusion, ThresholdFigures, counts_at, vertex_of

_REACH = 14.0  # pixels from the curve within which a click places the point
_STRIDE = 10  # vertices that an arrow key passes with Shift
_STEPS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1}


@dataclasses.dataclass(frozen=True, eq=False)
class FocusedPoint:
    """Position of the focused threshold.

    Attributes
    ----------
    run : ShownRun
    trace : Trace
        The line that it lies on.
    split : int
        Whose threshold it is.
    curve : RocCurve
        Of that split.
    vertex : int
        Of ``curve``.
    threshold : float
    """

    run: ShownRun
    trace: Trace
    split: int
    curve: roc.RocCurve
    vertex: int
    threshold: float

    @classmethod
    def of(cls, scene: Scene) -> FocusedPoint | None:
        """Find it; None where the chosen run is not drawn."""
        run = scene.chosen
        if run is None or not scene.is_roc:
            return None
        curves = run_curves(run.record).curves
        split = min(scene.focus.split, len(curves) - 1)
        vertex = vertex_of(curves[split], scene.focus.threshold)
        return cls(run, average(run), split, curves[split], vertex, scene.focus.threshold)

    @property
    def fpr(self) -> float:
        return float(self.curve.fpr[self.vertex])

    @property
    def tpr(self) -> float:
        """Height of the line there: of an average, the mean TPR of all splits."""
        if self.trace.curve is not None:
            return float(self.curve.tpr[self.vertex])
        return float(np.interp(self.fpr, self.trace.x, self.trace.y))

    @property
    def counts(self) -> Confusion:
        return counts_at(self.curve, self.threshold)

    def cut_for(self, fpr: float) -> float:
        """Return the threshold of this split that reaches at most an FPR, with all it can."""
        return cut_at(self.curve, int(np.searchsorted(self.curve.fpr, fpr, "right")) - 1)

    def words(self) -> str:
        """Describe what it does in a sentence."""
        counts = self.counts
        return text(
            "operating_point",
            threshold=score_words(self.threshold),
            split=self.split + 1 if self.trace.splits > 1 else None,
            name=self.run.look.name,
            counts=counts,
            precision=None if math.isnan(counts.precision) else counts.precision,
            weighted=self.curve.behind is not None,
        )


class _Handle(pg.ScatterPlotItem):
    """The draggable point; emits its new position."""

    dragged = Signal(float, float)
    released = Signal()

    def __init__(self) -> None:
        super().__init__(size=15, antialias=True)
        self.setCursor(Qt.CursorShape.OpenHandCursor)

    def hoverEvent(self, event: Any) -> None:
        super().hoverEvent(event)
        if not event.isExit() and len(self.pointsAt(event.pos())):
            # Else the edge of a range that lies under it would be dragged.
            event.acceptDrags(Qt.MouseButton.LeftButton)

    def mouseDragEvent(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        event.accept()
        self.dragged.emit(event.pos().x(), event.pos().y())
        if event.isFinish():
            self.released.emit()


class OperatingPanel(QWidget):
    """The choice of the threshold and its figures, next to the plot."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "operating_panel", "Operating point")
        self.title = label("", "muted", name="operating_title")
        self.chooser = ThresholdChooser("operating", session).follow_focus()
        self.card = self.chooser.card
        head = label("OPERATING POINT", "heading")
        self.setLayout(down(head, self.title, self.chooser, gap=4))


class OperatingPointLayer(Layer):
    """The focused threshold of the chosen run as a point of its curve.

    Attributes
    ----------
    with_panel : bool
        Whether its figures are shown too.
    panel : OperatingPanel
        Next to the plot.
    point : Point or None
    """

    def __init__(self, plot: Plot, session: Session) -> None:
        self.guides = pg.PlotCurveItem(antialias=True)
        self.whiskers = pg.PlotCurveItem(antialias=True, connect="pairs")
        self.handle = _Handle()
        super().__init__(plot, (self.guides, self.whiskers, self.handle), 60)
        self.enabled, self.with_panel = True, False
        self.panel = OperatingPanel(session)
        self.point: FocusedPoint | None = None
        self._session, self._plot = session, plot
        self._box: Any = plot.getViewBox()
        self._scene: Scene | None = None
        self._placed: tuple[object, Array, Array] | None = None
        self._described: tuple[object, ...] = ()
        self.handle.dragged.connect(lambda x, y: self._go(self._nearest(x, y)[1]))
        plot.clicked.connect(self._on_click)
        plot.installEventFilter(self)
        self.apply_theme()

    def show(self, scene: Scene) -> None:
        session, self._scene = self._session, scene
        shown = scene.chosen, scene.focus, scene.face, scene.x, scene.y, session.stakes
        described = *shown, session.plan.target, self.enabled, self.with_panel
        if described == self._described and self.point is not None:
            # Only the visible part has changed.
            self._draw(scene, self.point)
            return
        self._described = described
        self.point = FocusedPoint.of(scene) if self.enabled else None
        # The model's own threshold is not described.
        pointed = self.point is not None and self.point.threshold != 0.0
        self.words = self.point.words() if self.point is not None and pointed else ""
        self.panel.setVisible(self.point is not None and self.with_panel)
        self.show_items(self.point is not None)
        if self.point is not None:
            self._draw(scene, self.point)
            self._fill_panel(self.point)
            self.apply_theme()

    def _draw(self, scene: Scene, point: FocusedPoint) -> None:
        x, y = place(scene.x, point.fpr), place(scene.y, point.tpr)
        left, bottom = scene.window[0], scene.window[2]
        self.handle.setData([x], [y])
        self.guides.setData([left, x, x], [y, y, bottom])
        # Counts are those of one split: an average has no interval.
        if point.trace.curve is None:
            self.whiskers.setData([], [])
            return
        figures = ThresholdFigures.of(point.counts)
        across, up = figures.fpr.bounds, figures.tpr.bounds
        left, right = (place(scene.x, rate) for rate in across)
        self.whiskers.setData([left, right, x, x], [y, y, *(place(scene.y, rate) for rate in up)])

    def _fill_panel(self, point: FocusedPoint) -> None:
        name = point.run.look.name
        self.panel.title.setText(shortened(name))
        plain_tooltip(self.panel.title, name)
        chosen = Chosen.of_focus(self._session, point.run, point.split, point.counts)
        self.panel.chooser.show_chosen(chosen)

    def apply_theme(self) -> None:
        theme = current_theme()
        focused = self._plot.hasFocus()
        self.handle.setPen(pen(theme.accent if focused else theme.text, 2.5 if focused else 1.5))
        if self.point is not None:
            look = self.point.run.look
            self.handle.setBrush(run_colour(theme, look.colour))
            self.handle.setSymbol(run_symbol(look.colour))
        self.guides.setPen(pen(theme.muted, 1.0, (2.0, 3.0)))
        self.whiskers.setPen(pen(theme.text, 1.2))

    # ------------------------------------------------------------- moving

    def move_to(self, fpr: float) -> None:
        """Put the threshold where the focused split reaches an FPR."""
        if self.point is not None:
            self._session.set_threshold(threshold=self.point.cut_for(fpr))

    def step(self, vertices: int) -> None:
        """Move along the focused split's curve."""
        if self.point is not None:
            last = len(self.point.curve.thresholds) - 1
            vertex = min(max(self.point.vertex + vertices, 0), last)
            self._session.set_threshold(threshold=cut_at(self.point.curve, vertex))

    def is_under(self, x: float, y: float) -> bool:
        """Return whether a place of the plot is on the point."""
        return self.handle.isVisible() and bool(len(self.handle.pointsAt(QPointF(x, y))))

    def _go(self, vertex: int) -> None:
        point = self.point
        if point is None:
            return
        if point.trace.curve is None:
            self.move_to(float(point.trace.x[vertex]))
        else:
            self._session.set_threshold(threshold=cut_at(point.curve, vertex))

    def _nearest(self, x: float, y: float) -> tuple[float, int]:
        """Return the distance in pixels of the line's nearest vertex, and which it is."""
        scene, point = self._scene, self.point
        if scene is None or point is None:
            return math.inf, 0
        key = (point.trace, scene.x, scene.y)
        if self._placed is None or self._placed[0] != key:
            places = scene.x.forward(point.trace.x), scene.y.forward(point.trace.y)
            self._placed = (key, *places)
        return nearest(self._placed[1:], (x, y), self._box.viewPixelSize())

    def _on_click(self, place: QPointF) -> None:
        distance, vertex = self._nearest(place.x(), place.y())
        if distance <= _REACH and not self.is_under(place.x(), place.y()):
            self._go(vertex)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.point is not None:
            if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
                self.apply_theme()
            elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
                step = _STEPS.get(Qt.Key(event.key()), 0)
                shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                if step:
                    self.step(step * (_STRIDE if shift else 1))
                    return True
        return super().eventFilter(watched, event)
