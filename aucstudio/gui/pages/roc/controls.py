"""Controls and Show menu of the page ROC."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import (
    QMenu,
    QPushButton,
)

from aucstudio.gui.common.controls import ControlRow, Verb
from aucstudio.gui.common.form import edge_box
from aucstudio.gui.common.widgets import make_action, named
from aucstudio.gui.pages.roc.layers import bands
from aucstudio.gui.pages.roc.picture import axes
from aucstudio.gui.pages.roc.picture.curve_kinds import FACES
from aucstudio.gui.state.preferences import preferences

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
