"""Controls of the ROC page: choices, FPR range and layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QApplication, QMenu

from aucstudio.engine import METHODS
from aucstudio.gui.common import curve_figures
from aucstudio.gui.common.buttons import make_action
from aucstudio.gui.common.controls import ControlRow, Verb, keep_choice
from aucstudio.gui.common.form import edge_box
from aucstudio.gui.common.layouts import STRETCH, down, scrolled
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.plots import rate_axes as axes
from aucstudio.gui.common.plots.plot import Plot
from aucstudio.gui.common.plots.rate_axes import place, rate_at
from aucstudio.gui.common.theme import fix_width
from aucstudio.gui.common.threshold import CARD_WIDTH
from aucstudio.gui.common.widgets import named
from aucstudio.gui.pages.roc.bands import NONE, BandLayer
from aucstudio.gui.pages.roc.canvas import Canvas
from aucstudio.gui.pages.roc.costs import CostLayer
from aucstudio.gui.pages.roc.lines import FACES, Lines
from aucstudio.gui.pages.roc.operating_point import OperatingPointLayer
from aucstudio.gui.pages.roc.overlays import DifferenceLayer, IsometricLayer, Layer, Scene
from aucstudio.gui.state.plan import RANGE
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.runs.experiment import Band

_LEAST = 0.001 - 1e-9
_ROUNDING = 6e-5
_STEP_PIXELS, _FINEST = 4, 1e-4  # of what a dragged edge is rounded to
_AROUND_WORDS = 58  # of a list: its frame and its arrow
_AIR = 14  # for the scroll bar
_EDITS = "train_in_range_action"  # edits the plan, not the view
_BANDS = (
    *("confidence_none_action", "confidence_pointwise_action"),
    *("confidence_simultaneous_action", "confidence_kolmogorov_action"),
)
_AREAS = ("area_normalized_action", "area_raw_action", "area_mcclish_action")
_ISOMETRICS = (
    *("isometrics_none_action", "isometrics_accuracy_action", "isometrics_precision_action"),
    *("isometrics_f_action", "isometrics_wra_action"),
)


class RocControls:
    """What is chosen for the picture; stored when it changes.

    Attributes
    ----------
    face_combo, axis_combo, curve_combo : QComboBox
        Which picture; its axes; average or every split.
    band_low, band_high : QDoubleSpinBox
    show_menu : QMenu
    inset_action, train_action : QAction
    bands, areas, isometrics : QActionGroup
    zoom_button : QPushButton
    """

    def __init__(self, row: ControlRow, zoom: Verb) -> None:
        self._row = row
        self.face_combo, self.axis_combo, self.curve_combo = (
            row.choice(name, None, items)
            for name, items in (
                ("face_combo", [(face.title, face.key) for face in FACES.values()]),
                ("axis_combo", [(title, key) for key, title in axes.KINDS.items()]),
                ("curve_combo", ()),
            )
        )
        self.band_low, self.band_high = (
            row.put(edge_box(name, *ends))
            for name, ends in (("band_low", (0.0, 0.999)), ("band_high", (0.001, 1.0)))
        )
        row.keep_together(self.band_low)
        row.addStretch(1)
        self._make_menu()
        self.zoom_button = row.button("zoom_band_button", zoom)

    def _make_menu(self) -> None:
        self.show_button = self._row.button("show_button")
        self.show_menu = named(QMenu(self.show_button), "show_menu", "What else is shown")
        self.show_menu.setToolTipsVisible(True)
        self.bands = _submenu(self.show_menu, "Confidence &band", _BANDS)
        self.areas = _submenu(self.show_menu, "&Partial area as", _AREAS)
        self.inset_action, self.train_action = (
            make_action(self.show_menu, name, checkable=True) for name in ("inset_action", _EDITS)
        )
        self.show_menu.addSeparator()
        self.switches = {
            name: make_action(self.show_menu, name, checkable=True)
            for name in (
                *("operating_point_action", "confusion_action"),
                *("cost_action", "difference_action"),
            )
        }
        self.switches["operating_point_action"].setChecked(True)
        self.isometrics = _submenu(self.show_menu, "&Isometrics", _ISOMETRICS)
        self.show_button.setMenu(self.show_menu)

    @property
    def face(self) -> str:
        return str(self.face_combo.currentData())

    @property
    def axis(self) -> str:
        return str(self.axis_combo.currentData())

    @property
    def every(self) -> bool:
        """Whether every split has a line of its own."""
        return bool(self.curve_combo.currentData() == "every")

    @property
    def confidence(self) -> str:
        """The kind of confidence band, or "none"."""
        return _key(self.bands.checkedAction())

    @property
    def area(self) -> str:
        """One of :data:`~aucstudio.gui.common.curve_figures.SCALES`."""
        return _key(self.areas.checkedAction())

    @property
    def isometric(self) -> str:
        """One of :data:`MEASURES`, or "none"."""
        return _key(self.isometrics.checkedAction())

    def is_on(self, name: str) -> bool:
        """Return whether a layer is switched on."""
        return self.switches[name].isChecked()

    def choose(self, confidence: str = "", area: str = "") -> None:
        """Choose from the menu, as a click on it does."""
        for action in (*self.bands.actions(), *self.areas.actions()):
            group = self.bands if action in self.bands.actions() else self.areas
            if _key(action) == (confidence if group is self.bands else area):
                action.trigger()

    def fit(self, several: bool) -> None:
        """Show the controls that mean something for the chosen face."""
        for combo in (self.face_combo, self.axis_combo, self.curve_combo):
            words = combo.fontMetrics().horizontalAdvance(combo.currentText())
            combo.setFixedWidth(words + _AROUND_WORDS)
        self._row.show(several, self.curve_combo)
        range_controls = self.band_low, self.band_high, self.zoom_button
        self._row.show(self.face == "roc", self.axis_combo, self.show_button, *range_controls)

    def remember(self) -> None:
        """Restore the choices, and store them when they change."""
        for combo in (self.face_combo, self.axis_combo, self.curve_combo):
            keep_choice(combo)
        kept = preferences()
        choices, layers = kept.now.choices, kept.now.layers
        self.choose(choices.get("confidence", ""), choices.get("area", ""))
        for name, group in (("confidence", self.bands), ("area", self.areas)):
            group.triggered.connect(lambda a, name=name: kept.put_in("choices", name, _key(a)))
        for action in self.show_menu.actions():
            name = action.objectName()
            if action.isCheckable() and name != _EDITS:
                if layers.get(name, action.isChecked()) != action.isChecked():
                    action.trigger()
                action.triggered.connect(lambda on, name=name: kept.put_in("layers", name, on))


def _submenu(menu: QMenu, title: str, names: Sequence[str]) -> QActionGroup:
    """Add a submenu of exclusive actions; check the first."""
    part = menu.addMenu(title)
    part.setToolTipsVisible(True)
    group = QActionGroup(menu)
    for name in names:
        group.addAction(make_action(part, name, checkable=True))
    group.actions()[0].setChecked(True)
    return group


def _key(action: QAction) -> str:
    """Return what an action of a submenu chooses."""
    return action.objectName().split("_")[1]


class RangeControl:
    """Keeps the range of the picture, its fields, the plan and the training range in sync."""

    def __init__(
        self, session: Session, choices: RocControls, canvas: Canvas, lines: Lines
    ) -> None:
        self._session, self._choices = session, choices
        self._canvas, self._lines = canvas, lines
        self._zoomed = False
        choices.band_low.valueChanged.connect(self._on_low)
        choices.band_high.valueChanged.connect(self._on_high)
        canvas.band_item.sigRegionChanged.connect(self._on_drag)
        canvas.band_item.sigRegionChangeFinished.connect(self._on_drag)
        choices.train_action.triggered.connect(session.train_in_range)

    def show(self) -> None:
        """Show the plan's range, and whether its method trains for it."""
        self._show_training()
        band, choices, item = self._session.plan.band, self._choices, self._canvas.band_item
        with QSignalBlocker(choices.band_low), QSignalBlocker(choices.band_high):
            choices.band_low.setValue(band[0])
            choices.band_high.setValue(band[1])
        # A dragged range may differ by rounding; moving it would disturb the drag.
        if np.abs(np.subtract(item.band(), band)).max() > _ROUNDING:
            item.show_band(band)

    def _show_training(self) -> None:
        plan, action = self._session.plan, self._choices.train_action
        title, range_ = METHODS[plan.method].title, plan.settings(plan.method).get(RANGE)
        linked = plan.is_linked(plan.method)
        action.setEnabled(range_ is not None)
        action.setChecked(linked)
        state = "whole" if range_ is None else "linked" if linked else "own"
        words = text("training_range", state=state, title=title, band=range_ or (0.0, 1.0))
        plain_tooltip(action, words)

    def turn(self) -> None:
        """Zoom to the range, or back."""
        self.zoom(not self._zoomed)

    def zoom(self, to_band: bool) -> None:
        """Show the range only, or the full curve."""
        self._zoomed = to_band
        self._choices.zoom_button.setText("&Zoom out" if to_band else "&Zoom in")
        if to_band:
            self._canvas.show_part(*self.places())
        else:
            self._canvas.plot.show_whole()

    def heights(self) -> tuple[float, float]:
        """Return the lowest and the highest TPR of the drawn curves within the range."""
        band = self._session.plan.band
        parts = [curve_figures.within_band(d.shape.trace, band)[1] for d in self._lines.drawn]
        if not parts:
            return 0.0, 1.0
        return min(float(y[0]) for y in parts), max(float(y[-1]) for y in parts)

    def places(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the interval of each axis that contains the curves within the range."""
        along, up = self._canvas.along, self._canvas.up
        (low, high), (bottom, top) = self._session.plan.band, self.heights()
        across = _stretch(place(along, low), place(along, high))
        return across, _stretch(place(up, bottom), place(up, top))

    def _on_drag(self) -> None:
        """Set the dragged range, at round rates unless Alt is held."""
        band, old = self._canvas.band_item.band(), self._session.plan.band
        is_free = QApplication.keyboardModifiers() & Qt.KeyboardModifier.AltModifier
        self._session.set_band(
            *curve_figures.fit_band(*(band if is_free else self._round(band)), old)
        )

    def _round(self, band: Band) -> Band:
        """Round the edges that have moved; a range that is dragged keeps its width."""
        old = self._session.plan.band
        moved = [abs(new - was) > _ROUNDING for new, was in zip(band, old, strict=True)]
        low, high = (
            self._round_edge(edge) if has_moved else edge
            for edge, has_moved in zip(band, moved, strict=True)
        )
        return (low, low + band[1] - band[0]) if all(moved) else (low, high)

    def _round_edge(self, edge: float) -> float:
        """Round a rate to a step of 1, 2 or 5 that is a few pixels wide where the edge is."""
        axis, reach = self._canvas.along, _STEP_PIXELS * self._canvas.box.viewPixelSize()[0]
        at = place(axis, edge)
        wide = max(abs(rate_at(axis, at + side * reach) - edge) for side in (-1, 1))
        power = 10.0 ** math.floor(math.log10(max(wide, _FINEST)))
        step = next(power * k for k in (1, 2, 5, 10) if power * k >= wide * (1 - 1e-9))
        return round(edge / step) * step

    def _on_low(self, low: float) -> None:
        old_low, high = self._session.plan.band
        if high - low < _LEAST:
            high = min(low + high - old_low, 1.0)
        self._session.set_band(low, round(high, 4))

    def _on_high(self, high: float) -> None:
        low, old_high = self._session.plan.band
        if high - low < _LEAST:
            low = max(high - (old_high - low), 0.0)
        self._session.set_band(round(low, 4), high)


def _stretch(low: float, high: float) -> tuple[float, float]:
    """Return an interval of positive length."""
    return low, max(high, low + 1e-6)


class Layers:
    """Creates the layers with their panels, and draws those that are switched on.

    Attributes
    ----------
    point : OperatingPointLayer
    costs : CostLayer
    isometrics : IsometricLayer
    difference : DifferenceLayer
    bands : BandLayer
    side : QScrollArea
        The figures of the layers, next to the plot.
    """

    def __init__(
        self,
        plot: Plot,
        session: Session,
        choices: RocControls,
        changed: Callable[[], object],
    ) -> None:
        self._choices = choices
        self.point = OperatingPointLayer(plot, session)
        self.costs = CostLayer(plot, session)
        self.isometrics = IsometricLayer(plot, session)
        self.difference, self.bands = DifferenceLayer(plot), BandLayer(plot)
        self.layers: tuple[Layer, ...] = (
            *(self.point, self.costs, self.difference),
            *(self.isometrics, self.bands),
        )
        panels = down(self.point.panel, self.costs.panel, STRETCH, gap=16, around=(0, 0, _AIR, 0))
        self.side = scrolled(panels, "layer_figures", "Figures of the operating point")
        fix_width(self.side, CARD_WIDTH + _AIR)
        self.side.hide()
        for layer in self.layers:
            layer.changed.connect(changed)
        for action in choices.switches.values():
            action.toggled.connect(lambda _on: changed())
        for group in (choices.isometrics, choices.bands):
            group.triggered.connect(lambda _action: changed())

    def show(self, scene: Scene) -> None:
        """Draw all layers over the current picture."""
        choices = self._choices
        self.point.enabled = choices.is_on("operating_point_action")
        self.point.with_panel = choices.is_on("confusion_action")
        self.costs.enabled = choices.is_on("cost_action")
        self.difference.enabled = choices.is_on("difference_action")
        self.isometrics.enabled = choices.isometric != NONE
        self.isometrics.measure = choices.isometric
        self.bands.kind = choices.confidence
        for layer in reversed(self.layers):
            layer.show(scene)
        panels = self.point.panel, self.costs.panel
        # On a narrow page the plot has all the room.
        page = self.side.parentWidget()
        wide = page is not None and page.width() >= 2 * CARD_WIDTH
        self.side.setVisible(wide and not all(panel.isHidden() for panel in panels))

    def apply_theme(self) -> None:
        """Apply the current theme."""
        for layer in self.layers:
            layer.apply_theme()

    @property
    def words(self) -> str:
        """What the layers add to the sentence."""
        return " ".join(layer.words for layer in self.layers if layer.words)
