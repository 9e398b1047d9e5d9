"""The row of controls over the ROC picture, and the menu of what is seldom changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QPushButton,
    QWidget,
)

from aucstudio.gui.common.form import edge_box
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.widgets import make_buddy, make_combo, named
from aucstudio.gui.pages.roc.layers import bands
from aucstudio.gui.pages.roc.picture import axes
from aucstudio.gui.pages.roc.picture.faces import FACES

_AROUND_WORDS = 58  # of a list: its frame and its arrow

AREAS = {
    "normalized": ("Normalised", "Mean TPR over the range: area divided by its width"),
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

    def __init__(self, row: QHBoxLayout) -> None:
        self.face_combo = make_combo("face_combo", "Which picture of the ranking")
        for face in FACES.values():
            self.face_combo.addItem(face.title, face.key)
        plain_tooltip(self.face_combo, "ROC curve, or another picture of the same rankings")
        self.axis_combo = make_combo("axis_combo", "Axes of the ROC curve")
        for kind, title in axes.KINDS.items():
            self.axis_combo.addItem(title, kind)
        plain_tooltip(
            self.axis_combo, "Linear, logarithmic for low FPR, or probit on both axes (DET)"
        )
        self.curve_combo = make_combo("curve_combo", "Which curves of several splits")
        self.curve_combo.addItem("Average", "average")
        self.curve_combo.addItem("Every split", "every")
        plain_tooltip(
            self.curve_combo,
            "The mean over the splits at each place, or the curve of every split; scores of "
            "different splits have no common scale and are not pooled",
        )
        self.band_low = edge_box("band_low", "Lower end of the FPR range", 0.0, 0.999)
        self.band_high = edge_box("band_high", "Upper end of the FPR range", 0.001, 1.0)
        self.zoom_button = QPushButton("&Zoom in")
        named(self.zoom_button, "zoom_band_button", "Zoom to the FPR range or back")
        plain_tooltip(self.zoom_button, "Show the FPR range alone, or the whole curve")
        self._make_menu()
        self._lay_out(row)

    def _make_menu(self) -> None:
        self.show_button = named(QPushButton("Sho&w"), "show_button", "What else is shown")
        plain_tooltip(self.show_button, "Confidence band, inset, operating point, costs and more")
        self.show_menu = named(QMenu(self.show_button), "show_menu", "What else is shown")
        self.show_menu.setToolTipsVisible(True)
        self._bands = _choice(self.show_menu, "Confidence &band", "confidence", bands.KINDS)
        self._areas = _choice(self.show_menu, "&Partial area as", "area", AREAS)
        self.inset_action = _switch(
            self.show_menu, "&Inset", "inset_action", "The FPR range magnified, in a free corner"
        )
        self.train_action = _switch(
            self.show_menu, "&Train in this range", "train_in_range_action", ""
        )
        self.show_menu.addSeparator()
        self.show_button.setMenu(self.show_menu)

    def _lay_out(self, row: QHBoxLayout) -> None:
        self.curve_label = make_buddy("&Curve", self.curve_combo)
        self.axis_label = make_buddy("A&xes", self.axis_combo)
        low_label = make_buddy("F&PR", self.band_low)
        plain_tooltip(low_label, "False-positive range that the partial area is read in")
        high_label = make_buddy("…", self.band_high)
        self.range_widgets = (low_label, self.band_low, high_label, self.band_high)
        for widget in (
            self.face_combo,
            self.axis_label,
            self.axis_combo,
            self.curve_label,
            self.curve_combo,
            *self.range_widgets,
        ):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.show_button)
        row.addWidget(self.zoom_button)

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
        meant: dict[QWidget, bool] = {
            **dict.fromkeys((self.curve_combo, self.curve_label), several),
            **dict.fromkeys(
                (self.axis_label, self.axis_combo, *self.range_widgets, self.zoom_button), is_roc
            ),
            self.face_combo: True,
            self.show_button: is_roc,
        }
        for widget, means in meant.items():
            widget.setVisible(means)


def _choice(
    menu: QMenu, title: str, name: str, kinds: Mapping[str, tuple[str, str]]
) -> QActionGroup:
    """Make a submenu of which one thing is chosen; at first the first."""
    part = menu.addMenu(title)
    part.setToolTipsVisible(True)
    group = QActionGroup(menu)
    for key, (words, meaning) in kinds.items():
        action = _switch(part, words, f"{name}_{key}_action", meaning)
        action.setData(key)
        action.setChecked(not group.actions())
        group.addAction(action)
    return group


def _chosen(group: QActionGroup) -> str:
    action = group.checkedAction()
    return str(action.data())


def _switch(menu: QMenu, title: str, name: str, meaning: str) -> QAction:
    action = QAction(title, menu)
    action.setObjectName(name)
    action.setCheckable(True)
    plain_tooltip(action, meaning)
    menu.addAction(action)
    return action
