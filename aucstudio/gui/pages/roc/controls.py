"""Controls of the ROC page: choices, FPR range and layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QScrollArea

from aucstudio.engine import METHODS
from aucstudio.gui.common import curves
from aucstudio.gui.common.controls import ControlRow, Verb
from aucstudio.gui.common.curves import band_words
from aucstudio.gui.common.form import edge_box
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.threshold import CARD_WIDTH
from aucstudio.gui.common.widgets import STRETCH, down, make_action, named, scrolled
from aucstudio.gui.pages.roc import axes
from aucstudio.gui.pages.roc import confidence_bands as bands
from aucstudio.gui.pages.roc.axes import Layer, Scene, place, rate_at
from aucstudio.gui.pages.roc.canvas import Canvas
from aucstudio.gui.pages.roc.cards import Crowd
from aucstudio.gui.pages.roc.costs import CostLayer
from aucstudio.gui.pages.roc.curve_kinds import FACES
from aucstudio.gui.pages.roc.lines import Lines
from aucstudio.gui.pages.roc.operating_point import OperatingPointLayer
from aucstudio.gui.pages.roc.overlays import MEASURES, DifferenceLayer, IsometricLayer
from aucstudio.gui.state.plan import RANGE
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.project.runs.experiments.experiment import Band

_RANGE_TIP = "Range of false-positive rates of the partial AUC"
_AROUND_WORDS = 58  # of a list: its frame and its arrow

AREAS = {
    "normalized": ("Normalised", "Mean TPR over the range: the area divided by its width"),
    "raw": ("Raw", "The area itself; at most the width of the range"),
    "mcclish": ("McClish", "Standardised: 0.5 for chance, 1 for a perfect ranking"),
}


class RocControls:
    """What is chosen for the picture.

    Attributes
    ----------
    face_combo, axis_combo, curve_combo : QComboBox
        Which picture; its axes; average or every split.
    band_low, band_high : QDoubleSpinBox
    show_menu : QMenu
        Hosts the switches of the layers as well.
    inset_action, train_action : QAction
    zoom_button : QPushButton
    """

    def __init__(self, row: ControlRow, zoom: Verb) -> None:
        self._row = row
        self.face_combo = row.choice(
            "face_combo",
            "",
            "ROC curve, or another picture of the same rankings",
            [(face.title, face.key) for face in FACES.values()],
            says="Which picture of the ranking",
        )
        self.axis_combo = row.choice(
            "axis_combo",
            "A&xes",
            "Linear, logarithmic for low FPR, or probit on both axes (DET)",
            [(title, kind) for kind, title in axes.KINDS.items()],
            says="Axes of the ROC curve",
        )
        self.curve_combo = row.choice(
            "curve_combo",
            "&Curve",
            "The mean over the splits at each place, or the curve of every split; scores of "
            "different splits have no common scale and are not pooled",
            (("Average", "average"), ("Every split", "every")),
            says="Which curves of several splits",
        )
        self.band_low, self.band_high = (
            row.put(edge_box(name, says, *ends), title, _RANGE_TIP)
            for name, says, ends, title in (
                ("band_low", "Lower end of the FPR range", (0.0, 0.999), "F&PR"),
                ("band_high", "Upper end of the FPR range", (0.001, 1.0), "…"),
            )
        )
        row.addStretch(1)
        self._make_menu()
        self.zoom_button = row.button(
            "zoom_band_button", "&Zoom in", "Show only the FPR range, or the whole curve", zoom
        )

    def _make_menu(self) -> None:
        self.show_button = self._row.put(
            named(QPushButton("Sho&w"), "show_button", "What else is shown"),
            tip="Confidence band, inset, operating point, costs and more",
        )
        self.show_menu = named(QMenu(self.show_button), "show_menu", "What else is shown")
        self.show_menu.setToolTipsVisible(True)
        self._bands = choice_menu(self.show_menu, "Confidence &band", "confidence", bands.KINDS)
        self._areas = choice_menu(self.show_menu, "&Partial area as", "area", AREAS)
        self.inset_action = make_action(
            self.show_menu,
            "inset_action",
            "&Inset",
            "The FPR range magnified, in a free corner",
            checkable=True,
        )
        self.train_action = make_action(
            self.show_menu, "train_in_range_action", "&Train in this range", "", checkable=True
        )
        self.show_menu.addSeparator()
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
        """One of :data:`bands.KINDS`."""
        return _chosen(self._bands)

    @property
    def area(self) -> str:
        """One of :data:`AREAS`."""
        return _chosen(self._areas)

    def on_area(self, verb: Callable[[], object]) -> None:
        self._areas.triggered.connect(lambda _action: verb())

    def on_confidence(self, verb: Callable[[], object]) -> None:
        self._bands.triggered.connect(lambda _action: verb())

    def choose(self, confidence: str = "", area: str = "") -> None:
        """Choose from the menu, as a click on it does."""
        for group, key in ((self._bands, confidence), (self._areas, area)):
            for action in group.actions():
                if action.data() == key:
                    action.trigger()

    def fit(self, several: bool) -> None:
        """Show the controls that mean something for the chosen face."""
        is_roc = self.face == "roc"
        for combo in (self.face_combo, self.axis_combo, self.curve_combo):
            words = combo.fontMetrics().horizontalAdvance(combo.currentText())
            combo.setFixedWidth(words + _AROUND_WORDS)
        self._row.show(several, self.curve_combo)
        self._row.show(
            is_roc,
            self.axis_combo,
            self.band_low,
            self.band_high,
            self.show_button,
            self.zoom_button,
        )


def choice_menu(
    menu: QMenu, title: str, name: str, kinds: Mapping[str, tuple[str, str]]
) -> QActionGroup:
    """Add a submenu of exclusive actions by key, with texts and tooltips; check the first."""
    part = menu.addMenu(title)
    part.setToolTipsVisible(True)
    group = QActionGroup(menu)
    for key, (words, meaning) in kinds.items():
        action = make_action(part, f"{name}_{key}_action", words, meaning, checkable=True)
        action.setData(key)
        action.setChecked(not group.actions())
        group.addAction(action)
    return group


def _chosen(group: QActionGroup) -> str:
    action = group.checkedAction()
    return str(action.data())


_EDITS = ("train_in_range_action",)  # edits the plan, not the view


def remember_choices(choices: RocControls) -> None:
    """Restore the choices, and store them when they change."""
    kept = preferences().now.roc
    for name, combo in (
        ("face", choices.face_combo),
        ("axes", choices.axis_combo),
        ("curves", choices.curve_combo),
    ):
        if (index := combo.findData(getattr(kept, name))) >= 0:
            combo.setCurrentIndex(index)
        combo.activated.connect(
            lambda _index, name=name, combo=combo: _keep(**{name: combo.currentData()})
        )
    choices.choose(kept.confidence, kept.area)
    choices.on_confidence(lambda: _keep(confidence=choices.confidence))
    choices.on_area(lambda: _keep(area=choices.area))
    for action in _switches(choices.show_menu):
        name = action.objectName()
        if kept.layers.get(name, action.isChecked()) != action.isChecked():
            action.trigger()
        action.triggered.connect(lambda on, name=name: _keep_layer(name, on))


def _switches(menu: QMenu) -> Iterator[QAction]:
    for action in menu.actions():
        if action.isCheckable() and action.objectName() not in _EDITS:
            yield action


def _keep(**changes: Any) -> None:
    preferences().put(roc=msgspec.structs.replace(preferences().now.roc, **changes))


def _keep_layer(name: str, on: bool) -> None:
    _keep(layers={**preferences().now.roc.layers, name: on})


_LEAST = 0.001 - 1e-9
_ROUNDING = 6e-5
_STEP_PIXELS, _FINEST = 4, 1e-4  # of what a dragged edge is rounded to


class RangeControl:
    """Keeps the range of the picture, its fields and the plan in sync."""

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

    def show(self) -> None:
        """Show the plan's range."""
        band, choices, item = self._session.plan.band, self._choices, self._canvas.band_item
        with QSignalBlocker(choices.band_low), QSignalBlocker(choices.band_high):
            choices.band_low.setValue(band[0])
            choices.band_high.setValue(band[1])
        # A dragged range may differ by rounding; moving it would disturb the drag.
        if np.abs(np.subtract(item.band(), band)).max() > _ROUNDING:
            item.show_band(band)

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
        parts = [curves.within_band(d.shape.trace, band)[1] for d in self._lines.drawn]
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
        self._session.set_band(*curves.fit_band(*(band if is_free else self._round(band)), old))

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


class TrainingRange:
    """Keeps an action in sync with the plan: whether the method trains for the shown range."""

    def __init__(self, session: Session, action: QAction) -> None:
        self._session, self._action = session, action
        action.triggered.connect(self.set)

    def show(self) -> None:
        """Show whether the method trains for the shown range, if it has one."""
        plan = self._session.plan
        title, range_ = METHODS[plan.method].title, plan.settings(plan.method).get(RANGE)
        with QSignalBlocker(self._action):
            self._action.setEnabled(range_ is not None)
            self._action.setChecked(plan.is_linked(plan.method))
        if range_ is None:
            words = f"{title} trains for the whole ROC curve"
        elif plan.is_linked(plan.method):
            words = f"{title} trains for the range shown and follows it"
        else:
            words = f"{title} trains for its own range, {band_words(range_)}"
        plain_tooltip(self._action, words)

    def set(self, linked: bool) -> None:
        """Train the method for the shown range, or for its own range."""
        plan = self._session.plan
        words = "Train in the shown range" if linked else "Train for its own range"
        self._session.edit(plan.with_link(plan.method, linked), words)


_AIR = 14  # for the scroll bar


class Layers:
    """Creates the layers with their menu entries and panels, and draws them.

    Attributes
    ----------
    point : OperatingPointLayer
    costs : CostLayer
    isometrics : IsometricLayer
    difference : DifferenceLayer
    side : QScrollArea
        The figures of the layers, next to the plot.
    """

    def __init__(
        self,
        plot: pg.PlotWidget,
        session: Session,
        menu: QMenu,
        changed: Callable[[], object],
        crowd: Crowd,
    ) -> None:
        self.point = OperatingPointLayer(plot, session)
        self.costs = CostLayer(plot, session)
        self.isometrics = IsometricLayer(plot, session, crowd)
        self.difference = DifferenceLayer(plot, session)
        self.layers: tuple[Layer, ...] = (self.isometrics, self.difference, self.costs, self.point)
        self._changed = changed
        self.side = self._make_side()
        self._fill_menu(menu)
        self.difference.changed.connect(changed)

    def _make_side(self) -> QScrollArea:
        panels = self.point.panel, self.costs.panel, STRETCH
        column = down(*panels, gap=16, around=(0, 0, _AIR, 0))
        area = scrolled(column, "layer_figures", "Figures of the operating point")
        area.setFixedWidth(scaled(CARD_WIDTH) + _AIR)
        area.hide()
        return area

    # ------------------------------------------------------------- switches

    def _fill_menu(self, menu: QMenu) -> None:
        switches: tuple[tuple[str, str, str, Callable[[bool], object]], ...] = (
            (
                "operating_point_action",
                "&Operating point",
                "Point that slides along the selected curve; it sets the threshold of all views",
                partial(setattr, self.point, "enabled"),
            ),
            (
                "confusion_action",
                "Threshold and confusion &matrix",
                "Choose the operating point by a target, and see what it gets wrong",
                partial(setattr, self.point, "with_panel"),
            ),
            (
                "cost_action",
                "Prior and &cost",
                "The line of equal cost that touches the curve, and the point that costs least",
                partial(setattr, self.costs, "enabled"),
            ),
            (
                "difference_action",
                "&Difference of two runs",
                "The region between the chosen run and the one it is compared with",
                partial(setattr, self.difference, "enabled"),
            ),
        )
        for name, words, tip, switch in switches:
            action = make_action(menu, name, words, tip, checkable=True)
            action.setChecked(name == "operating_point_action" and self.point.enabled)
            action.toggled.connect(switch)
            action.toggled.connect(lambda _on: self._changed())
        titles = {
            key: measure.name[0].upper() + measure.name[1:] for key, measure in MEASURES.items()
        }
        kinds = {"none": ("None", "No such lines")}
        kinds |= {key: (title, f"Lines of equal {title}") for key, title in titles.items()}
        group = choice_menu(menu, "&Isometrics", "isometrics", kinds)
        group.triggered.connect(self._on_isometrics)

    def _on_isometrics(self, action: QAction) -> None:
        self.isometrics.enabled = action.data() in MEASURES
        if self.isometrics.enabled:
            self.isometrics.measure = action.data()
        self._changed()

    # ------------------------------------------------------------- showing

    def show(self, scene: Scene) -> None:
        """Draw all layers over the current picture."""
        for layer in self.layers:
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
        text = (self.point, self.costs, self.difference, self.isometrics)
        return " ".join(layer.words for layer in text if layer.words)
